import { type Change, type ChangeResult, changeId } from '../core/change.ts';
import type { Clock } from '../core/clock.ts';
import { CancelledError, LeaseLostError, StoreError } from '../core/errors.ts';
import type { Reader, Writer } from '../platform/client.ts';
import type { OrganizationRecord } from '../store/store.ts';
import { type ApplyResult, runChanges } from './change-scheduler.ts';
import type { Planned, PlanningInput } from './planning.ts';
import { Recorder } from './record.ts';
import { WriteVerifier } from './write-verifier.ts';

export interface ApplyOptions {
  readonly writer: Writer;
  readonly clock: Clock;
  /** Maximum number of changes in progress at the same time. */
  readonly parallel: number;
  /** Starts nothing new once it aborts. */
  readonly signal: AbortSignal;
  /** Cancels requests in flight too. */
  readonly abort: AbortSignal;
  /** The record of what was applied; null for pipelines, where git is the state. */
  readonly record: OrganizationRecord | null;
  /** Milliseconds to wait for background work before a change counts as pending; absent: it fails after ten minutes. */
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
  const verifier = new WriteVerifier(input, planned, options.writer);
  const applied = await runChanges({
    ...options,
    writer: stop.watch(options.writer),
    planned,
    kinds: input.kinds,
    signal: stop.signal,
    onIntent: (change) => {
      stop.throwUnless(options.canStart?.() ?? true);
      return recorder === null ? undefined : stop.recording(change, () => recorder.recordIntent(change));
    },
    locate: (change, bindings) => verifier.findCreated(change, bindings),
    isInPlace: (change, fields, bindings) => verifier.isInPlace(change, fields, bindings),
    onResult: (result, change, completion) => {
      const report = () => {
        if (!stop.isCauseOf(result)) {
          options.onResult?.(result);
        }
      };
      if (recorder === null) {
        report();
        return undefined;
      }
      return stop
        .recording(change, () => recorder.changed(change, result.id, completion))
        .then(report, (error: unknown) => {
          if (result.status === 'applied') {
            options.onUnrecorded?.(result);
          }
          throw error;
        });
    },
  });
  stop.throwStoreError();
  // 4. Record the commit as applied, unless a change failed or the apply was stopped.
  const hasFailed = applied.results.some((result) => result.status === 'failed');
  if (record !== null && !hasFailed && !stop.signal.aborted) {
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
  #storeError: StoreError | null = null;

  /** @param requested aborts when the process is asked to stop */
  constructor(requested: AbortSignal) {
    this.signal = AbortSignal.any([requested, this.#controller.signal]);
  }

  /** Stops the apply if no change may start now. Throws CancelledError then. */
  throwUnless(canStart: boolean): void {
    if (!canStart) {
      this.#controller.abort();
      throw new CancelledError('no change may start now');
    }
  }

  /** Returns a writer that stops the apply once a request was refused because the lease may be lost. */
  watch(writer: Writer): Writer {
    const send = async (...call: Parameters<Writer['send']>) => {
      try {
        return await writer.send(...call);
      } catch (error) {
        if (error instanceof LeaseLostError) {
          this.#storeError ??= error;
          this.#controller.abort();
        }
        throw error;
      }
    };
    return { ...writer, send: send as Writer['send'] };
  }

  /** Stops the apply if a change cannot be recorded. */
  async recording(change: Change, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof StoreError) {
        this.#storeError ??= error;
        this.#unrecorded.add(changeId(change));
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

  /** Throws the StoreError that stopped the apply, if any. */
  throwStoreError(): void {
    if (this.#storeError !== null) {
      throw this.#storeError;
    }
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
