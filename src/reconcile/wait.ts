/** Waits for results that the platform produces in the background and that other resources refer to: translations. */
import type { Address } from '../core/address.ts';
import type { Plan } from '../core/change.ts';
import type { Clock } from '../core/clock.ts';
import { messageOf, TransientError } from '../core/errors.ts';
import type { Actual } from '../core/resource.ts';
import type { Kind } from '../kinds/model/kind.ts';
import type { Progress } from '../kinds/model/request.ts';
import type { Reader } from '../platform/client.ts';
import type { ApplyResult } from './change-scheduler.ts';
import type { PlanningInput } from './planning.ts';
import { FIRST_POLL_DELAY, nextPause, PLATFORM_IS_WORKING } from './poll.ts';

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

export interface WaitOptions {
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
