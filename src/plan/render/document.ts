/** The plan document, `octavo.plan/2`: the one form in which a plan is saved, stored, sent to other replicas and shown. */
import type { Change, ChangeResult, Plan } from '../../core/change.ts';
import { isObject, type Json, type JsonObject, present } from '../../core/json.ts';
import type { Fields } from '../../core/resource.ts';
import { maskUrlsIn } from '../../core/text/safe-url.ts';

/** A change without what only its requests need. */
export type ChangeDocument = Omit<Change, 'declared' | 'within' | 'place' | 'anchor' | 'needsTemporaryKey'> & {
  /** Title of the resource in a plan that was read, where the fields do not say it. */
  readonly title?: string;
};

/** Returns the title of the resource that changes: the present one, or that of a new resource; empty if it has none. */
export function changeTitle({ fields, deletes, actual, title }: ChangeDocument): string {
  const created = fields.find(({ path }) => path === 'title' || path === 'label');
  const known = deletes?.title ?? actual.title ?? actual.label ?? title ?? created?.from ?? created?.to;
  return typeof known === 'string' ? known : '';
}

/** A plan as it is shown. Every plan in memory is one. */
export interface PlanDocument extends Omit<Plan, 'changes' | 'bindings'> {
  readonly changes: readonly ChangeDocument[];
  /** Number of items that the history did not keep, by list. */
  readonly notKept?: Readonly<Record<string, number>>;
}

const FORMAT = 'octavo.plan/2';

/** Returns the stable, versioned JSON form of a plan, which commands print and pages offer. */
export function planToJson(plan: PlanDocument): JsonObject {
  return maskUrlsIn(toJson(plan, Math.round(plan.cost.seconds * 10) / 10, publicChange));
}

/** Returns the JSON form of a plan for other replicas: its values are not masked, and it has what only pages show. */
export function planForReplicas(plan: PlanDocument): JsonObject {
  const change = (each: ChangeDocument) =>
    present({
      ...publicChange(each),
      accessFields: each.accessFields,
      approvable: each.approvable || undefined,
      weight: each.weight || undefined,
      // Pages show the last values of resources that nothing declares any more, and titles.
      actual: each.source === null || each.action === 'delete' ? each.actual : titleFields(each.actual),
    });
  return { ...toJson(plan, plan.cost.seconds, change), title: plan.title };
}

function titleFields({ title, label }: Fields): Fields {
  return present({ title, label });
}

function toJson(plan: PlanDocument, seconds: number, change: (change: ChangeDocument) => object): JsonObject {
  return {
    format: FORMAT,
    ...head(plan),
    hasBase: plan.hasBase,
    verdict: plan.verdict,
    changes: plan.changes.map(change),
    ...present({ targets: plan.targets }),
    adopted: plan.adopted,
    unmanaged: plan.unmanaged,
    pending: plan.pending,
    notes: plan.notes,
    access: plan.access,
    summary: plan.summary,
    requests: plan.cost.requests,
    estimatedSeconds: seconds,
  } as unknown as JsonObject;
}

function head({ organization, scope, commit, baseCommit, checksum, heldChecksum }: PlanDocument): object {
  return { organization, scope, commit, baseCommit, checksum, heldChecksum };
}

function publicChange(change: ChangeDocument): object {
  return present({
    action: change.action,
    address: change.address,
    kind: change.kind,
    id: change.id,
    title: writtenTitle(change),
    fields: change.fields,
    source: change.source,
    dependsOn: change.dependsOn,
    held: change.held,
    paused: change.paused,
    isReplacement: change.isReplacement,
    impact: change.impact || undefined,
    deletes: change.deletes,
  });
}

/** Returns the title that the rest of the document does not say; undefined if it does, or there is none. */
function writtenTitle({ title, actual, ...said }: ChangeDocument): string | undefined {
  const full = changeTitle({ ...said, actual, ...(title === undefined ? {} : { title }) });
  return full === '' || full === changeTitle({ ...said, actual: {} }) ? undefined : full;
}

/** Reads a plan document; null if it is not one, or of another version. What a document does not have is restored as absent. */
export function readPlan(json: Json): PlanDocument | null {
  if (!isObject(json) || json.format !== FORMAT || !Array.isArray(json.changes)) {
    return null;
  }
  const { requests, estimatedSeconds, ...document } = json as unknown as PlanDocument & {
    readonly requests: Plan['cost']['requests'];
    readonly estimatedSeconds: number;
  };
  return {
    ...document,
    title: document.title ?? document.organization,
    cost: { requests, seconds: estimatedSeconds },
    changes: document.changes.map((change) => ({ ...ABSENT, ...change })),
  };
}

/** Members that a document may leave out. Without weights, changes stay in the order of the plan. */
const ABSENT = { impact: '', approvable: false, weight: 0, actual: {} } as const;

/** Maximum number of items of a list in an excerpt, and the bytes that the items of each list may take: 256,000 in total. */
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

/**
 * Returns the part of a plan that the history keeps: plans of any size would fill the disk. An item that is too large does
 * not displace the others. See docs/web-page.md#history.
 */
export function excerptPlan(plan: Plan): { readonly json: JsonObject; readonly changes: readonly Change[] } {
  const shortened = mapLists((name) => plan[name].slice(0, MAX_ITEMS)) as Pick<Plan, ListName>;
  const json = planToJson({ ...plan, ...shortened });
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

/** Returns the JSON result of an apply, `octavo.result/2`. */
export function resultToJson(
  plan: Plan,
  results: readonly ChangeResult[],
  requests: Plan['cost']['requests'],
  pending: Plan['pending'],
): object {
  const count = (status: ChangeResult['status']) => results.filter((result) => result.status === status).length;
  return {
    format: 'octavo.result/2',
    ...head(plan),
    results: maskUrlsIn(results),
    pending,
    summary: {
      applied: count('applied'),
      failed: count('failed'),
      skipped: count('skipped'),
      held: count('held'),
      unchanged: plan.summary.unchanged,
      pending: pending.length,
    },
    requests,
  };
}
