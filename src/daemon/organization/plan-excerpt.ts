/** The part of a plan that the history keeps: plans of any size would fill the disk. */
import type { Change, Plan } from '../../core/change.ts';
import type { JsonObject } from '../../core/json.ts';
import { planToJson } from '../../plan/render/json.ts';

/** Plan as the history keeps it. See docs/web-page.md#history. */
export interface PlanExcerpt {
  /** The plan as JSON. `notKept` has the number of items of each list that were left out, if there are any. */
  readonly json: JsonObject;
  readonly changes: readonly Change[];
}

/** Maximum number of items of a list, and the bytes that the items of each list may take: 256,000 in total. */
const MAX_ITEMS = 1000;
const MAX_BYTES = {
  changes: 160_000,
  access: 32_000,
  adopted: 16_000,
  unmanaged: 16_000,
  pending: 16_000,
  notes: 16_000,
} as const;
type ListName = keyof typeof MAX_BYTES;
const LISTS = Object.keys(MAX_BYTES) as readonly ListName[];

/** Returns the part of a plan that the history keeps. An item that is too large does not displace the others. */
export function excerptPlan(plan: Plan): PlanExcerpt {
  const shortened = mapLists((name) => plan[name].slice(0, MAX_ITEMS)) as Pick<Plan, ListName>;
  const json = planToJson({ ...plan, ...shortened }) as JsonObject;
  const kept = mapLists((name) => fittingIndexes(json[name] as readonly unknown[], MAX_BYTES[name]));
  const counts = LISTS.map((name) => [name, plan[name].length - kept[name].length] as const);
  const notKept = Object.fromEntries(counts.filter(([, count]) => count > 0));
  return {
    json: {
      ...json,
      ...(mapLists((name) => kept[name].map((index) => (json[name] as readonly unknown[])[index])) as JsonObject),
      ...(Object.keys(notKept).length === 0 ? {} : { notKept }),
    },
    changes: kept.changes.map((index) => plan.changes[index] as Change),
  };
}

function mapLists<T>(map: (name: ListName) => T): Record<ListName, T> {
  return Object.fromEntries(LISTS.map((name) => [name, map(name)])) as Record<ListName, T>;
}

/** Returns the indexes of the items that fit into this many bytes of JSON. */
function fittingIndexes(items: readonly unknown[], bytes: number): readonly number[] {
  let left = bytes;
  return items.flatMap((item, index) => {
    const size = Buffer.byteLength(JSON.stringify(item));
    if (size > left) {
      return [];
    }
    left -= size;
    return [index];
  });
}
