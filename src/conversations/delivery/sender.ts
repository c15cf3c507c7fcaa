import type { Clock, Random } from '../../core/clock.ts';
import { endsWithin } from '../../core/clock.ts';
import { StoreError } from '../../core/errors.ts';
import type { Outbox, OutgoingBatch } from '../../store/outbox.ts';
import { backoffDelay } from '../model/backoff.ts';
import type { Conversation } from '../model/conversation.ts';
import type { ConversationEvents, SenderState } from '../model/events.ts';
import type { WakeUpSignal } from '../model/wake-up-signal.ts';
import { BatchSupportProbe } from './batch-support-probe.ts';
import type { Destination } from './destination.ts';
import { classifyError, type SendOutcome } from './outcome.ts';
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

const FIRST_PAUSE = 1000;
const MAX_PAUSE = 5 * 60_000;
/** Longest sleep in milliseconds: the wall clock, by which content is due, may be set in the meantime. */
const CHECK_INTERVAL = 60_000;
/** Maximum number of batches in doubt while the platform does not respond; one more is tried from time to time. */
const MAX_IN_DOUBT = 4;
const ANY = Number.MAX_SAFE_INTEGER;

/** Sends due conversations, one batch at a time. `decide` maps each response to its consequences. */
export class ConversationSender {
  readonly #options: SenderOptions;
  #state: SenderState = { kind: 'stopped' };
  /** Pending write of the last outcome, which is repeated until it succeeds. */
  #unrecorded: (() => Promise<void>) | null = null;
  #isRecovered = false;
  /** Consecutive failures. */
  #failures = 0;
  #answers = 0;
  readonly #batchSupport = new BatchSupportProbe();
  /** `#answers` when the response of a batch was last lost, by batch id. */
  readonly #lostAt = new Map<number, number>();
  /** Time on the monotonic clock. */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  readonly #stopping = new AbortController();
  readonly #aborting = new AbortController();
  /** True if the request in flight has left the queue. */
  #isOnTheWay = false;
  /** Offset of the wall clock from the monotonic clock. */
  #wall: number;
  #running: Promise<void> | undefined;
  #once: Promise<SenderState> | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#wall = options.clock.now() - options.clock.monotonic();
  }

  get state(): SenderState {
    return this.#state;
  }

  /** Sends until `stop`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the pause, after its cause was fixed. */
  resume(): void {
    this.#pausedUntil = Number.NEGATIVE_INFINITY;
    this.#options.work.notify();
  }

  /** Starts no more requests. The one in flight gets `milliseconds` to end, and is recorded in any case. */
  async stop(milliseconds: number): Promise<void> {
    this.#stopping.abort();
    if (!this.#isOnTheWay || !(await endsWithin(this.#options.clock, milliseconds, [this.#running, this.#once]))) {
      this.#aborting.abort();
    }
    await Promise.all([this.#running, this.#once]);
    this.#enter({ kind: 'stopped' });
  }

  /** Sends everything that is due. Returns the state: `idle`, or why the rest cannot be sent. */
  sendDue(): Promise<SenderState> {
    const sending = this.#sendDue();
    this.#once = sending;
    return sending;
  }

  async #sendDue(): Promise<SenderState> {
    while (!this.#stopping.signal.aborted && (await this.step()) === 0) {
      // Until nothing is due.
    }
    return this.#state;
  }

  async #run(): Promise<void> {
    const { work, clock } = this.#options;
    while (!this.#stopping.signal.aborted) {
      const seen = work.count;
      const pause = await this.step();
      if (pause > 0) {
        await work.wait(seen, Math.min(pause, CHECK_INTERVAL), clock, this.#stopping.signal);
      }
    }
  }

  /** Sends at most one batch. Returns the milliseconds until the next step; 0: at once. Never rejects. */
  async step(): Promise<number> {
    const paused = this.#pausedUntil - this.#options.clock.monotonic();
    if (paused > 0) {
      return paused;
    }
    try {
      return await this.#step();
    } catch (error) {
      // The state file may recover on its own, for example when the disk has space again. The message of any other
      // error may quote a conversation.
      const reason = error instanceof StoreError ? error.message : 'unexpected error while sending conversations';
      this.#enter({ kind: 'failing', reason });
      return this.#pause('backoff');
    }
  }

  async #step(): Promise<number> {
    const { outbox, batch: limits, clock } = this.#options;
    await this.#record();
    await this.#prepare();
    const open = this.#failures % MAX_IN_DOUBT === 0 ? ANY : MAX_IN_DOUBT;
    const items = this.#batchSupport.isUnsupported ? 1 : limits.maxConversations;
    const batch = await outbox.next({ items, bytes: limits.maxBytes, open }, clock.now());
    if (batch === null) {
      if (this.#failures === 0) {
        this.#enter({ kind: 'idle' });
      }
      const at = await outbox.dueAt(open);
      return at === null ? CHECK_INTERVAL : Math.max(1, at - clock.now());
    }
    const pause = this.#settle(batch, await this.#send(batch));
    // Record the outcome before anything else starts, with any number of attempts.
    await this.#record();
    return pause;
  }

  async #prepare(): Promise<void> {
    const { outbox, clock } = this.#options;
    if (!this.#isRecovered) {
      await outbox.recover();
      this.#isRecovered = true;
    }
    const wall = clock.now() - clock.monotonic();
    if (wall < this.#wall - CHECK_INTERVAL) {
      await outbox.setBack(this.#wall - wall, clock.now());
    }
    this.#wall = wall;
  }

  async #record(): Promise<void> {
    if (this.#unrecorded !== null) {
      await this.#unrecorded();
      this.#unrecorded = null;
      this.#options.room.notify();
    }
  }

  async #send({ items }: OutgoingBatch): Promise<SendOutcome> {
    const bodies = items.map(({ payload }) => JSON.parse(payload) as Conversation);
    this.#isOnTheWay = false;
    const onAttempt = () => {
      this.#isOnTheWay = true;
    };
    try {
      await this.#options.destination.send(bodies, { signal: this.#aborting.signal, onAttempt });
      return { kind: 'taken' };
    } catch (error) {
      return classifyError(error);
    } finally {
      this.#isOnTheWay = false;
    }
  }

  /** Applies the transition that follows from an outcome. Returns the milliseconds until the next batch. */
  #settle(batch: OutgoingBatch, outcome: SendOutcome): number {
    const othersAnswered = this.#answers > (this.#lostAt.get(batch.id) ?? this.#answers);
    const { change, state, pause } = decide(
      { items: batch.items.length, doubts: batch.doubts, othersAnswered },
      outcome,
    );
    this.#count(batch, outcome, change);
    this.#unrecorded = this.#writeOf(batch.id, change);
    if (state !== null) {
      this.#enter(state);
    }
    this.#report(batch, outcome, change);
    return this.#pause(pause);
  }

  #count(batch: OutgoingBatch, outcome: SendOutcome, change: BatchChange): void {
    if (outcome.kind === 'taken' || outcome.kind === 'bad-content') {
      this.#batchSupport.learn(batch.items.length, outcome.kind === 'taken');
      this.#failures = 0;
      this.#answers += 1;
      this.#lostAt.delete(batch.id);
    } else if (outcome.kind === 'lost' && change.kind === 'doubt') {
      this.#lostAt.set(batch.id, this.#answers);
    } else if (outcome.kind === 'lost') {
      this.#lostAt.delete(batch.id);
    }
  }

  /** Returns the write that makes a change durable. It may be repeated. */
  #writeOf(id: number, change: BatchChange): () => Promise<void> {
    const { outbox, clock, random } = this.#options;
    const now = clock.now();
    switch (change.kind) {
      case 'sent':
        return () => outbox.sent(id, now);
      case 'split':
        return () => outbox.split(id);
      case 'bury':
        return () => outbox.bury(id, change.reason, now);
      case 'release':
        return () => outbox.release(id);
      case 'rest':
        return () => outbox.rest(id, now);
      case 'doubt': {
        // Twice the pause of the sender, so that other batches go first and show whether this one is the cause.
        const rest = change.rest === 0 ? 0 : 2 * backoffDelay(change.rest, FIRST_PAUSE, MAX_PAUSE, random);
        return () => outbox.doubt(id, now + rest);
      }
    }
  }

  #report(batch: OutgoingBatch, outcome: SendOutcome, change: BatchChange): void {
    const { events } = this.#options;
    const items = batch.items.length;
    if (outcome.kind === 'taken') {
      events.onSent?.({ items, bytes: sizeOf(batch) });
    }
    if (outcome.kind === 'lost') {
      events.onDoubt?.({ items, times: batch.doubts + 1, reason: outcome.reason });
    }
    const [only] = batch.items;
    if (change.kind === 'bury' && only !== undefined) {
      events.onRefused?.({ source: only.source, key: only.key, reason: change.reason });
    }
  }

  #pause(pause: Transition['pause']): number {
    if (pause === 0) {
      return 0;
    }
    this.#failures += pause === 'backoff' ? 1 : 0;
    const milliseconds =
      pause === 'backoff' ? backoffDelay(this.#failures, FIRST_PAUSE, MAX_PAUSE, this.#options.random) : pause;
    this.#pausedUntil = this.#options.clock.monotonic() + milliseconds;
    return milliseconds;
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

function sizeOf({ items }: OutgoingBatch): number {
  return items.reduce((bytes, { payload }) => bytes + Buffer.byteLength(payload), 0);
}
