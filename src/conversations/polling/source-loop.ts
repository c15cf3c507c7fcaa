import type { Clock, Random } from '../../core/clock.ts';
import { type AppError, AuthError, RateLimitedError } from '../../core/errors.ts';
import type { Hint, Outbox } from '../../store/outbox.ts';
import type { Intake } from '../intake/intake.ts';
import { toAppError } from '../model/app-error.ts';
import { backoffDelay } from '../model/backoff.ts';
import type { ConversationEvents } from '../model/events.ts';
import type { PollingSource } from '../model/source.ts';
import type { SourceRecord } from '../model/ticket.ts';
import type { WakeUpSignal } from '../model/wake-up-signal.ts';
import { Rechecks } from './rechecks.ts';

export interface SourceLoopOptions {
  readonly source: PollingSource;
  readonly intake: Intake;
  readonly outbox: Outbox;
  /** Milliseconds from the beginning of a poll to that of the next. */
  readonly every: number;
  /** Milliseconds that a first poll goes back. */
  readonly since: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Rung when a webhook hinted at something, and when a poll is asked for. */
  readonly hints: WakeUpSignal;
  readonly events: ConversationEvents;
}

const FIRST_PAUSE = 5000;
const LONGEST_PAUSE = 15 * 60_000;
/** How long to leave a provider alone that does not accept the credentials. */
const REFUSED_PAUSE = 15 * 60_000;
/** A timer knows no longer one than 25 days; a `poll` and a provider's Retry-After do. */
const LONGEST_SLEEP = 24 * 3_600_000;
/** Hints that are read at once. */
const HINTS = 50;
/** Fetches after which a hint is given up: what it hinted at is found by polling. */
const MOST_FETCHES = 5;

/**
 * One source, polled again and again; in between its hints are followed, and what is at the end of its rest is looked at
 * once more where that is needed. One thing at a time: what was fetched earlier is never kept over what was fetched
 * later.
 */
export class SourceLoop {
  readonly #options: SourceLoopOptions;
  readonly #rechecks: Rechecks;
  /** Why the last poll failed; null: it did not. */
  #error: AppError | null = null;
  readonly #fetches = new Map<string, number>();
  #failures = 0;
  /** On the monotonic scale. */
  #pollAt = Number.NEGATIVE_INFINITY;

  constructor(options: SourceLoopOptions) {
    this.#options = options;
    this.#rechecks = new Rechecks(options);
  }

  /** Why the last poll, or the last look at what has rested, failed; null: neither did. */
  get error(): AppError | null {
    return this.#error ?? this.#rechecks.error;
  }

  /** Goes on until the signal aborts; rejects never. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, hints } = this.#options;
    while (!signal.aborted) {
      const seen = hints.count;
      await this.round(signal);
      const next = Math.min(this.#pollAt, this.#rechecks.dueAt);
      const pause = Math.min(LONGEST_SLEEP, Math.max(0, next - clock.monotonic()));
      await hints.wait(seen, pause, clock, signal);
    }
  }

  /** The next poll is due at once. */
  hurry(): void {
    this.#pollAt = Number.NEGATIVE_INFINITY;
    this.#options.hints.notify();
  }

  /** There may be something to look at. */
  wake(): void {
    this.#options.hints.notify();
  }

  /** Follows the hints, looks at what is at the end of its rest, and polls where that is due. */
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
    const growing = backoffDelay(this.#failures, FIRST_PAUSE, LONGEST_PAUSE, this.#options.random);
    return error instanceof RateLimitedError ? Math.max(growing, error.after ?? 0) : growing;
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const { source, outbox, clock } = this.#options;
    while (!(await this.#pollOnce(signal))) {
      // It was reset meanwhile: from there, then.
    }
    await outbox.polled(source.name, clock.now());
  }

  /** False: the source was reset meanwhile, and nothing of this counts. */
  async #pollOnce(signal: AbortSignal): Promise<boolean> {
    const { source, intake, outbox, clock } = this.#options;
    const { cursor, since, round } = await outbox.position(source.name);
    const from = since ?? clock.now() - this.#options.since;
    const processed = await outbox.processed(source.name);
    let lookedAt = clock.now();
    for await (const batch of source.poll({ cursor, since: from, processed, signal })) {
      const moved = batch.processed === undefined ? {} : { processed: batch.processed };
      const along = { cursor: { value: batch.cursor, round, ...moved }, lookedAt };
      const kept = await intake.take(batch.found, along, signal, () => this.#rechecks.follow(signal));
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
      // With 403 it may be this ticket alone that the credentials may not see.
      const isOfAll = why instanceof AuthError && why.status !== 403;
      if (signal.aborted || (why.disposition !== 'stall' && fetches < MOST_FETCHES) || isOfAll) {
        throw error;
      }
      found = { kind: 'rejected', place: 'a hint', reason: why.message };
    }
    this.#fetches.delete(hint.id);
    await intake.take([found], { handled: [hint], lookedAt }, signal, () => this.#rechecks.follow(signal));
  }
}
