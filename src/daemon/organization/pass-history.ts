/** Records the passes of an organization in its history. */
import { type Change, type ChangeResult, changeId } from '../../core/change.ts';
import type { Clock } from '../../core/clock.ts';
import { DesiredStateError, messageOf, StoreError } from '../../core/errors.ts';
import { maskUrlsIn } from '../../core/text/safe-url.ts';
import type { Logger } from '../../log.ts';
import { excerptPlan } from '../../plan/render/document.ts';
import type { PassEnd, PassEvents } from '../../reconcile/pass.ts';
import type { Desired, SourceHead } from '../../reconcile/source.ts';
import type { History, NewPass, NewResourceChange, PassCounts } from '../../store/history.ts';
import { untilStored } from '../../store/until-stored.ts';
import { appliedEvents } from '../facts/reporting.ts';

export interface PassHistoryOptions {
  readonly organization: string;
  readonly history: Pick<History, 'addPass'>;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Aborts when the organization stops: what cannot be recorded then is lost. */
  readonly stopping: AbortSignal;
  /** Returns the number of refused requests (429) since the start. */
  readonly refusals: () => number;
  /** Called after a pass was recorded. */
  readonly onRecorded?: (number: number) => void;
}

/** Maximum characters of an error. */
const MAX_ERROR = 1000;
/** Number of passes that wait to be recorded, after which those that applied nothing are not recorded any more. */
const MAX_WAITING = 20;

/** Listener that records every pass. */
export interface PassRecorder {
  readonly events: PassEvents;
  /** Resolves when all passes that have ended are recorded, or cannot be recorded now. */
  idle(): Promise<void>;
  /** Resolves when all passes that have ended are recorded, or are given up because the organization stops. */
  close(): Promise<void>;
}

/** Returns a recorder. A pass that cannot be recorded is recorded when the store works again, and delays no other pass. */
export function recordPasses(options: PassHistoryOptions): PassRecorder {
  const { refusals } = options;
  const queue = new RecordingQueue(options);
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
      // A pass that could not use the state file has already been logged with the same reason.
      queue.add(pass, end.error instanceof StoreError ? 'debug' : 'warn');
    },
  };
  return { events, idle: () => queue.idle(), close: () => queue.close() };
}

/** Records passes one after the other, each until the store takes it. */
class RecordingQueue {
  readonly #options: PassHistoryOptions;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** Settles when the store fails while a pass is recorded. */
  #failed = Promise.withResolvers<void>();

  constructor(options: PassHistoryOptions) {
    this.#options = options;
  }

  add(pass: NewPass, level: 'debug' | 'warn'): void {
    if (this.#waiting >= MAX_WAITING && (pass.counts.applied ?? 0) === 0) {
      return;
    }
    this.#waiting += 1;
    this.#last = this.#last
      .then(() => this.#record(pass, level))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  async idle(): Promise<void> {
    await Promise.race([this.#last, this.#failed.promise]);
  }

  async close(): Promise<void> {
    await this.#last;
  }

  async #record(pass: NewPass, level: 'debug' | 'warn'): Promise<void> {
    const { organization, history, clock, stopping, onRecorded } = this.#options;
    const report = (error: unknown, message: string) => this.#options.log[level]({ reason: messageOf(error) }, message);
    const events = (number: number) => appliedEvents(organization, pass, number);
    try {
      const number = await untilStored((isRepeated) => history.addPass(pass, events, isRepeated), {
        clock,
        signal: stopping,
        onError: (error) => {
          report(error, 'cannot record the pass in the history; retrying');
          this.#failed.resolve();
        },
      });
      this.#failed = Promise.withResolvers();
      onRecorded?.(number);
    } catch (error) {
      report(error, 'cannot record the pass in the history');
    }
  }
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
    trigger,
    outcome,
    milliseconds,
    endedAt,
    refused,
    reads: requests.reads,
    writes: requests.writes,
    commit: from?.commit ?? null,
    subject: from?.subject ?? '',
    author: from?.author ?? null,
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
    create,
    update,
    move,
    delete: deleted,
    held,
    paused,
    applied: count('applied'),
    failed: count('failed'),
    skipped: count('skipped'),
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
