/** Ingestion of one organization: sources, outbox and sender. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, endsWithin, type Random, WakeUpSignal } from '../core/clock.ts';
import { type AppError, TransientError } from '../core/errors.ts';
import type { WebhookRequest } from '../core/signature.ts';
import type { Writer } from '../platform/client.ts';
import { ConversationsProbe } from '../platform/conversations-probe.ts';
import type { Outbox } from '../store/outbox/outbox.ts';
import type { DeadFilter, OutboxStatus, SourceStatus } from '../store/outbox/tables.ts';
import { PlatformDestination } from './destination.ts';
import { Intake } from './intake.ts';
import type { ConversationEvents, PollingSource, SenderState, Webhook } from './model/source.ts';
import type { Redactor } from './model/ticket.ts';
import type { RedactionThreads } from './redact/redaction-threads.ts';
import { ConversationSender } from './sender.ts';
import { SourceLoop } from './source-loop.ts';

/** State of an ingestion that is not stored. */
export interface IngestionActivity {
  readonly sender: SenderState;
  /** Number of batches in flight. */
  readonly inFlight: number;
  /** Error of the last poll or recheck, by source; without the sources where neither failed. */
  readonly errors: ReadonlyMap<string, string>;
}

export interface IngestionStatus extends Omit<IngestionActivity, 'errors'> {
  readonly outbox: Omit<OutboxStatus, 'sources'>;
  readonly sources: readonly (SourceStatus & {
    /** Seconds since the last successful poll; null: there was none. */
    readonly pollAgeSeconds: number | null;
    /** Age of the oldest waiting content; null: nothing waits. */
    readonly oldestWaitSeconds: number | null;
    /** Error of the last poll or recheck; null: neither failed. */
    readonly error: string | null;
  })[];
}

/** Size in bytes from which other work gets a turn while a delivery is handled. */
const LARGE = 256 * 1024;

/** One configured source, with polling, a webhook or both. */
export interface IngestionSource {
  readonly name: string;
  readonly polling: PollingSource | null;
  readonly webhook: Webhook | null;
  /**
   * Calls `onNew` when there is something to poll; the returned function stops that. Absent: the source is polled only
   * by interval.
   */
  readonly watch?: (onNew: () => void) => () => Promise<void>;
  /** Milliseconds from the start of a poll to the start of the next. */
  readonly every: number;
  /** Lookback of the first poll, in milliseconds. */
  readonly since: number;
}

interface IngestionOptions {
  readonly sources: readonly IngestionSource[];
  readonly outbox: Outbox;
  readonly redactor: Redactor;
  /** Threads that redact with the same settings; closed by `stop`. Absent: only this thread redacts. */
  readonly threads?: RedactionThreads;
  /** Writer of the organization, with priority `ingestion`; null: nothing is sent. */
  readonly writer: Writer | null;
  /** Returns the id of the site that receives context records on a platform without conversations; null: not configured. */
  readonly site?: (() => Promise<string>) | null;
  /** Shared detection of whether the platform has conversations. */
  readonly probe?: ConversationsProbe;
  /** Delay between solving a ticket and sending it, in milliseconds. */
  readonly settleDelay: number;
  /** Maximum number of conversations and of bytes in one request. */
  readonly batch: { readonly maxConversations: number; readonly maxBytes: number };
  readonly clock: Clock;
  readonly random: Random;
  readonly events: ConversationEvents;
}

/** Response to a webhook request. */
export interface WebhookAnswer {
  readonly status: 202 | 400 | 401 | 404 | 415 | 422 | 503;
  /** Reason for the sender; null with 202. */
  readonly reason: string | null;
}

/** Interval in which a single run checks for progress without a notification, in milliseconds. */
const CHECK_INTERVAL = 1000;

/** Ingestion of one organization: sources, outbox and sender. */
export class Ingestion {
  readonly sender: ConversationSender | null;
  readonly #options: IngestionOptions;
  readonly #work = new WakeUpSignal();
  readonly #room = new WakeUpSignal();
  readonly #intakes = new Map<string, Intake>();
  readonly #loops = new Map<string, SourceLoop>();
  readonly #stopping = new AbortController();
  #running: readonly Promise<void>[] = [];
  readonly #watches: (() => Promise<void>)[] = [];

  constructor(options: IngestionOptions) {
    const { outbox, writer, site = null, probe = new ConversationsProbe(), batch, clock, random, events } = options;
    const { sources } = options;
    this.#options = options;
    const [work, room] = [this.#work, this.#room];
    this.sender = null;
    if (writer !== null) {
      const destination = new PlatformDestination({ writer, site, probe, bytes: batch.maxBytes, events });
      this.sender = new ConversationSender({ outbox, destination, batch, clock, random, events, work, room });
    }
    for (const { name, polling, every, since } of sources) {
      const hints = new WakeUpSignal();
      const intake = this.intake(name, { hints });
      if (polling !== null) {
        const loop = { source: polling, intake, outbox, every, since, clock, random, hints, events };
        this.#loops.set(name, new SourceLoop(loop));
      }
    }
  }

  /** Opens an intake for a source that is not configured: pushed files. `settleDelay` overrides the option, in milliseconds. */
  intake(source: string, over: { readonly settleDelay?: number; readonly hints?: WakeUpSignal } = {}): Intake {
    const { outbox, redactor, threads = null, clock, events } = this.#options;
    const { settleDelay = this.#options.settleDelay, hints = new WakeUpSignal() } = over;
    const [work, room] = [this.#work, this.#room];
    const intake = new Intake({ source, outbox, redactor, threads, settleDelay, clock, events, hints, work, room });
    this.#intakes.set(source, intake);
    return intake;
  }

  /** Reports that the pushed files of a source have ended. */
  endFiles(source: string): void {
    this.#options.events.onFilesEnd?.({ source });
  }

  /** Polls and sends until `stop`. */
  start(): void {
    this.sender?.start();
    this.#running = [...this.#loops.values()].map((loop) => loop.run(this.#stopping.signal));
    for (const { name, watch } of this.#options.sources) {
      const end = watch?.(() => this.#loops.get(name)?.pollSoon());
      this.#watches.push(end ?? (async () => {}));
    }
  }

  /** Polls every source once. Returns the errors of the sources that failed, by name. */
  async pollOnce(signal: AbortSignal): Promise<ReadonlyMap<string, AppError>> {
    await Promise.all([...this.#loops.values()].map((loop) => loop.round(signal)));
    const failed = [...this.#loops].flatMap(([name, { error }]) => (error === null ? [] : [[name, error] as const]));
    return new Map(failed);
  }

  /** Polls every source once and sends everything that is due. Returns whether nothing failed. Throws StoreError. */
  async once(): Promise<boolean> {
    const isPolled = await this.sendWhile(
      async (signal) => (await this.pollOnce(signal)).size === 0 && !signal.aborted,
    );
    const state = await this.sender?.sendDue();
    // A platform without conversations is not a failure: the conversations stay in the outbox. Source:
    // docs/platform-notes.md#changes-by-version
    return isPolled && !(state !== undefined && 'reason' in state && state.kind !== 'unsupported');
  }

  /**
   * Sends due conversations while `take` runs, and after it. If the outbox is full and nothing can be sent, the signal
   * aborts with a TransientError, because the outbox cannot drain. Throws the errors of `take`, and StoreError.
   */
  async sendWhile<T>(take: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { outbox, clock } = this.#options;
    const ending = new AbortController();
    let isTaking = true;
    const taken = take(AbortSignal.any([this.#stopping.signal, ending.signal])).finally(() => {
      isTaking = false;
      this.#work.notify();
    });
    // Awaited below; it may fail before that.
    taken.catch(() => {});
    while (isTaking && !this.#stopping.signal.aborted) {
      const seen = this.#work.count;
      const state = await this.sender?.sendDue();
      const isBlocked = [...this.#intakes.values()].some((intake) => intake.isBlocked);
      if (isBlocked && this.#work.count === seen && (await outbox.status()).isFull) {
        const why = state !== undefined && 'reason' in state ? state.reason : 'all of it is within its settle delay';
        ending.abort(new TransientError(`the outbox is full and nothing can be sent now: ${why}`, false));
      }
      await this.#work.wait(seen, CHECK_INTERVAL, clock, this.#stopping.signal);
    }
    const result = await taken;
    await this.sender?.sendDue();
    return result;
  }

  /** Stops polling and sending. Requests in flight get `milliseconds` to end. */
  async stop(milliseconds: number): Promise<void> {
    this.#stopping.abort();
    await this.#options.threads?.close();
    await Promise.all(this.#watches.map((end) => end()));
    await Promise.all([
      this.sender?.stop(milliseconds),
      endsWithin(this.#options.clock, milliseconds, [...this.#running]),
    ]);
    await Promise.all(this.#options.sources.map(({ polling }) => polling?.close()));
  }

  /** Handles a webhook request. Its content is durable before it is answered with 202. Throws StoreError. */
  async deliver(source: string, delivery: WebhookRequest): Promise<WebhookAnswer> {
    const webhook = this.#options.sources.find(({ name }) => name === source)?.webhook ?? null;
    const intake = this.#intakes.get(source);
    if (webhook === null || intake === undefined) {
      return { status: 404, reason: 'no such webhook' };
    }
    const result = webhook.read(delivery);
    if (result.kind === 'refused') {
      return { status: result.status, reason: result.reason };
    }
    if (delivery.body.length > LARGE) {
      // Checking many parts, and handing them to a thread, each keep this thread busy.
      await nextTurn();
    }
    const kept = await intake.takeWebhook(result);
    if (typeof kept === 'object') {
      return { status: 422, reason: kept.reason };
    }
    switch (kept) {
      case 'full':
        return { status: 503, reason: 'outbox full; retry later' };
      case 'busy':
        return { status: 503, reason: 'too much text waits for redaction; retry later' };
      default:
        return { status: 202, reason: null };
    }
  }

  /** Polls a source at once from `since`, in milliseconds since the epoch. */
  async resync(source: string, since: number): Promise<void> {
    await this.#options.outbox.reset(source, since);
    this.#loops.get(source)?.pollSoon();
  }

  /** Queues dead letters again. Returns their number. */
  async retry(filter: DeadFilter): Promise<number> {
    const count = await this.#options.outbox.retry(filter, this.#options.clock.now());
    this.wake();
    return count;
  }

  /** Follows hints and sends what is due, now. */
  wake(): void {
    this.#work.notify();
    for (const loop of this.#loops.values()) {
      loop.wake();
    }
  }

  /** Deletes dead letters; the same content is not queued again. Returns their number. */
  async drop(filter: DeadFilter): Promise<number> {
    const count = await this.#options.outbox.drop(filter);
    this.#room.notify();
    return count;
  }

  /** Returns the number of waiting conversations per source that were redacted with other settings or rules. Throws StoreError. */
  outdated(): Promise<ReadonlyMap<string, number>> {
    const { outbox, redactor } = this.#options;
    return outbox.outdated(redactor.version);
  }

  get activity(): IngestionActivity {
    return {
      sender: this.sender?.state ?? { kind: 'stopped' },
      inFlight: this.sender?.inFlight ?? 0,
      errors: new Map([...this.#loops].flatMap(([name, { error }]) => (error === null ? [] : [[name, error.message]]))),
    };
  }

  /** Throws StoreError. */
  async status(): Promise<IngestionStatus> {
    const { outbox, sources, clock } = this.#options;
    return describeIngestion(
      await outbox.status(),
      this.activity,
      sources.map(({ name }) => name),
      clock.now(),
    );
  }
}

/**
 * Returns the status that follows from an outbox, as it was stored, and from the activity of the process that polls and
 * sends. `configured`: names of the sources of the configuration.
 */
export function describeIngestion(
  { sources, ...rest }: OutboxStatus,
  { errors, ...activity }: IngestionActivity,
  configured: readonly string[],
  now: number,
): IngestionStatus {
  const seen = new Set(sources.map(({ source }) => source));
  const unseen = configured.filter((name) => !seen.has(name)).map(nothingOf);
  return {
    ...activity,
    outbox: rest,
    sources: [...sources, ...unseen].map((source) => ({
      ...source,
      pollAgeSeconds: source.polledAt === null ? null : (now - source.polledAt) / 1000,
      oldestWaitSeconds: source.waitingSince === null ? null : (now - source.waitingSince) / 1000,
      error: errors.get(source.source) ?? null,
    })),
  };
}

/** Returns the status of a source that has not been read yet. */
function nothingOf(source: string): SourceStatus {
  const none = { waiting: 0, waitingSince: null, sending: 0, inDoubt: 0, deadLetters: 0, hints: 0, counts: {} };
  return { source, cursor: null, polledAt: null, arrivedAt: null, ...none };
}
