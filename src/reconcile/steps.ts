import { type Change, changeId } from '../core/change.ts';
import type { PlannedRequest, Writes } from '../kinds/model/request.ts';
import type { Ordering } from '../plan/order/order.ts';

/**
 * One half of a change, or a barrier without requests. Other changes wait for the `first` half; the `late` half waits
 * for other changes.
 */
export interface Step {
  readonly id: string;
  /** Null for a barrier. */
  readonly change: Change | null;
  readonly half: 'first' | 'late';
  readonly writes: Writes;
  /** Steps that must have ended before it starts. */
  readonly waitsFor: readonly string[];
  /** Steps in `waitsFor` that must have succeeded. */
  readonly requires: readonly string[];
}

/** Splits a plan into steps by id, in the plan's order, with its barriers at the end. */
export function planSteps(ordering: Ordering, writesOf: (change: Change) => Writes): ReadonlyMap<string, Step> {
  const steps = new Map<string, Step>();
  for (const change of ordering.sequence) {
    const id = changeId(change);
    const writes = writesOf(change);
    const requires = ordering.hard.get(id) ?? NONE;
    const waitsFor = union(requires, ordering.soft.get(id) ?? NONE);
    steps.set(id, { id, change, writes, half: 'first', requires, waitsFor });
    if ((writes.late ?? NONE).length > 0) {
      const late = ordering.late.get(id);
      const needed = [id, ...(late?.hard ?? NONE)];
      const after = union(needed, late?.soft ?? NONE);
      steps.set(lateId(id), { id: lateId(id), change, writes, half: 'late', requires: needed, waitsFor: after });
    }
  }
  for (const id of ordering.barriers) {
    const requires = ordering.hard.get(id) ?? NONE;
    const waitsFor = union(requires, ordering.soft.get(id) ?? NONE);
    steps.set(id, { id, change: null, writes: { first: [] }, half: 'first', requires, waitsFor });
  }
  return steps;
}

/** Most changes wait for nothing. */
const NONE: readonly string[] = [];

function union(hard: readonly string[], soft: readonly string[]): readonly string[] {
  return hard.length + soft.length === 0 ? NONE : [...new Set([...hard, ...soft])];
}

function lateId(id: string): string {
  return `${id} (late)`;
}

/** Returns the requests of a step, in order. */
export function requestsOf({ half, writes }: Step): readonly PlannedRequest[] {
  return (half === 'first' ? writes.first : writes.late) ?? [];
}

/** Returns true if the change is complete after this step. */
export function isLast({ half, writes }: Step): boolean {
  return half === 'late' || (writes.late ?? []).length === 0;
}

/**
 * Returns the steps that run if nothing fails: all except those that are held or paused and those that require one of
 * these.
 */
export function dueSteps(steps: ReadonlyMap<string, Step>): ReadonlyMap<string, Step> {
  const isWaiting = ({ change }: Step) => change !== null && (change.held !== null || change.paused !== null);
  const blocked = new Set([...steps.values()].filter(isWaiting).map((step) => step.id));
  if (blocked.size === 0) {
    return steps;
  }
  const followers = new Map<string, string[]>([...steps.keys()].map((id) => [id, []]));
  for (const step of steps.values()) {
    for (const before of step.requires) {
      followers.get(before)?.push(step.id);
    }
  }
  // The set grows during the iteration, which visits the added steps too.
  for (const id of blocked) {
    for (const follower of followers.get(id) ?? []) {
      blocked.add(follower);
    }
  }
  return new Map([...steps].filter(([id]) => !blocked.has(id)));
}
