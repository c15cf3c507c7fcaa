/** Applies a plan: runs its changes in their order, many at the same time, and records each one. */
import type { Address } from '../core/address.ts';
import { type Change, type ChangeResult, changeId, type Plan, type ResultStatus } from '../core/change.ts';
import type { Clock } from '../core/clock.ts';
import { CancelledError, LeaseLostError, messageOf, StoreError } from '../core/errors.ts';
import { append } from '../core/lists.ts';
import { NO_SECRETS } from '../core/manifest-secrets.ts';
import type { BulkItem, Progress, Writes } from '../kinds/model/kind.ts';
import type { Reader, Writer } from '../platform/client.ts';
import type { OrganizationRecord } from '../store/record.ts';
import {
  bulkGroup,
  bulkOf,
  isLast,
  type Planned,
  type PlanningInput,
  planSteps,
  requestsOf,
  type Step,
} from './planning.ts';
import { type Completion, Recorder } from './record.ts';
import { type Bindings, type SendContext, sendPlanned, sendTogether, VersionMemory, WriteVerifier } from './sending.ts';

interface ApplyOptions {
  readonly writer: Writer;
  readonly clock: Clock;
  /** Maximum number of changes in progress at the same time; the queue decides how many requests are in flight. */
  readonly parallel: number;
  /** Starts nothing new once it aborts. */
  readonly signal: AbortSignal;
  /** Cancels requests in flight too. */
  readonly abort: AbortSignal;
  /** The record of what was applied; null for pipelines, where git is the state. */
  readonly record: OrganizationRecord | null;
  /**
   * Milliseconds to wait for the platform's background work on a change. After that, or when `signal` aborts, the change
   * counts as applied and is listed as pending. Absent: it fails after ten minutes.
   */
  readonly wait?: number | undefined;
  /** Polls background work; the writer where absent. */
  readonly poller?: Reader | undefined;
  /** Called before each change: returns false if none may start now. Absent: always true. */
  readonly canStart?: () => boolean;
  readonly onStart?: (change: Change) => void;
  readonly onWait?: (change: Change) => void;
  readonly onResult?: (result: ChangeResult) => void;
  /** Called with a change that was applied, but could not be recorded; the apply then throws StoreError. */
  readonly onUnrecorded?: (result: ChangeResult) => void;
}

/**
 * Applies a plan that passed the limits, and records each change when it is confirmed: an apply that is interrupted at
 * any moment has recorded exactly what it did. Throws StoreError when the record cannot be written; a change that
 * cannot be recorded is not started.
 */
export async function apply(input: PlanningInput, planned: Planned, options: ApplyOptions): Promise<ApplyResult> {
  const { record, clock } = options;
  const { plan } = planned;
  // 1. Do nothing if the plan as a whole is held or refused.
  if (plan.verdict.state !== 'ready') {
    return { results: plan.changes.map(heldWithPlan), bindings: plan.bindings, pending: [] };
  }
  // 2. Record the resources that need no change.
  const recorder = record === null ? null : new Recorder(record, input, planned);
  await recorder?.recordUnchanged();
  // 3. Send the changes: record an intent before each one, and its result after it.
  const stop = new ApplyStop(options.signal);
  const applied = await new ChangeScheduler(input, planned, options, stop, recorder).run();
  if (stop.storeError !== null) {
    throw stop.storeError;
  }
  // 4. Record the commit as applied, unless a change failed or was left out, or the apply was stopped.
  const hasFailed = applied.results.some((result) => result.status === 'failed');
  if (record !== null && plan.targets === undefined && !hasFailed && !stop.signal.aborted) {
    // An approval is for one plan: if it was not needed for this one, it must not approve a later one.
    await record.moveHead({ commit: input.commit, at: clock.now() }, input.policy.approved);
  }
  return applied;
}

function heldWithPlan(change: Change): ChangeResult {
  const { address, action, id } = change;
  return { address, action, status: 'held', id, error: change.held ?? 'the whole plan is held' };
}

/** Abort controller of one apply: changes in progress finish, and no other starts. */
class ApplyStop {
  /** Aborts when no further change may start, for any reason. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #unrecorded = new Set<string>();
  /** Error of the store that stopped the apply. */
  storeError: StoreError | null = null;

  /** @param requested aborts when the process is asked to stop */
  constructor(requested: AbortSignal) {
    this.signal = AbortSignal.any([requested, this.#controller.signal]);
  }

  /** Stops the apply, because no change may start now. Throws CancelledError. */
  refuse(): never {
    this.#controller.abort();
    throw new CancelledError('no change may start now');
  }

  /** Returns a writer that stops the apply once a request was refused because the lease may be lost. */
  watch(writer: Writer): Writer {
    const send = async (...call: Parameters<Writer['send']>) => {
      try {
        return await writer.send(...call);
      } catch (error) {
        if (error instanceof LeaseLostError) {
          this.storeError ??= error;
          this.#controller.abort();
        }
        throw error;
      }
    };
    return { ...writer, send: send as Writer['send'] };
  }

  /** Stops the apply if changes cannot be recorded. */
  async recording(changes: readonly Change[], work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof StoreError) {
        this.storeError ??= error;
        for (const change of changes) {
          this.#unrecorded.add(changeId(change));
        }
        this.#controller.abort();
      }
      throw error;
    }
  }

  /** Returns true if a change has this result only because this class stopped the apply. */
  isCauseOf(result: ChangeResult): boolean {
    const isUnrecorded = this.#unrecorded.has(changeId(result));
    return this.#controller.signal.aborted && (result.status === 'skipped' || isUnrecorded);
  }
}

/** Outcome of a pass, for exit codes, metrics and the log. */
export type PassOutcome = 'done' | 'held' | 'failed';

/** Returns `held` if something waits for approval; changes that only wait for such a change do not count. */
export function outcomeOf({ plan }: Planned, results: readonly ChangeResult[]): PassOutcome {
  if (results.some((result) => result.status === 'failed')) {
    return 'failed';
  }
  return plan.verdict.state !== 'ready' || results.some((result) => result.status === 'held') ? 'held' : 'done';
}

/** Error of the changes that an apply had not started when it was stopped. */
export const NOT_STARTED = 'stopped before it was started';

/** Results of one apply, in the order of the plan. */
export interface ApplyResult {
  readonly results: readonly ChangeResult[];
  readonly bindings: ReadonlyMap<Address, string>;
  /** Resources that the platform was still working on when the wait ended. */
  readonly pending: Plan['pending'];
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

/** Result of a change that ended. */
interface Report {
  readonly change: Change;
  readonly failure: Failure | null;
  readonly result: ChangeResult;
}

/** Milliseconds that the platform may work on a change if no wait is set. */
const WATCH_LIMIT = 10 * 60_000;

/**
 * Runs the changes of a plan: each one as soon as the changes it depends on are done, many at the same time. A change that
 * fails skips only those that depend on it.
 */
class ChangeScheduler {
  readonly #options: ApplyOptions;
  readonly #planned: Planned;
  readonly #stop: ApplyStop;
  readonly #recorder: Recorder | null;
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
  /** Steps that the platform did not take together with others. */
  readonly #alone = new Set<ScheduledStep>();
  #sending = 0;
  #watching = 0;
  #finish: () => void = () => undefined;

  constructor(
    input: PlanningInput,
    planned: Planned,
    options: ApplyOptions,
    stop: ApplyStop,
    recorder: Recorder | null,
  ) {
    this.#options = options;
    this.#planned = planned;
    this.#stop = stop;
    this.#recorder = recorder;
    this.#bindings = new Map(planned.plan.bindings);
    this.#context = {
      writer: stop.watch(options.writer),
      bindings: this.#bindings,
      kinds: input.kinds,
      secrets: input.secrets ?? NO_SECRETS,
      versions: new VersionMemory(),
      signal: options.abort,
      verifier: new WriteVerifier(input, planned, options.writer),
    };
    for (const [id, step] of planSteps(planned.ordering, planned.writesOf)) {
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
    const results = this.#planned.ordering.sequence.flatMap((change) => this.#results.get(changeId(change)) ?? []);
    return { results, bindings: this.#bindings, pending: this.#pending };
  }

  #startReady(): void {
    while (this.#sending < this.#options.parallel && this.#started < this.#ready.length) {
      const step = this.#ready[this.#started];
      this.#started += 1;
      if (step !== undefined) {
        this.#sending += 1;
        const together = this.#takeOthersOf(step);
        void (together.length === 1 ? this.#run(step) : this.#runTogether(together));
      }
    }
    if (this.#sending === 0 && this.#watching === 0 && this.#started === this.#ready.length) {
      this.#finish();
    }
  }

  /** Returns a step with the ready steps that one request can make together with it, which are no longer ready. */
  #takeOthersOf(step: ScheduledStep): readonly ScheduledStep[] {
    const bulk = this.#alone.has(step) ? null : bulkOf(step);
    if (bulk === null) {
      return [step];
    }
    const group = bulkGroup(bulk);
    const taken: ScheduledStep[] = [step];
    const left = this.#ready.splice(this.#started).filter((other) => {
      const item = taken.length === bulk.request.most || this.#alone.has(other) ? null : bulkOf(other);
      const isTaken = item !== null && bulkGroup(item) === group;
      if (isTaken) {
        taken.push(other);
      }
      return !isTaken;
    });
    append(this.#ready, left);
    return taken;
  }

  async #runTogether(steps: readonly ScheduledStep[]): Promise<void> {
    const ended = await this.#sendTogether(steps);
    for (const step of steps.filter((each) => !ended.has(each))) {
      this.#alone.add(step);
      this.#ready.push(step);
    }
    await this.#endAll(ended);
    this.#sending -= 1;
    this.#startReady();
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
    await this.#endAll(new Map([[step, failure]]));
  }

  /** Reports the changes of steps that ended, and releases their followers. */
  async #endAll(ended: ReadonlyMap<ScheduledStep, Failure | null>): Promise<void> {
    const reports: Report[] = [];
    for (const [step, failure] of ended) {
      if (failure === null) {
        this.#succeeded.add(step.id);
      }
      const { change } = step;
      if (change !== null && (failure !== null || isLast(step)) && !this.#results.has(changeId(change))) {
        reports.push({ change, failure, result: this.#resultOf(change, failure) });
      }
    }
    await this.#report(reports);
    for (const step of ended.keys()) {
      for (const follower of step.dependents) {
        follower.open -= 1;
        if (follower.open === 0) {
          this.#ready.push(follower);
        }
      }
    }
  }

  #resultOf(change: Change, failure: Failure | null): ChangeResult {
    const notes = this.#notes.get(changeId(change));
    const result: ChangeResult = {
      address: change.address,
      action: change.action,
      status: failure?.status ?? 'applied',
      id: this.#bindings.get(change.address) ?? change.id,
      error: failure?.error ?? null,
      ...(notes === undefined ? {} : { note: [...notes].join('; ') }),
    };
    this.#results.set(changeId(change), result);
    return result;
  }

  /** Records and reports results. */
  async #report(reports: readonly Report[]): Promise<void> {
    if (reports.length === 0) {
      return;
    }
    try {
      await this.#recorded(
        reports.map(({ change }) => change),
        (recorder) =>
          recorder
            .changed(
              reports.map(({ change, failure, result }) => {
                return { change, id: result.id, completion: failure?.completion ?? 'all' };
              }),
            )
            .catch((error: unknown) => {
              for (const { result } of reports.filter((each) => each.result.status === 'applied')) {
                this.#options.onUnrecorded?.(result);
              }
              throw error;
            }),
      );
      for (const { result } of reports.filter((each) => !this.#stop.isCauseOf(each.result))) {
        this.#options.onResult?.(result);
      }
    } catch (error) {
      // The results could not be recorded, so the next pass does not know about these changes.
      for (const { change, result } of reports) {
        this.#results.set(changeId(change), { ...result, status: 'failed', error: messageOf(error) });
      }
    }
  }

  /** Stops the apply if the record cannot be written. */
  async #recorded(changes: readonly Change[], write: (recorder: Recorder) => Promise<void>): Promise<void> {
    const recorder = this.#recorder;
    if (recorder !== null) {
      await this.#stop.recording(changes, () => write(recorder));
    }
  }

  /** Starts changes: nothing is sent before their intents are recorded. */
  async #begin(changes: readonly Change[]): Promise<void> {
    const { onStart, canStart } = this.#options;
    for (const change of changes) {
      onStart?.(change);
    }
    if (canStart?.() === false) {
      this.#stop.refuse();
    }
    await this.#recorded(changes, (recorder) => recorder.recordIntents(changes));
  }

  /** Sends steps in one request. Returns those that ended; the others have to be sent alone. */
  async #sendTogether(steps: readonly ScheduledStep[]): Promise<ReadonlyMap<ScheduledStep, Failure | null>> {
    const ended = new Map<ScheduledStep, Failure | null>();
    const items: { readonly step: ScheduledStep; readonly change: Change; readonly bulk: BulkItem }[] = [];
    for (const step of steps) {
      const obstacle = this.#obstacle(step);
      const bulk = bulkOf(step);
      if (obstacle !== null) {
        ended.set(step, { ...obstacle, completion: 'nothing' });
      } else if (step.change !== null && bulk !== null) {
        items.push({ step, change: step.change, bulk });
      }
    }
    const [first] = items;
    if (first === undefined) {
      return ended;
    }
    try {
      await this.#begin(items.map(({ change }) => change));
      const outcomes = await sendTogether(items, first.bulk, this.#context);
      for (const [index, { step }] of items.entries()) {
        const outcome = outcomes[index];
        if (outcome?.state === 'done') {
          ended.set(step, null);
        } else if (outcome?.state === 'failed') {
          ended.set(step, this.#failureOf(outcome.error, outcome.isMaybeDone ? 'part' : 'nothing'));
        }
      }
    } catch (error) {
      for (const { step } of items) {
        ended.set(step, this.#failureOf(error, 'nothing'));
      }
    }
    return ended;
  }

  /** Returns what an error means for a change. */
  #failureOf(error: unknown, completion: Completion): Failure {
    // Cancelled in the queue because the apply is being stopped: not a failure.
    return error instanceof CancelledError && this.#stop.signal.aborted
      ? {
          status: 'skipped',
          error: completion === 'nothing' ? NOT_STARTED : 'stopped before it was completed',
          completion,
        }
      : { status: 'failed', error: this.#context.secrets.clean(messageOf(error)), completion };
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
        await this.#begin([change]);
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
      return this.#failureOf(error, completion);
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
      if (this.#stop.signal.aborted && status === 'skipped') {
        return { status, error: NOT_STARTED };
      }
      return {
        status: 'skipped',
        error: `waits for ${before?.address ?? missing}, which was ${status ?? 'not done'}`,
      };
    }
    return this.#stop.signal.aborted ? { status: 'skipped', error: NOT_STARTED } : null;
  }

  /** Returns a required step that did not succeed, or null. For a barrier, returns the step that made the barrier fail. */
  #missing(requires: readonly string[]): string | null {
    const missing = requires.find((each) => !this.#succeeded.has(each));
    const step = missing === undefined ? undefined : this.#steps.get(missing);
    return step?.change === null ? this.#missing(step.requires) : (missing ?? null);
  }

  /** Waits for the platform's background work on a change. Returns null if it is done or counts as pending. */
  async #watch(watch: NonNullable<Writes['watch']>, { change }: ScheduledStep): Promise<string | null> {
    const { clock, poller = this.#context.writer, wait } = this.#options;
    const { signal } = this.#stop;
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

/** Reason shown while a resource is pending because the platform works on it. */
export const PLATFORM_IS_WORKING = 'the platform is still working on it';

/** Milliseconds before the second poll; each later pause is twice as long. */
export const FIRST_POLL_DELAY = 200;

const MAX_PAUSE = 5000;

/** Milliseconds per polled resource, so that many of them do not use up the rate limit. */
const PAUSE_PER_RESOURCE = 250;

/** Returns the next pause, in milliseconds, while `count` resources are polled. */
export function nextPause(pause: number, count = 1): number {
  return Math.min(pause * 2, Math.max(MAX_PAUSE, count * PAUSE_PER_RESOURCE));
}

/**
 * Polls until the work is done or has failed, or until a deadline in monotonic milliseconds; at least once. Throws what
 * `poll` throws, and the reason of `signal` when that aborts during a pause.
 */
async function pollUntil(
  deadline: number,
  poll: () => Promise<Progress>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Progress> {
  for (let pause = FIRST_POLL_DELAY; ; pause = nextPause(pause)) {
    const progress = await poll();
    const left = deadline - clock.monotonic();
    if (progress.state !== 'working' || left <= 0) {
      return progress;
    }
    await clock.sleep(Math.min(pause, left), signal);
  }
}
