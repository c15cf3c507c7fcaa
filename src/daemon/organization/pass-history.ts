/** Records the passes of an organization in its history. */
import { type Change, type ChangeResult, changeId } from '../../core/change.ts';
import { DesiredStateError, messageOf, StoreError } from '../../core/errors.ts';
import { maskUrlsIn } from '../../core/text/safe-url.ts';
import { excerptPlan } from '../../plan/render/document.ts';
import type { PassEnd, PassEvents } from '../../reconcile/pass.ts';
import type { Desired, SourceHead } from '../../reconcile/source.ts';
import type { NewPass, NewResourceChange, PassCounts } from '../../store/history.ts';
import { untilStored } from '../../store/until-stored.ts';
import { appliedEvents } from '../facts/reporting.ts';
import type { OrganizationContext } from './feature.ts';

/** Maximum characters of an error. */
const MAX_ERROR = 1000;
/** Number of passes that wait to be recorded, after which those that applied nothing are not recorded any more. */
const MAX_WAITING = 20;

/**
 * Records every pass, one after the other. A pass that cannot be recorded is recorded when the store works again, and delays
 * no other pass. What cannot be recorded when the organization stops is lost.
 */
export class PassRecorder {
  readonly #context: OrganizationContext;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** Settles when the store fails while a pass is recorded. */
  #failed = Promise.withResolvers<void>();

  constructor(context: OrganizationContext) {
    this.#context = context;
  }

  /** Listener for the passes. */
  events(): PassEvents {
    const refusals = () => this.#context.connection.queue.snapshot().outcomes.refused;
    let desired: Desired | null = null;
    /** Commit whose manifests are invalid. */
    let invalid: SourceHead | null = null;
    let before = 0;
    let drift: ReadonlySet<string> = new Set();
    return {
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
        this.#add(pass, end.error instanceof StoreError ? 'debug' : 'warn');
      },
    };
  }

  /** Resolves when all passes that have ended are recorded, or cannot be recorded now. */
  async idle(): Promise<void> {
    await Promise.race([this.#last, this.#failed.promise]);
  }

  /** Resolves when all passes that have ended are recorded, or are given up because the organization stops. */
  async close(): Promise<void> {
    await this.#last;
  }

  #add(pass: NewPass, level: 'debug' | 'warn'): void {
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

  async #record(pass: NewPass, level: 'debug' | 'warn'): Promise<void> {
    const { organization, store, clock, stopping, log, events } = this.#context;
    const { id } = organization;
    const report = (error: unknown, message: string) => log[level]({ reason: messageOf(error) }, message);
    const newEvents = (number: number) => appliedEvents(id, pass, number);
    try {
      const number = await untilStored((isRepeated) => store.history(id).addPass(pass, newEvents, isRepeated), {
        clock,
        signal: stopping,
        onError: (error) => {
          report(error, 'cannot record the pass in the history; retrying');
          this.#failed.resolve();
        },
      });
      this.#failed = Promise.withResolvers();
      events.publish.onRecorded?.(number);
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
  const tried = new Map(results.map((result) => [changeId(result), result]));
  return changes.map((change) => {
    const { address, action, held, paused } = change;
    const result = tried.get(changeId(change));
    const waits = held !== null ? 'held' : paused !== null ? 'paused' : 'planned';
    return { address, action, status: result?.status ?? waits, error: errorText(result?.error ?? null) };
  });
}

/** Returns an error as the history keeps it. */
function errorText(error: string | null): string | null {
  const text = error === null ? null : maskUrlsIn(error);
  return text === null || text.length <= MAX_ERROR ? text : `${text.slice(0, MAX_ERROR).toWellFormed()}…`;
}
