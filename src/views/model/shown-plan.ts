/** The part of a plan that views show, from a plan in memory or from one that the history kept. */
import type { Change, Plan } from '../../core/change.ts';
import { isObject, type Json, sameJson } from '../../core/json.ts';

export type ShownChange = Pick<
  Change,
  | 'action'
  | 'address'
  | 'kind'
  | 'fields'
  | 'accessFields'
  | 'source'
  | 'held'
  | 'paused'
  | 'isReplacement'
  | 'impact'
  | 'weight'
>;

/** Every plan in memory is one. */
export interface ShownPlan
  extends Pick<
    Plan,
    | 'checksum'
    | 'heldChecksum'
    | 'commit'
    | 'hasBase'
    | 'verdict'
    | 'adopted'
    | 'unmanaged'
    | 'pending'
    | 'notes'
    | 'access'
    | 'summary'
    | 'cost'
  > {
  readonly changes: readonly ShownChange[];
  /** Number of items that the history did not keep, by list. */
  readonly notKept?: Readonly<Record<string, number>>;
}

/** Format of the plans that the history keeps. */
const FORMAT = 'octavo.plan/2';

/** Reads a plan from its JSON; null if it is not one, or of another version. */
export function readPlan(json: Json): ShownPlan | null {
  if (!isObject(json) || json.format !== FORMAT || !Array.isArray(json.changes)) {
    return null;
  }
  const kept = json as unknown as Omit<ShownPlan, 'cost' | 'changes'> & {
    readonly requests: Plan['cost']['requests'];
    readonly estimatedSeconds: number;
    readonly changes: readonly (Omit<ShownChange, 'impact'> & { readonly impact?: string })[];
  };
  return {
    ...kept,
    cost: { requests: kept.requests, seconds: kept.estimatedSeconds },
    // The order of the history is that of the plan, so impacts are not compared again.
    changes: kept.changes.map((change) => ({ ...change, impact: change.impact ?? '', weight: 0 })),
  };
}

/** A change of two plans, by its action and address. */
export interface DifferingChange {
  readonly action: string;
  readonly address: string;
}

/** Difference between two plans. Every list is cut to `MAX_LISTED`; the counts are complete. */
export interface PlanDifference {
  readonly added: readonly DifferingChange[];
  readonly removed: readonly DifferingChange[];
  /** Changes of both plans, with other values. */
  readonly changed: readonly DifferingChange[];
  readonly counts: {
    readonly added: number;
    readonly removed: number;
    readonly changed: number;
    readonly same: number;
  };
}

const MAX_LISTED = 100;

/** Compares two plans, change by change. */
export function comparePlans(before: ShownPlan, after: ShownPlan): PlanDifference {
  const idOf = ({ action, address }: ShownChange) => `${action} ${address}`;
  const old = new Map(before.changes.map((change) => [idOf(change), change]));
  const now = new Set(after.changes.map(idOf));
  const removed = before.changes.filter((change) => !now.has(idOf(change)));
  const added = after.changes.filter((change) => !old.has(idOf(change)));
  const changed = after.changes.filter((change) => {
    const other = old.get(idOf(change));
    return other !== undefined && !sameJson(other.fields, change.fields);
  });
  const same = after.changes.length - added.length - changed.length;
  return {
    added: listed(added),
    removed: listed(removed),
    changed: listed(changed),
    counts: { added: added.length, removed: removed.length, changed: changed.length, same },
  };
}

function listed(changes: readonly ShownChange[]): readonly DifferingChange[] {
  return changes.slice(0, MAX_LISTED).map(({ action, address }) => ({ action, address }));
}
