/** Sends the deliveries of one channel: one after the other, with retries that survive a restart. */
import { backoffDelay, type Clock, type Random, SLEEP_ENDED, type WakeUpSignal } from '../core/clock.ts';
import type { AttemptResult, DeliveryAttempt, Fact, Notifications, StoredReceipt } from '../store/notifications.ts';
import { type Channel, ChannelError } from './channel.ts';
import type { Notification } from './messages.ts';

/** Listener for deliveries, such as the log and the metrics. */
export interface DeliveryEvents {
  onSent(channel: string, milliseconds: number): void;
  /** `isFinal`: there is no further attempt. */
  onFailed(channel: string, error: ChannelError, isFinal: boolean): void;
  /** The state cannot be used. */
  onError(error: unknown): void;
}

interface DeliveryLoopOptions {
  readonly channel: Channel;
  readonly notifications: Pick<Notifications, 'begin' | 'cancelAttempts' | 'dueAt' | 'end'>;
  /** Writes the message of a delivery. */
  readonly render: (attempt: DeliveryAttempt) => Notification;
  readonly clock: Clock;
  readonly random: Random;
  /** Wakes the loop when deliveries were created. */
  readonly created: WakeUpSignal;
  /** Notified when an attempt has ended. */
  readonly ended: WakeUpSignal;
  readonly events: DeliveryEvents;
  /** Returns the milliseconds for which this process alone sends. */
  readonly left: () => number;
}

/** Milliseconds from the first attempt after which a delivery is given up. */
const GIVE_UP = 24 * 3_600_000;
/** Milliseconds that an attempt may take. An attempt gets less if another process may send soon, and none below `min`. */
const SEND_LIMIT = { max: 60_000, min: 1000, margin: 2000 } as const;
const FIRST_PAUSE = 5000;
/**
 * Longest pause, also if the receiver asks for more, so that no answer of one silences a channel for long. What a channel
 * rejected is sent again after it, because its settings may have been corrected.
 */
const LONGEST_PAUSE = 3_600_000;
/** Longest wait in milliseconds, because the wall clock may be set meanwhile. */
const LONGEST_WAIT = 60_000;
const RETRY = 10_000;

/** Reporter of the state of a channel. */
export function channelReporter(channel: string): string {
  return `channel/${channel}`;
}

/** Delivery loop of one channel. */
export class DeliveryLoop {
  readonly #options: DeliveryLoopOptions;
  #failures = 0;
  #failingSince = 0;
  /** The channel as a whole is left alone until then. */
  #pausedUntil = 0;
  /** True if an attempt may have begun whose answer was lost. */
  #mayHaveBegun = false;

  constructor(options: DeliveryLoopOptions) {
    this.#options = options;
  }

  /** Sends until `stopping` aborts. A message in flight is then given the time until `abort` aborts. */
  async run(stopping: AbortSignal, abort: AbortSignal): Promise<void> {
    const { clock, created, events } = this.#options;
    while (!stopping.aborted) {
      const seen = created.count;
      let wait = LONGEST_WAIT;
      try {
        if (await this.sendNext(stopping, abort)) {
          continue;
        }
        wait = this.#sendLimit < SEND_LIMIT.min ? RETRY : Math.min(wait, await this.#untilDue());
      } catch (error) {
        events.onError(error);
        wait = RETRY;
      }
      await created.wait(seen, wait, clock, stopping);
    }
  }

  /** Sends the delivery that is due next. Returns false if none is. */
  async sendNext(stopping: AbortSignal, abort: AbortSignal): Promise<boolean> {
    const { channel, notifications, clock, ended } = this.#options;
    const now = clock.now();
    const maySend = now >= this.#pausedUntil && this.#sendLimit >= SEND_LIMIT.min;
    const attempt = maySend ? await this.#begin(now) : null;
    if (attempt === null) {
      return false;
    }
    const { result, facts } = await this.#attempt(attempt, abort);
    const report = { reporter: channelReporter(channel.name), facts };
    await this.#store(() => notifications.end(attempt.delivery.id, result, report), stopping);
    ended.notify();
    return true;
  }

  /** Begins an attempt; null if nothing is due. Throws StoreError: then it may have begun, and the next call cancels it. */
  async #begin(now: number): Promise<DeliveryAttempt | null> {
    const { channel, notifications } = this.#options;
    if (this.#mayHaveBegun) {
      await notifications.cancelAttempts(channel.name, now);
    }
    this.#mayHaveBegun = true;
    const attempt = await notifications.begin(channel.name, now);
    this.#mayHaveBegun = false;
    return attempt;
  }

  /** Milliseconds that an attempt may take now. */
  get #sendLimit(): number {
    return Math.min(SEND_LIMIT.max, this.#options.left() - SEND_LIMIT.margin);
  }

  async #untilDue(): Promise<number> {
    const { channel, notifications, clock } = this.#options;
    const dueAt = await notifications.dueAt(channel.name);
    return dueAt === null ? LONGEST_WAIT : Math.max(0, Math.max(dueAt, this.#pausedUntil) - clock.now());
  }

  /** Stores a result. Tries again until the daemon stops, because an attempt without an end is not repeated before. */
  async #store(work: () => Promise<void>, stopping: AbortSignal): Promise<void> {
    for (;;) {
      try {
        await work();
        return;
      } catch (error) {
        if (stopping.aborted) {
          throw error;
        }
        this.#options.events.onError(error);
        await this.#options.clock.sleep(RETRY, stopping).catch(() => {});
      }
    }
  }

  async #attempt(
    attempt: DeliveryAttempt,
    abort: AbortSignal,
  ): Promise<{ readonly result: AttemptResult; readonly facts: readonly Fact[] }> {
    const { channel, clock, events } = this.#options;
    const start = clock.monotonic();
    try {
      const receipt = await this.#send(attempt, abort);
      this.#failures = 0;
      this.#pausedUntil = 0;
      events.onSent(channel.name, clock.monotonic() - start);
      return { result: { result: 'sent', receipt, at: clock.now() }, facts: [] };
    } catch (cause) {
      const error =
        cause instanceof ChannelError
          ? cause
          : new ChannelError(`${channel.name} failed unexpectedly`, 'unknown', null, { cause });
      const result = this.#fail(attempt, error);
      events.onFailed(channel.name, error, result.result === 'failed');
      return { result, facts: [failingFact(channel.name, this.#failingSince, error)] };
    }
  }

  async #send(attempt: DeliveryAttempt, abort: AbortSignal): Promise<StoredReceipt | null> {
    const { channel, render, clock } = this.#options;
    const { id, thread } = attempt.delivery;
    const message = render(attempt);
    const done = new AbortController();
    const late = new AbortController();
    const milliseconds = this.#sendLimit;
    if (milliseconds <= 0) {
      throw new ChannelError(`nothing was sent to ${channel.name}: another replica may send it`, 'not-taken');
    }
    const limit = clock.sleep(milliseconds, done.signal).then(() => {
      late.abort();
      throw new ChannelError(`${channel.name} did not answer within ${Math.round(milliseconds / 1000)} s`, 'unknown');
    });
    try {
      const outgoing = { id, thread, message, receipt: attempt.receipt };
      return await Promise.race([channel.send(outgoing, AbortSignal.any([abort, late.signal])), limit]);
    } finally {
      limit.catch(() => {});
      done.abort(SLEEP_ENDED);
    }
  }

  #fail({ firstAttemptAt }: DeliveryAttempt, error: ChannelError): AttemptResult {
    const { clock, random } = this.#options;
    const now = clock.now();
    this.#failingSince = this.#failures === 0 ? now : this.#failingSince;
    this.#failures += 1;
    const { failure, message: reason, retryAfter } = error;
    const isRejected = failure === 'rejected';
    const backoff = backoffDelay(this.#failures, FIRST_PAUSE, LONGEST_PAUSE, random);
    const pause = isRejected ? LONGEST_PAUSE : Math.max(backoff, Math.min(retryAfter ?? 0, LONGEST_PAUSE));
    const nextAttemptAt = now + pause;
    if (!isRejected) {
      this.#pausedUntil = nextAttemptAt;
    }
    return nextAttemptAt > firstAttemptAt + GIVE_UP
      ? { result: 'failed', mayHaveArrived: failure === 'unknown', reason, at: now }
      : { result: failure === 'unknown' ? 'unknown' : 'not-taken', reason, nextAttemptAt };
  }
}

function failingFact(channel: string, since: number, { message }: ChannelError): Fact {
  return {
    code: 'channel-failing',
    scope: { organization: null, token: null, platform: null },
    subject: channel,
    since,
    summary: `Notifications cannot be sent to ${channel}: ${message}`,
    details: [],
    path: '/deliveries',
  };
}
