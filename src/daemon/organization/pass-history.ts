/** Records the passes of an organization in its history. */
import { type Change, type ChangeResult, changeId } from '../../core/change.ts';
import { DesiredStateError, messageOf, StoreError } from '../../core/errors.ts';
import { maskUrlsIn } from '../../core/text/safe-url.ts';
import type { Logger } from '../../log.ts';
import type { PassEnd, PassEvents } from '../../reconcile/daemon/pass.ts';
import type { Desired, SourceHead } from '../../reconcile/daemon/source.ts';
import type { History, NewPass, NewResourceChange, PassCounts } from '../../store/history.ts';
import { appliedEvents } from '../facts/events.ts';
import { excerptPlan } from './plan-excerpt.ts';

export interface PassHistoryOptions {
  readonly organization: string;
  readonly history: Pick<History, 'addPass'>;
  readonly log: Logger;
  /** Returns the number of refused requests (429) since the start. */
  readonly refusals: () => number;
  /** Called after a pass was recorded. */
  readonly onRecorded?: (number: number) => void;
}

/** Maximum characters of an error. */
const MAX_ERROR = 1000;

/** Listener that records every pass. */
export interface PassRecorder {
  readonly events: PassEvents;
  /** Resolves when all passes that have ended are recorded, or cannot be. */
  idle(): Promise<void>;
}

/** Returns a recorder. A pass that cannot be recorded is logged, and changes nothing else. */
export function recordPasses({ organization, history, log, refusals, onRecorded }: PassHistoryOptions): PassRecorder {
  let recording: Promise<void> = Promise.resolve();
  let desired: Desired | null = null;
  /** Commit whose manifests are invalid. */
  let invalid: SourceHead | null = null;
  let before = 0;
  let drift: ReadonlySet<string> = new Set();
  const events: PassEvents = {
    onPassStart: () => {
      before = refusals();
      invalid = null;
    },
    onSource: (read) => {
      desired = read;
    },
    onBadSource: (error, _lastGood, head) => {
      invalid = error instanceof DesiredStateError ? head : null;
    },
    onPlan: (_planned, found) => {
      drift = new Set(found.map(changeId));
    },
    onPassEnd: (end) => {
      // What was applied comes from the last valid commit.
      const isOfLastValid = invalid === null || end.results.some(({ status }) => status === 'applied');
      const pass = toRecord(end, isOfLastValid ? desired : invalid, refusals() - before, drift);
      drift = new Set();
      const added = history
        .addPass(pass, (number) => appliedEvents(organization, pass, number))
        .then(onRecorded, (error: unknown) => {
          // A pass that could not use the state file has already been logged with the same reason.
          const level = end.error instanceof StoreError ? 'debug' : 'warn';
          log[level]({ reason: messageOf(error) }, 'cannot record the pass in the history');
        });
      recording = Promise.all([recording, added]).then(() => undefined);
    },
  };
  return { events, idle: () => recording };
}

function toRecord(
  end: PassEnd,
  from: Pick<Desired, 'commit' | 'subject' | 'author'> | null,
  refused: number,
  drift: ReadonlySet<string>,
): NewPass {
  const { trigger, outcome, plan, results, requests, error, milliseconds, endedAt } = end;
  const excerpt = plan === null || plan.changes.length === 0 ? null : excerptPlan(plan);
  return {
    ...{ trigger, outcome, milliseconds, endedAt, refused, reads: requests.reads, writes: requests.writes },
    ...{ commit: from?.commit ?? null, subject: from?.subject ?? '', author: from?.author ?? null },
    checksum: plan?.checksum ?? null,
    counts: countsOf(end, drift),
    error: errorText(error === null ? null : messageOf(error)),
    changes: changesOf(excerpt?.changes ?? [], results),
    plan: excerpt?.json ?? null,
  };
}

function countsOf({ plan, results }: PassEnd, drift: ReadonlySet<string>): PassCounts {
  const { create = 0, update = 0, move = 0, delete: deleted = 0, held = 0, paused = 0 } = plan?.summary ?? {};
  const count = (status: ChangeResult['status']) => results.filter((result) => result.status === status).length;
  const all = {
    ...{ create, update, move, delete: deleted, held, paused },
    ...{ applied: count('applied'), failed: count('failed'), skipped: count('skipped') },
    // Applied changes that undo manual ones.
    reverted: results.filter((result) => result.status === 'applied' && drift.has(changeId(result))).length,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value > 0));
}

function changesOf(changes: readonly Change[], results: readonly ChangeResult[]): readonly NewResourceChange[] {
  const tried = new Map(results.map((result) => [`${result.action} ${result.address}`, result]));
  return changes.map(({ address, action, held, paused }) => {
    const result = tried.get(`${action} ${address}`);
    const waits = held !== null ? 'held' : paused !== null ? 'paused' : 'planned';
    return { address, action, status: result?.status ?? waits, error: errorText(result?.error ?? null) };
  });
}

/** Returns an error as the history keeps it. */
function errorText(error: string | null): string | null {
  const text = error === null ? null : maskUrlsIn(error);
  return text === null || text.length <= MAX_ERROR ? text : `${text.slice(0, MAX_ERROR).toWellFormed()}…`;
}
