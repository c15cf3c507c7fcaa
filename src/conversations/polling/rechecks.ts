import { backoffDelay } from '../../core/backoff.ts';
import type { Clock, Random } from '../../core/clock.ts';
import { AppError, AuthError, RateLimitedError, SourceError } from '../../core/errors.ts';
import { largest } from '../../core/lists.ts';
import type { Outbox, Recheck } from '../../store/outbox/outbox.ts';
import type { Intake } from '../intake/intake.ts';
import { toAppError } from '../model/app-error.ts';
import type { ConversationEvents } from '../model/events.ts';
import type { PollingSource } from '../model/source.ts';
import type { SourceRecord } from '../model/ticket.ts';

export interface RechecksOptions {
  readonly source: PollingSource;
  readonly intake: Intake;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: ConversationEvents;
}

/** Maximum number of tickets that are fetched and stored together. */
const RECHECKS = 20;
const FIRST_PAUSE = 5000;
const MAX_PAUSE = 15 * 60_000;
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
export class Rechecks {
  /** Time of the next recheck on the monotonic clock, as of the last `follow`. */
  dueAt = Number.POSITIVE_INFINITY;
  readonly #options: RechecksOptions;
  /** Failed tickets by key. */
  readonly #failures = new Map<string, Failure>();
  #closedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: RechecksOptions) {
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
    const growing = backoffDelay(times, FIRST_PAUSE, MAX_PAUSE, random);
    const pause = error instanceof RateLimitedError ? Math.max(growing, error.after ?? 0) : growing;
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

/** Reports whether an error affects the whole source, not one ticket. */
function affectsSource(error: AppError): boolean {
  return error instanceof RateLimitedError || (error instanceof AuthError && error.status !== 403);
}
