import { backoffDelay } from '../../core/backoff.ts';
import type { Clock, Random } from '../../core/clock.ts';
import { type AppError, AuthError, RateLimitedError } from '../../core/errors.ts';
import type { WakeUpSignal } from '../../core/wake-up-signal.ts';
import type { Hint, Outbox } from '../../store/outbox/outbox.ts';
import type { Intake } from '../intake/intake.ts';
import { toAppError } from '../model/app-error.ts';
import type { ConversationEvents } from '../model/events.ts';
import type { PollingSource } from '../model/source.ts';
import type { SourceRecord } from '../model/ticket.ts';
import { Rechecks } from './rechecks.ts';

export interface SourceLoopOptions {
  readonly source: PollingSource;
  readonly intake: Intake;
  readonly outbox: Outbox;
  /** Milliseconds from the start of a poll to the start of the next. */
  readonly every: number;
  /** Lookback of the first poll, in milliseconds. */
  readonly since: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Notified about a hint of a webhook, and when a poll is requested. */
  readonly hints: WakeUpSignal;
  readonly events: ConversationEvents;
}

const FIRST_PAUSE = 5000;
const MAX_PAUSE = 15 * 60_000;
/** Pause after the provider refused the credentials, in milliseconds. */
const REFUSED_PAUSE = 15 * 60_000;
/** Longest sleep in milliseconds: timers are limited to 25 days, poll intervals and Retry-After are not. */
const MAX_SLEEP = 24 * 3_600_000;
/** Number of hints that are read from the outbox at once. */
const HINTS = 50;
/** Number of attempts after which a hint is dropped: polling finds the ticket anyway. */
const MAX_FETCHES = 5;

/**
 * Polls one source periodically. Between polls it follows hints and does rechecks. It works on one thing at a time, so
 * that an earlier version of a ticket never replaces a later one.
 */
export class SourceLoop {
  readonly #options: SourceLoopOptions;
  readonly #rechecks: Rechecks;
  /** Error of the last poll; null if it succeeded. */
  #error: AppError | null = null;
  readonly #fetches = new Map<string, number>();
  #failures = 0;
  /** Time on the monotonic clock. */
  #pollAt = Number.NEGATIVE_INFINITY;

  constructor(options: SourceLoopOptions) {
    this.#options = options;
    this.#rechecks = new Rechecks(options);
  }

  /** Error of the last poll or recheck; null: neither failed. */
  get error(): AppError | null {
    return this.#error ?? this.#rechecks.error;
  }

  /** Runs until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, hints } = this.#options;
    while (!signal.aborted) {
      const seen = hints.count;
      await this.round(signal);
      const next = Math.min(this.#pollAt, this.#rechecks.dueAt);
      const pause = Math.min(MAX_SLEEP, Math.max(0, next - clock.monotonic()));
      await hints.wait(seen, pause, clock, signal);
    }
  }

  /** Makes the next poll due immediately. */
  pollSoon(): void {
    this.#pollAt = Number.NEGATIVE_INFINITY;
    this.#options.hints.notify();
  }

  /** Makes the loop look for due rechecks. */
  wake(): void {
    this.#options.hints.notify();
  }

  /** Follows hints, does rechecks, and polls if a poll is due. */
  async round(signal: AbortSignal): Promise<void> {
    const { clock, every, events, source } = this.#options;
    const isDue = this.#pollAt <= clock.monotonic();
    try {
      if (isDue || this.#error === null) {
        await this.#follow(signal);
      }
      await this.#rechecks.follow(signal);
      if (isDue) {
        this.#pollAt = clock.monotonic() + every;
        await this.#poll(signal);
        this.#failures = 0;
        this.#error = null;
        this.#pollAt = Math.max(this.#pollAt, clock.monotonic());
        events.onPollEnd?.({ source: source.name, error: null, again: every });
      }
    } catch (error) {
      if (!signal.aborted) {
        this.#fail(error);
      }
    }
  }

  #fail(error: unknown): void {
    const { source, clock, events } = this.#options;
    this.#failures += 1;
    const why = this.#options.intake.redactError(toAppError(error, source.name));
    this.#error = why;
    const again = this.#pause(why);
    this.#pollAt = clock.monotonic() + again;
    events.onPollEnd?.({ source: source.name, error: why, again });
  }

  #pause(error: AppError): number {
    if (error instanceof AuthError) {
      return REFUSED_PAUSE;
    }
    const growing = backoffDelay(this.#failures, FIRST_PAUSE, MAX_PAUSE, this.#options.random);
    return error instanceof RateLimitedError ? Math.max(growing, error.after ?? 0) : growing;
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const { source, outbox, clock } = this.#options;
    while (!(await this.#pollOnce(signal))) {
      // The source was reset: start again from the new position.
    }
    await outbox.polled(source.name, clock.now());
  }

  /** Returns false if the source was reset in the meantime: the poll does not count. */
  async #pollOnce(signal: AbortSignal): Promise<boolean> {
    const { source, intake, outbox, clock } = this.#options;
    const { cursor, since, round } = await outbox.position(source.name);
    const from = since ?? clock.now() - this.#options.since;
    const processed = await outbox.processed(source.name);
    let lookedAt = clock.now();
    for await (const batch of source.poll({ cursor, since: from, processed, signal })) {
      const moved = batch.processed === undefined ? {} : { processed: batch.processed };
      const along = { cursor: { value: batch.cursor, round, ...moved }, lookedAt };
      const kept = await intake.take(batch.found, along, signal, { meanwhile: () => this.#rechecks.follow(signal) });
      if (kept === 'stale') {
        return false;
      }
      await this.#follow(signal);
      await this.#rechecks.follow(signal);
      lookedAt = clock.now();
    }
    return (await outbox.position(source.name)).round === round;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { source, outbox } = this.#options;
    for (;;) {
      const hints = await outbox.hints(source.name, HINTS);
      for (const hint of hints) {
        await this.#fetch(hint, signal);
      }
      if (hints.length < HINTS) {
        return;
      }
    }
  }

  async #fetch(hint: Hint, signal: AbortSignal): Promise<void> {
    const { source, intake, clock } = this.#options;
    const lookedAt = clock.now();
    let found: SourceRecord;
    try {
      found = await source.fetch(hint.id, signal);
    } catch (error) {
      const fetches = (this.#fetches.get(hint.id) ?? 0) + 1;
      this.#fetches.set(hint.id, fetches);
      const why = toAppError(error, source.name);
      // Status 403 may concern this ticket only.
      const affectsSource = why instanceof AuthError && why.status !== 403;
      if (signal.aborted || (why.disposition !== 'stall' && fetches < MAX_FETCHES) || affectsSource) {
        throw error;
      }
      found = { kind: 'rejected', place: 'a hint', reason: why.message };
    }
    this.#fetches.delete(hint.id);
    await intake.take([found], { handled: [hint], lookedAt }, signal, {
      meanwhile: () => this.#rechecks.follow(signal),
    });
  }
}
