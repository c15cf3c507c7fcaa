import type { Address } from '../core/address.ts';
import { type Change, type ChangeResult, changeId, type Plan, type ResultStatus } from '../core/change.ts';
import type { Clock } from '../core/clock.ts';
import { CancelledError, messageOf } from '../core/errors.ts';
import type { Writes } from '../kinds/model/request.ts';
import type { KindRules } from '../plan/model/rules.ts';
import type { Reader, Writer } from '../platform/client.ts';
import { VersionMemory } from './observe/version-memory.ts';
import type { Planned } from './planning.ts';
import { PLATFORM_IS_WORKING, pollUntil } from './poll.ts';
import { type Bindings, type SendContext, sendPlanned } from './sending.ts';
import { isLast, planSteps, requestsOf, type Step } from './steps.ts';

/** Share of a change's requests that took effect: `part` also if this is unknown, `nothing` only if it is certain. */
export type Completion = 'all' | 'part' | 'nothing';

/** Error of the changes that an apply had not started when it was stopped. */
export const NOT_STARTED = 'stopped before it was started';

/** Events of the changes of an apply. */
export interface ChangeEvents {
  readonly onStart?: (change: Change) => void;
  /** Before the first request of a change; nothing is sent before it has resolved. */
  readonly onIntent?: (change: Change) => Promise<void> | undefined;
  /** Before each poll of the platform's background work on a change. */
  readonly onWait?: (change: Change) => void;
  /** After a change has ended, whatever its status; it is recorded here. */
  readonly onResult?: (result: ChangeResult, change: Change, completion: Completion) => Promise<void> | undefined;
}

export interface ChangeSchedulerOptions extends ChangeEvents {
  readonly planned: Planned;
  readonly kinds: readonly KindRules[];
  readonly writer: Writer;
  readonly clock: Clock;
  /** Maximum number of changes in progress at the same time; the queue decides how many requests are in flight. */
  readonly parallel: number;
  /** No change starts after this aborts; requests in flight finish. */
  readonly signal: AbortSignal;
  /** Cancels requests in flight too. */
  readonly abort: AbortSignal;
  /**
   * Milliseconds to wait for the platform's background work on a change. After that, or when `signal` aborts, the change
   * counts as applied and is listed as pending. Absent: it fails after ten minutes.
   */
  readonly wait?: number | undefined;
  /** Polls background work; the writer where absent. */
  readonly poller?: Reader | undefined;
  /** Finds the resource that a creation made if its response was lost. */
  readonly locate: (change: Change, bindings: Bindings) => Promise<string | null>;
  /** Reads a resource again, and returns true if these fields have the values that the change sets. */
  readonly isInPlace: (change: Change, fields: readonly string[], bindings: Bindings) => Promise<boolean>;
}

/** Results of one apply, in the order of the plan. */
export interface ApplyResult {
  readonly results: readonly ChangeResult[];
  readonly bindings: ReadonlyMap<Address, string>;
  /** Resources that the platform was still working on when the wait ended. */
  readonly pending: Plan['pending'];
}

/**
 * Runs the changes of a plan: each one as soon as the changes it depends on are done, many at the same time. A change that
 * fails skips only those that depend on it.
 */
export async function runChanges(options: ChangeSchedulerOptions): Promise<ApplyResult> {
  return new ChangeScheduler(options).run();
}

/** A step in the dependency graph. */
interface ScheduledStep extends Step {
  /** Number of steps it waits for that have not ended yet. */
  open: number;
  readonly dependents: ScheduledStep[];
}

/** Reason why a change was not applied. With `completion: 'all'`, the change counts as applied for the record. */
interface Failure {
  readonly status: Exclude<ResultStatus, 'applied'>;
  readonly error: string;
  readonly completion: Completion;
}

/** Milliseconds that the platform may work on a change if no wait is set. */
const WATCH_LIMIT = 10 * 60_000;

class ChangeScheduler {
  readonly #options: ChangeSchedulerOptions;
  readonly #bindings: Bindings;
  readonly #context: SendContext;
  readonly #steps = new Map<string, ScheduledStep>();
  readonly #succeeded = new Set<string>();
  readonly #results = new Map<string, ChangeResult>();
  /** Notes about changes in progress, by id. */
  readonly #notes = new Map<string, ReadonlySet<string>>();
  readonly #pending: { readonly address: Address; readonly reason: string }[] = [];
  /** Steps whose dependencies have ended; the first `#started` of them have a slot. */
  readonly #ready: ScheduledStep[] = [];
  #started = 0;
  #sending = 0;
  #watching = 0;
  #finish: () => void = () => undefined;

  constructor(options: ChangeSchedulerOptions) {
    this.#options = options;
    this.#bindings = new Map(options.planned.plan.bindings);
    this.#context = {
      writer: options.writer,
      bindings: this.#bindings,
      kinds: options.kinds,
      versions: new VersionMemory(),
      signal: options.abort,
      locate: (lost) => options.locate(lost, this.#bindings),
      isInPlace: (lost, fields) => options.isInPlace(lost, fields, this.#bindings),
    };
    for (const [id, step] of planSteps(options.planned.ordering, options.planned.writesOf)) {
      this.#steps.set(id, { ...step, open: step.waitsFor.length, dependents: [] });
    }
    for (const step of this.#steps.values()) {
      for (const before of step.waitsFor) {
        this.#steps.get(before)?.dependents.push(step);
      }
      if (step.open === 0) {
        this.#ready.push(step);
      }
    }
  }

  async run(): Promise<ApplyResult> {
    await new Promise<void>((resolve) => {
      this.#finish = resolve;
      this.#startReady();
    });
    const results = this.#options.planned.ordering.sequence.flatMap(
      (change) => this.#results.get(changeId(change)) ?? [],
    );
    return { results, bindings: this.#bindings, pending: this.#pending };
  }

  #startReady(): void {
    while (this.#sending < this.#options.parallel && this.#started < this.#ready.length) {
      const step = this.#ready[this.#started];
      this.#started += 1;
      if (step !== undefined) {
        this.#sending += 1;
        void this.#run(step);
      }
    }
    if (this.#sending === 0 && this.#watching === 0 && this.#started === this.#ready.length) {
      this.#finish();
    }
  }

  async #run(step: ScheduledStep): Promise<void> {
    // 1. Send the requests of the step.
    const failure = await this.#send(step);
    const watch = failure === null && isLast(step) ? step.writes.watch : undefined;
    if (watch === undefined) {
      // 2. Report the change and release its followers, then free the slot. The reverse could end the apply early.
      await this.#end(step, failure);
      this.#sending -= 1;
      this.#startReady();
      return;
    }
    // 2. Or wait for the platform's background work first, without a slot.
    this.#sending -= 1;
    this.#watching += 1;
    this.#startReady();
    const error = await this.#watch(watch, step);
    await this.#end(step, error === null ? null : { status: 'failed', error, completion: 'all' });
    this.#watching -= 1;
    this.#startReady();
  }

  async #end(step: ScheduledStep, failure: Failure | null): Promise<void> {
    if (failure === null) {
      this.#succeeded.add(step.id);
    }
    const { change } = step;
    if (change !== null && (failure !== null || isLast(step)) && !this.#results.has(changeId(change))) {
      const reported = this.#report(change, failure);
      if (reported !== undefined) {
        await reported;
      }
    }
    for (const follower of step.dependents) {
      follower.open -= 1;
      if (follower.open === 0) {
        this.#ready.push(follower);
      }
    }
  }

  /** Records the result of a change; returns a promise if that takes time. */
  #report(change: Change, failure: Failure | null): Promise<void> | undefined {
    const id = changeId(change);
    const notes = this.#notes.get(id);
    const result: ChangeResult = {
      address: change.address,
      action: change.action,
      status: failure?.status ?? 'applied',
      id: this.#bindings.get(change.address) ?? change.id,
      error: failure?.error ?? null,
      ...(notes === undefined ? {} : { note: [...notes].join('; ') }),
    };
    this.#results.set(id, result);
    return this.#options.onResult?.(result, change, failure?.completion ?? 'all')?.catch((error: unknown) => {
      // The result could not be recorded, so the next pass does not know about this change.
      this.#results.set(id, { ...result, status: 'failed', error: messageOf(error) });
    });
  }

  /** Sends the requests of a step. Returns null if all succeeded. */
  async #send(step: ScheduledStep): Promise<Failure | null> {
    const { change } = step;
    let completion: Completion = step.half === 'first' ? 'nothing' : 'part';
    const obstacle = this.#obstacle(step);
    if (obstacle !== null) {
      return { ...obstacle, completion };
    }
    if (change === null) {
      return null;
    }
    try {
      if (step.half === 'first') {
        this.#options.onStart?.(change);
        const intent = this.#options.onIntent?.(change);
        if (intent !== undefined) {
          await intent;
        }
      }
      const onMaybeDone = () => {
        completion = 'part';
      };
      for (const planned of requestsOf(step)) {
        const notes = await sendPlanned(planned, change, this.#context, onMaybeDone);
        if (notes.length > 0) {
          const id = changeId(change);
          this.#notes.set(id, new Set([...(this.#notes.get(id) ?? []), ...notes]));
        }
      }
      return null;
    } catch (error) {
      // Cancelled in the queue because the apply is being stopped: not a failure.
      return error instanceof CancelledError && this.#options.signal.aborted
        ? {
            status: 'skipped',
            error: completion === 'nothing' ? NOT_STARTED : 'stopped before it was completed',
            completion,
          }
        : { status: 'failed', error: messageOf(error), completion };
    }
  }

  /** Returns why a change cannot start: it is held or paused, a change it depends on failed, or the apply is stopped. */
  #obstacle({ change, requires }: ScheduledStep): Omit<Failure, 'completion'> | null {
    if (change !== null && change.held !== null) {
      return { status: 'held', error: change.held };
    }
    if (change !== null && change.paused !== null) {
      const until = change.paused.until === null ? '' : ` until ${change.paused.until}`;
      return { status: 'skipped', error: `paused${until}: ${change.paused.reason}` };
    }
    const missing = this.#missing(requires);
    if (missing !== null) {
      const before = this.#steps.get(missing)?.change ?? null;
      const status = before === null ? undefined : this.#results.get(changeId(before))?.status;
      if (this.#options.signal.aborted && status === 'skipped') {
        return { status, error: NOT_STARTED };
      }
      return {
        status: 'skipped',
        error: `waits for ${before?.address ?? missing}, which was ${status ?? 'not done'}`,
      };
    }
    return this.#options.signal.aborted ? { status: 'skipped', error: NOT_STARTED } : null;
  }

  /** Returns a required step that did not succeed, or null. For a barrier, returns the step that made the barrier fail. */
  #missing(requires: readonly string[]): string | null {
    const missing = requires.find((each) => !this.#succeeded.has(each));
    const step = missing === undefined ? undefined : this.#steps.get(missing);
    return step?.change === null ? this.#missing(step.requires) : (missing ?? null);
  }

  /** Waits for the platform's background work on a change. Returns null if it is done or counts as pending. */
  async #watch(watch: NonNullable<Writes['watch']>, { change }: ScheduledStep): Promise<string | null> {
    const { clock, writer, poller = writer, signal, wait } = this.#options;
    const until = clock.monotonic() + (wait ?? WATCH_LIMIT);
    const poll = () => {
      if (change !== null) {
        this.#options.onWait?.(change);
      }
      return watch(poller);
    };
    try {
      const progress = await pollUntil(until, poll, { clock, signal });
      if (progress.state === 'working') {
        return wait === undefined
          ? `the platform was still working on it after ${WATCH_LIMIT / 60_000} minutes`
          : this.#addPending(change);
      }
      return progress.state === 'failed' ? progress.reason : null;
    } catch (error) {
      if (!signal.aborted) {
        return messageOf(error);
      }
      return wait === undefined ? 'stopped while the platform was still working on it' : this.#addPending(change);
    }
  }

  #addPending(change: Change | null): null {
    if (change !== null) {
      this.#pending.push({ address: change.address, reason: PLATFORM_IS_WORKING });
    }
    return null;
  }
}
