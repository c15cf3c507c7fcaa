/** Waits for results of the platform's background work that other resources refer to, such as translations, and plans what they make possible. */
import type { Address } from '../core/address.ts';
import { type Change, changeId, type Plan } from '../core/change.ts';
import type { Clock } from '../core/clock.ts';
import { messageOf, TransientError } from '../core/errors.ts';
import { canonicalJson, sameJson } from '../core/json.ts';
import type { Actual, Observation } from '../core/resource.ts';
import type { Kind, Progress } from '../kinds/model/kind.ts';
import { restrictOrder } from '../plan/order.ts';
import type { Reader } from '../platform/client.ts';
import { withIds } from './applied.ts';
import { type ApplyResult, FIRST_POLL_DELAY, nextPause, PLATFORM_IS_WORKING } from './apply.ts';
import { observe, platformSource } from './observe.ts';
import { type Planned, type PlanningInput, planFrom } from './planning.ts';
import { baseOfManifests } from './record.ts';

/** Resource whose result may not exist yet. */
export interface BackgroundWork {
  readonly address: Address;
  readonly id: string;
  readonly kind: Kind;
}

/**
 * Returns the declared resources whose result this apply has started, and those in `earlier` that had none before it and
 * that a resource in `pending` refers to.
 */
export function unfinishedWork(
  { kinds, declared }: Pick<PlanningInput, 'kinds' | 'declared'>,
  earlier: ReadonlyMap<Address, Actual>,
  pending: Plan['pending'],
  { results, bindings }: Pick<ApplyResult, 'results' | 'bindings'>,
): readonly BackgroundWork[] {
  const rules = new Map(kinds.map((kind) => [kind.name, kind.fields]));
  const needed = new Set(
    pending.flatMap(({ address }) => {
      const { kind = '', fields = {} } = declared.get(address) ?? {};
      return Object.entries(fields).flatMap(([name, value]) =>
        value === undefined || value === null ? [] : (rules.get(kind)?.[name]?.references?.(value) ?? []),
      );
    }),
  );
  const slow = new Map(kinds.filter((kind) => kind.progress !== undefined).map((kind) => [kind.name, kind]));
  const started = new Set(
    results.filter(({ action, status }) => action !== 'delete' && status === 'applied').map(({ address }) => address),
  );
  return [...declared.values()].flatMap(({ address, kind: name }) => {
    const kind = slow.get(name);
    const id = bindings.get(address);
    if (kind === undefined || id === undefined) {
      return [];
    }
    const actual = needed.has(address) ? earlier.get(address) : undefined;
    const isUnfinished = actual !== undefined && (kind.unusableReason?.(actual) ?? null) !== null;
    return started.has(address) || isUnfinished ? [{ address, id, kind }] : [];
  });
}

interface WaitOptions {
  readonly clock: Clock;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly deadline: number;
  /** Called before each poll with the addresses that are still open. */
  readonly onPoll: (open: readonly Address[]) => void;
}

export interface WaitResult {
  /** Ids of the resources whose results exist. */
  readonly finished: ReadonlySet<string>;
  readonly pending: Plan['pending'];
}

/** Polls until every result exists, the deadline has passed, or the signal aborts. Never throws. */
export async function waitForWork(
  work: readonly BackgroundWork[],
  reader: Reader,
  options: WaitOptions,
): Promise<WaitResult> {
  const { clock, signal, deadline, onPoll } = options;
  const finished = new Set<string>();
  const failed: { address: Address; reason: string }[] = [];
  let open = work;
  for (let pause = FIRST_POLL_DELAY; open.length > 0 && !signal.aborted; pause = nextPause(pause, open.length)) {
    onPoll(open.map(({ address }) => address));
    const working: BackgroundWork[] = [];
    const polled = open.map(async (each) => ({ each, progress: await progressOf(each, reader) }));
    for (const { each, progress } of await Promise.all(polled)) {
      if (progress.state === 'working') {
        working.push(each);
      } else if (progress.state === 'done') {
        finished.add(each.id);
      } else {
        failed.push({ address: each.address, reason: progress.reason });
      }
    }
    open = working;
    const left = deadline - clock.monotonic();
    if (open.length === 0 || left <= 0) {
      break;
    }
    // An abort ends the loop.
    await clock.sleep(Math.min(pause, left), signal).catch(() => undefined);
  }
  return { finished, pending: [...failed, ...open.map(({ address }) => ({ address, reason: PLATFORM_IS_WORKING }))] };
}

async function progressOf({ id, kind }: BackgroundWork, reader: Reader): Promise<Progress> {
  try {
    return (await kind.progress?.(id, reader)) ?? { state: 'done' };
  } catch (error) {
    return error instanceof TransientError ? { state: 'working' } : { state: 'failed', reason: messageOf(error) };
  }
}

/**
 * Plans again after an apply, and keeps only the changes that the new results have made possible: those that a plan
 * without these results does not have. Changes by others since the confirmed plan are in both plans, and are left to
 * the next one. `bindings`: ids that the apply knows; `finished`: ids of the resources with new results.
 */
export async function planFollowUp(
  input: PlanningInput,
  bindings: ReadonlyMap<Address, string>,
  finished: ReadonlySet<string>,
  reader: Reader,
): Promise<Planned> {
  const { kinds, declared } = input;
  // The base is what was just applied, so that a resource is recognized even if it was renamed meanwhile.
  const base = withIds(baseOfManifests(kinds, declared) ?? new Map(), bindings);
  const observation = await observe({ kinds, declared, base, source: platformSource(reader) });
  const now = planFrom({ ...input, base }, observation, 0);
  const without = planFrom({ ...input, base }, withoutResults(observation, finished), 0);
  return only(now, changesBeyond(now.plan.changes, without.plan.changes));
}

function withoutResults(observation: Observation, finished: ReadonlySet<string>): Observation {
  const hide = (actual: Actual): Actual => (finished.has(actual.id) ? { ...actual, aliases: [] } : actual);
  return {
    ...observation,
    kinds: new Map([...observation.kinds].map(([kind, actuals]) => [kind, actuals.map(hide)])),
  };
}

/** Returns the changes of one plan that another does not have, reduced to the fields that differ; no deletions. */
function changesBeyond(changes: readonly Change[], others: readonly Change[]): readonly Change[] {
  const known = new Map(others.map((change) => [changeId(change), change]));
  return changes.flatMap((change) => {
    const other = known.get(changeId(change));
    if (other === undefined) {
      return change.action === 'delete' ? [] : [change];
    }
    const before = new Set(other.fields.map((field) => canonicalJson(field)));
    const fields = change.fields.filter((field) => !before.has(canonicalJson(field)));
    const isMoved = !sameJson(change.anchor, other.anchor);
    return (change.action === 'update' && fields.length > 0) || (change.action === 'move' && isMoved)
      ? [{ ...change, fields }]
      : [];
  });
}

/** Reduces a plan to some of its changes, without those that require a change that is left out. */
function only(planned: Planned, wanted: readonly Change[]): Planned {
  const { ordering, plan } = planned;
  const all = new Set(ordering.sequence.map(changeId));
  const kept = new Map(wanted.map((change) => [changeId(change), change]));
  for (const change of ordering.sequence) {
    const id = changeId(change);
    const isMissing = (before: string) => all.has(before) && !kept.has(before);
    if (kept.has(id) && (ordering.hard.get(id) ?? []).some(isMissing)) {
      kept.delete(id);
    }
  }
  const sequence = ordering.sequence.flatMap((change) => kept.get(changeId(change)) ?? []);
  return {
    ...planned,
    ordering: { ...restrictOrder(ordering, kept.keys()), sequence },
    plan: { ...plan, changes: sequence },
  };
}
