/** Records the passes of an organization in its history. */
import type { Change, ChangeResult } from '../core/change.ts';
import { messageOf, StoreError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { maskUrlsIn } from '../core/text/safe-url.ts';
import type { Logger } from '../log.ts';
import { planToJson } from '../plan/render/json.ts';
import type { PassEnd, PassEvents } from '../reconcile/daemon/pass.ts';
import type { Desired } from '../reconcile/daemon/source.ts';
import type { History, NewPass, NewResourceChange, PassCounts } from '../store/history.ts';

export interface PassHistoryOptions {
  readonly history: Pick<History, 'addPass'>;
  readonly log: Logger;
  /** Returns the number of refused requests (429) since the start. */
  readonly refusals: () => number;
  /** Called after a pass was recorded. */
  readonly onRecorded?: (number: number) => void;
}

/** Maximum changes of a plan that are kept: a history of plans of any size would fill the disk. */
const MAX_CHANGES = 1000;

/** Returns a listener that records every pass. A pass that cannot be recorded is logged, and changes nothing else. */
export function recordPasses({ history, log, refusals, onRecorded }: PassHistoryOptions): PassEvents {
  let desired: Desired | null = null;
  let before = 0;
  return {
    onPassStart: () => {
      before = refusals();
    },
    onSource: (read) => {
      desired = read;
    },
    onPassEnd: (end) => {
      history.addPass(toRecord(end, desired, refusals() - before)).then(onRecorded, (error: unknown) => {
        // A pass that could not use the state file has already been logged with the same reason.
        const level = end.error instanceof StoreError ? 'debug' : 'warn';
        log[level]({ reason: messageOf(error) }, 'cannot record the pass in the history');
      });
    },
  };
}

function toRecord(end: PassEnd, desired: Desired | null, refused: number): NewPass {
  const { trigger, outcome, plan, results, requests, error, milliseconds, endedAt } = end;
  return {
    ...{ trigger, outcome, milliseconds, endedAt, refused, reads: requests.reads, writes: requests.writes },
    commit: plan?.commit ?? desired?.commit ?? null,
    subject: desired?.subject ?? '',
    author: desired?.author ?? null,
    checksum: plan?.checksum ?? null,
    counts: countsOf(end),
    error: error === null ? null : maskUrlsIn(messageOf(error)),
    changes: plan === null ? [] : changesOf(plan.changes, results),
    plan: plan === null || plan.changes.length === 0 ? null : planOf(plan),
  };
}

function countsOf({ plan, results }: PassEnd): PassCounts {
  const { create = 0, update = 0, move = 0, delete: deleted = 0, held = 0, paused = 0 } = plan?.summary ?? {};
  const count = (status: ChangeResult['status']) => results.filter((result) => result.status === status).length;
  const all = {
    ...{ create, update, move, delete: deleted, held, paused },
    ...{ applied: count('applied'), failed: count('failed'), skipped: count('skipped') },
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value > 0));
}

function changesOf(changes: readonly Change[], results: readonly ChangeResult[]): readonly NewResourceChange[] {
  const tried = new Map(results.map((result) => [`${result.action} ${result.address}`, result]));
  return changes.slice(0, MAX_CHANGES).map(({ address, action, held, paused }) => {
    const result = tried.get(`${action} ${address}`);
    const waits = held !== null ? 'held' : paused !== null ? 'paused' : 'planned';
    const error = result?.error ?? null;
    return { address, action, status: result?.status ?? waits, error: error === null ? null : maskUrlsIn(error) };
  });
}

function planOf(plan: NonNullable<PassEnd['plan']>): Json {
  return planToJson({ ...plan, changes: plan.changes.slice(0, MAX_CHANGES) }) as Json;
}
