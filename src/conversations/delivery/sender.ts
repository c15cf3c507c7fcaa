import type { Clock, Random } from '../../core/clock.ts';
import { StoreError } from '../../core/errors.ts';
import type { WakeUpSignal } from '../../core/wake-up-signal.ts';
import type { Outbox, OutgoingBatch } from '../../store/outbox/outbox.ts';
import type { ConversationEvents, SenderState } from '../model/events.ts';
import { BatchSupportProbe } from './batch-support-probe.ts';
import type { Destination } from './destination.ts';
import { type EndedBatch, InFlightBatches } from './in-flight-batches.ts';
import type { SendOutcome } from './outcome.ts';
import { recordChange, reportOutcome, sendingBackoff } from './settlement.ts';
import { type BatchChange, decide, type Transition } from './transition.ts';

export interface SenderOptions {
  readonly outbox: Outbox;
  readonly destination: Destination;
  /** Maximum number of conversations and of bytes in one request. */
  readonly batch: { readonly maxConversations: number; readonly maxBytes: number };
  readonly clock: Clock;
  readonly random: Random;
  /** Notified when there is something to send. */
  readonly work: WakeUpSignal;
  /** Notified when the outbox has room again. */
  readonly room: WakeUpSignal;
  readonly events: ConversationEvents;
}

/** Longest sleep in milliseconds: the wall clock, by which content is due, may be set in the meantime. */
const CHECK_INTERVAL = 60_000;
/**
 * Maximum number of batches in flight, and in doubt while the platform does not respond; one more is tried from time to
 * time. All of those in flight may be lost at once. Four hide the latency of the platform; more only take memory.
 */
const MAX_OPEN = 4;
const ANY = Number.MAX_SAFE_INTEGER;

/**
 * Sends due conversations, several batches at a time. `decide` maps each response to its consequences. All of them are
 * applied and recorded by one loop, before it starts another batch.
 */
export class ConversationSender {
  readonly #options: SenderOptions;
  readonly #inFlight: InFlightBatches;
  #state: SenderState = { kind: 'stopped' };
  /** Pending writes of outcomes by batch id, which are repeated until they succeed. */
  readonly #unrecorded = new Map<number, () => Promise<void>>();
  #isRecovered = false;
  /** Consecutive failures. */
  #failures = 0;
  #answers = 0;
  readonly #batchSupport = new BatchSupportProbe();
  /** `#answers` when the response of a batch was last lost, by batch id. */
  readonly #lostAt = new Map<number, number>();
  /** Time on the monotonic clock. */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Pauses so far. A batch that was started before the last one says nothing about the platform since then. */
  #pauses = 0;
  readonly #stopping = new AbortController();
  /** Offset of the wall clock from the monotonic clock. */
  #wall: number;
  #running: Promise<void> | undefined;
  #once: Promise<void> | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#inFlight = new InFlightBatches(options.destination, () => options.work.notify());
    this.#wall = options.clock.now() - options.clock.monotonic();
  }

  get state(): SenderState {
    return this.#state;
  }

  /** Number of batches in flight. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Sends until `stop`. */
  start(): void {
    this.#running ??= this.#run(() => false);
  }

  /** Ends the pause, after its cause was fixed. */
  resume(): void {
    this.#pausedUntil = Number.NEGATIVE_INFINITY;
    this.#options.work.notify();
  }

  /** Starts no more requests. Those in flight get `milliseconds` to end, and are recorded in any case. */
  async stop(milliseconds: number): Promise<void> {
    this.#stopping.abort();
    await this.#inFlight.stop(milliseconds, this.#options.clock);
    await Promise.all([this.#running, this.#once]);
    // A batch that the loop had just read from the outbox.
    await this.#inFlight.stop(0, this.#options.clock);
    // What cannot be recorded now is in doubt for the next process.
    await this.#record().catch(() => {});
    this.#enter({ kind: 'stopped' });
  }

  /** Sends everything that is due. Returns the state: `idle`, or why the rest cannot be sent. */
  async sendDue(): Promise<SenderState> {
    this.#once = this.#run((pause) => pause > 0 && this.#inFlight.size === 0);
    await this.#once;
    return this.#state;
  }

  async #run(isDone: (pause: number) => boolean): Promise<void> {
    const { work, clock } = this.#options;
    let isQuiet = false;
    while (!this.#stopping.signal.aborted) {
      const seen = work.count;
      const pause = await this.#step(isQuiet);
      if (isDone(pause)) {
        return;
      }
      await work.wait(seen, Math.min(pause, CHECK_INTERVAL), clock, this.#stopping.signal);
      isQuiet = pause >= CHECK_INTERVAL && work.count === seen;
    }
  }

  /**
   * Records the batches that have ended, and starts those that may be sent. Returns the milliseconds until the next
   * step, unless a batch ends before. `isQuiet`: probably nothing may be sent. Never rejects.
   */
  async #step(isQuiet: boolean): Promise<number> {
    try {
      await this.#record();
      const paused = this.#untilResumed();
      return paused > 0 ? paused : await this.#startBatches(isQuiet);
    } catch (error) {
      // The state file may recover on its own, for example when the disk has space again. The message of any other
      // error may quote a conversation.
      const reason = error instanceof StoreError ? error.message : 'unexpected error while sending conversations';
      this.#enter({ kind: 'failing', reason });
      if (this.#untilResumed() <= 0) {
        this.#pause('backoff');
      }
      return this.#untilResumed();
    }
  }

  #untilResumed(): number {
    return this.#pausedUntil - this.#options.clock.monotonic();
  }

  async #startBatches(isQuiet: boolean): Promise<number> {
    const { outbox, batch: limits, clock } = this.#options;
    await this.#prepare();
    const open = this.#failures % MAX_OPEN === 0 ? ANY : MAX_OPEN;
    const items = this.#batchSupport.isUnsupported ? 1 : limits.maxConversations;
    // After a failure, and until it is known how much a request may hold, one batch shows whether it works.
    const most = this.#failures > 0 || this.#batchSupport.isUndecided ? 1 : MAX_OPEN;
    while (this.#mayStart(most)) {
      const inFlight = this.#inFlight.ids;
      // A read costs half of what starting no batch costs.
      const quietUntil = isQuiet ? await outbox.dueAt({ open, inFlight }) : 0;
      const isDue = quietUntil !== null && quietUntil <= clock.now();
      const batch = isDue ? await outbox.next({ items, bytes: limits.maxBytes, open, inFlight }, clock.now()) : null;
      if (batch === null) {
        if (this.#failures === 0 && inFlight.length === 0) {
          this.#enter({ kind: 'idle' });
        }
        const at = isDue ? await outbox.dueAt({ open, inFlight }) : quietUntil;
        return at === null ? CHECK_INTERVAL : Math.max(1, at - clock.now());
      }
      this.#inFlight.start(batch, this.#pauses);
    }
    return CHECK_INTERVAL;
  }

  /** Memory holds a batch several times: no more are started once those in flight are as long as the largest one. */
  #mayStart(most: number): boolean {
    const { size, length } = this.#inFlight;
    return size < most && length < this.#options.batch.maxBytes && !this.#stopping.signal.aborted;
  }

  async #prepare(): Promise<void> {
    const { outbox, clock } = this.#options;
    if (!this.#isRecovered) {
      await outbox.recover();
    }
    const wall = clock.now() - clock.monotonic();
    // The previous owner of the outbox may have had a clock that was ahead.
    if (!this.#isRecovered || wall < this.#wall - CHECK_INTERVAL) {
      await outbox.correctTimes(clock.now());
    }
    this.#isRecovered = true;
    this.#wall = wall;
  }

  /** Applies the outcomes of the batches that have ended, and makes them durable. Throws the last error. */
  async #record(): Promise<void> {
    const errors: unknown[] = [];
    for (const ended of this.#inFlight.ended) {
      const { id } = ended.batch;
      const write = this.#unrecorded.get(id) ?? this.#settle(ended);
      this.#unrecorded.set(id, write);
      try {
        await write();
        this.#unrecorded.delete(id);
        this.#inFlight.delete(id);
        this.#options.room.notify();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) {
      throw errors.at(-1);
    }
  }

  /** Applies the transition that follows from an outcome. Returns the write that makes it durable. */
  #settle({ batch, outcome, pauses }: EndedBatch): () => Promise<void> {
    const { outbox, clock, random, events } = this.#options;
    const othersAnswered = this.#answers > (this.#lostAt.get(batch.id) ?? this.#answers);
    const { change, state, pause } = decide(
      { items: batch.items.length, doubts: batch.doubts, othersAnswered },
      outcome,
    );
    const isCurrent = pauses === this.#pauses;
    this.#count(batch, outcome, { change, isCurrent });
    if (isCurrent) {
      if (state !== null) {
        this.#enter(state);
      }
      this.#pause(pause);
    }
    reportOutcome(events, batch, { outcome, change });
    return recordChange(batch.id, change, { outbox, now: clock.now(), random });
  }

  #count(
    batch: OutgoingBatch,
    outcome: SendOutcome,
    { change, isCurrent }: { readonly change: BatchChange; readonly isCurrent: boolean },
  ): void {
    if (outcome.kind === 'taken' || outcome.kind === 'bad-content') {
      this.#batchSupport.learn(batch.items.length, outcome.kind === 'taken');
      this.#lostAt.delete(batch.id);
      if (isCurrent) {
        this.#failures = 0;
        this.#answers += 1;
      }
    } else if (outcome.kind === 'lost' && change.kind === 'doubt') {
      this.#lostAt.set(batch.id, this.#answers);
    } else if (outcome.kind === 'lost') {
      this.#lostAt.delete(batch.id);
    }
  }

  #pause(pause: Transition['pause']): void {
    if (pause === 0) {
      return;
    }
    this.#pauses += 1;
    this.#failures += pause === 'backoff' ? 1 : 0;
    const milliseconds = pause === 'backoff' ? sendingBackoff(this.#failures, this.#options.random) : pause;
    this.#pausedUntil = this.#options.clock.monotonic() + milliseconds;
  }

  #enter(state: SenderState): void {
    const isNew = state.kind !== this.#state.kind || reasonOf(state) !== reasonOf(this.#state);
    this.#state = state;
    if (isNew) {
      this.#options.events.onSenderState?.(state);
    }
  }
}

function reasonOf(state: SenderState): string | null {
  return 'reason' in state ? state.reason : null;
}
