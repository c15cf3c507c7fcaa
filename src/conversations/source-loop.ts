/** Polls one source, follows its hints and checks tickets again before they are sent. */
import { backoffDelay, type Clock, type Random, type WakeUpSignal } from '../core/clock.ts';
import { AppError, AuthError, RateLimitedError, SourceError } from '../core/errors.ts';
import { largest } from '../core/lists.ts';
import type { Outbox } from '../store/outbox/outbox.ts';
import type { Hint, Recheck } from '../store/outbox/tables.ts';
import type { Intake } from './intake.ts';
import type { ConversationEvents, PollingSource } from './model/source.ts';
import type { SourceRecord } from './model/ticket.ts';

interface SourceLoopOptions {
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
    const { source, intake, clock, random, events } = this.#options;
    this.#failures += 1;
    const why = intake.redactError(toAppError(error, source.name));
    this.#error = why;
    const again = why instanceof AuthError ? REFUSED_PAUSE : pauseAfter(why, this.#failures, random);
    this.#pollAt = clock.monotonic() + again;
    events.onPollEnd?.({ source: source.name, error: why, again });
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
      if (signal.aborted || (why.disposition !== 'stall' && fetches < MAX_FETCHES) || isUnauthorized(why)) {
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

/** Maximum number of tickets that are fetched and stored together. */
const RECHECKS = 20;
/** Number of failures without a success after which the provider counts as the cause, not the tickets. */
const MAX_FAILURES = 3;

interface Failure {
  /** Consecutive failures. */
  readonly times: number;
  readonly error: AppError;
  readonly pause: number;
  /** Time of the next attempt, in milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Fetches each ticket again at the end of its settle delay, for sources whose polls do not report that a ticket was
 * deleted or marked as spam. An unchanged ticket is released for sending, a changed one replaces it, and a deleted one
 * withdraws it. A ticket that cannot be fetched is retried with backoff, without delaying others.
 */
class Rechecks {
  /** Time of the next recheck on the monotonic clock, as of the last `follow`. */
  dueAt = Number.POSITIVE_INFINITY;
  readonly #options: SourceLoopOptions;
  /** Failed tickets by key. */
  readonly #failures = new Map<string, Failure>();
  #closedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: SourceLoopOptions) {
    this.#options = options;
  }

  /** Error of a ticket that waits for another attempt, or null. */
  get error(): AppError | null {
    return this.#failures.values().next().value?.error ?? null;
  }

  /** Fetches all tickets that are due. Returns the keys of those fetched. Throws StoreError, and the signal's reason. */
  async follow(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { outbox, source, clock } = this.#options;
    this.dueAt = Number.POSITIVE_INFINITY;
    const looked = new Set<string>();
    for (let isMore = true; isMore && clock.monotonic() >= this.#closedUntil; ) {
      const due = await outbox.rechecks(source.name, clock.now(), RECHECKS);
      isMore = due.length === RECHECKS;
      if (!isMore) {
        this.#forgetOthers(due, clock.now());
      }
      for (const key of await this.#fetchAll(due, signal)) {
        looked.add(key);
      }
    }
    const at = await outbox.recheckAt(source.name);
    if (at !== null) {
      // Tickets that became due in the meantime wait, which prevents a busy loop.
      const pause = at > clock.now() ? at - clock.now() : FIRST_PAUSE;
      this.dueAt = Math.max(this.#closedUntil, clock.monotonic() + pause);
    }
    return looked;
  }

  /** Forgets failures of tickets that no longer wait: they were withdrawn, or confirmed by a poll. */
  #forgetOthers(due: readonly Recheck[], now: number): void {
    const waiting = new Set(due.map(({ key }) => key));
    for (const [key, { until }] of this.#failures) {
      if (until <= now && !waiting.has(key)) {
        this.#failures.delete(key);
      }
    }
  }

  async #fetchAll(due: readonly Recheck[], signal: AbortSignal): Promise<readonly string[]> {
    const { source, intake, clock } = this.#options;
    const lookedAt = clock.now();
    const looks = await Promise.all(
      due.map(async (recheck) => ({ ...recheck, found: await fetched(source, recheck, signal) })),
    );
    signal.throwIfAborted();
    const found: SourceRecord[] = [];
    const rechecked: string[] = [];
    const failures: Failure[] = [];
    for (const look of looks) {
      if (look.found instanceof AppError) {
        failures.push(await this.#fail(look.key, look.found));
      } else {
        found.push(look.found);
        rechecked.push(look.key);
        this.#failures.delete(look.key);
      }
    }
    if (rechecked.length > 0) {
      await intake.take(found, { lookedAt, rechecked }, signal);
    }
    const isOver = failures.length >= MAX_FAILURES && rechecked.length === 0;
    const pauses = failures.filter(({ error }) => isOver || affectsSource(error)).map(({ pause }) => pause);
    this.#closedUntil = Math.max(this.#closedUntil, clock.monotonic() + largest(pauses));
    return rechecked;
  }

  async #fail(key: string, error: AppError): Promise<Failure> {
    const { source, outbox, clock, random, events } = this.#options;
    const times = (this.#failures.get(key)?.times ?? 0) + 1;
    const pause = pauseAfter(error, times, random);
    const until = clock.now() + pause;
    await outbox.postponeRecheck(source.name, key, until);
    const failure = { times, error, pause, until };
    this.#failures.set(key, failure);
    if (times === 1 && error.disposition === 'stall' && !affectsSource(error)) {
      const reason = `cannot read the ticket again before sending it: ${error.message}`;
      events.onRejected?.({ source: source.name, place: key, reason });
    }
    return failure;
  }
}

async function fetched(
  source: PollingSource,
  { key, id }: Recheck,
  signal: AbortSignal,
): Promise<SourceRecord | AppError> {
  try {
    const found = await source.fetch(id, signal);
    return found.kind === 'rejected' ? new SourceError(`${source.name}: ${key}: ${found.reason}`) : found;
  } catch (error) {
    return toAppError(error, source.name);
  }
}

/** Returns the pause after consecutive failures, in milliseconds: at least as long as the provider asks for. */
function pauseAfter(error: AppError, failures: number, random: Random): number {
  const growing = backoffDelay(failures, FIRST_PAUSE, MAX_PAUSE, random);
  return error instanceof RateLimitedError ? Math.max(growing, error.after ?? 0) : growing;
}

/** Reports whether an error affects the whole source. Status 403 may concern one ticket only. */
function affectsSource(error: AppError): boolean {
  return error instanceof RateLimitedError || isUnauthorized(error);
}

function isUnauthorized(error: AppError): boolean {
  return error instanceof AuthError && error.status !== 403;
}

/** Converts an error to an AppError. The message of any other error is omitted, because it may quote a conversation. */
function toAppError(error: unknown, source: string): AppError {
  if (error instanceof AppError) {
    return error;
  }
  const name = error instanceof Error ? error.name : 'an error';
  return new SourceError(`${source}: unexpected ${name} while reading the source`, { cause: error });
}
