/** Sends due conversations from the outbox, several batches at a time. */
import { backoffDelay, type Clock, endsWithin, type Random, type WakeUpSignal } from '../core/clock.ts';
import {
  AuthError,
  CancelledError,
  LeaseLostError,
  NotThePlatformError,
  RateLimitedError,
  RejectedError,
  StoreError,
  TransientError,
} from '../core/errors.ts';
import type { Outbox } from '../store/outbox/outbox.ts';
import type { OutgoingBatch } from '../store/outbox/tables.ts';
import type { Destination } from './destination.ts';
import type { ConversationEvents, SenderState } from './model/source.ts';
import type { Conversation } from './model/ticket.ts';

interface SenderOptions {
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
  /** Batches whose outcome is not recorded yet, by id. */
  readonly #inFlight = new Map<number, SendingBatch>();
  #state: SenderState = { kind: 'stopped' };
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
    await this.#endRequests(milliseconds);
    await Promise.all([this.#running, this.#once]);
    // A batch that the loop had just read from the outbox.
    await this.#endRequests(0);
    // What cannot be recorded now is in doubt for the next process.
    await this.#record().catch(() => {});
    this.#enter({ kind: 'stopped' });
  }

  /** Cancels the requests that have not left the queue. The others get `milliseconds` to end. */
  async #endRequests(milliseconds: number): Promise<void> {
    const batches = [...this.#inFlight.values()];
    const ends = batches.map(({ ended }) => ended);
    for (const { aborting, isOnTheWay } of batches) {
      if (!isOnTheWay) {
        aborting.abort();
      }
    }
    if (!(await endsWithin(this.#options.clock, milliseconds, ends))) {
      for (const { aborting } of batches) {
        aborting.abort();
      }
      await Promise.all(ends);
    }
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
      const inFlight = [...this.#inFlight.keys()];
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
      this.#start(batch);
    }
    return CHECK_INTERVAL;
  }

  /** Memory holds a batch several times: no more are started once those in flight are as long as the largest one. */
  #mayStart(most: number): boolean {
    const items = [...this.#inFlight.values()].flatMap(({ batch }) => batch.items);
    const length = items.reduce((sum, { payload }) => sum + payload.length, 0);
    return this.#inFlight.size < most && length < this.#options.batch.maxBytes && !this.#stopping.signal.aborted;
  }

  #start(batch: OutgoingBatch): void {
    const aborting = new AbortController();
    if (this.#stopping.signal.aborted) {
      aborting.abort();
    }
    const sending: SendingBatch = {
      batch,
      pauses: this.#pauses,
      isOnTheWay: false,
      aborting,
      ended: Promise.resolve(),
    };
    this.#inFlight.set(batch.id, sending);
    sending.ended = this.#send(sending);
  }

  async #send(sending: SendingBatch): Promise<void> {
    const { destination, work } = this.#options;
    const bodies = sending.batch.items.map(({ payload }) => JSON.parse(payload) as Conversation);
    const onAttempt = () => {
      sending.isOnTheWay = true;
    };
    try {
      await destination.send(bodies, { signal: sending.aborting.signal, onAttempt });
      sending.outcome = { kind: 'taken' };
    } catch (error) {
      sending.outcome = classifyError(error);
    }
    work.notify();
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
    for (const sending of [...this.#inFlight.values()]) {
      const { batch, outcome, pauses } = sending;
      if (outcome === undefined) {
        continue;
      }
      sending.write ??= this.#settle(batch, outcome, pauses);
      try {
        await sending.write();
        this.#inFlight.delete(batch.id);
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
  #settle(batch: OutgoingBatch, outcome: SendOutcome, pauses: number): () => Promise<void> {
    const othersAnswered = this.#answers > (this.#lostAt.get(batch.id) ?? this.#answers);
    const { change, state, pause } = decide(
      { items: batch.items.length, doubts: batch.doubts, othersAnswered },
      outcome,
    );
    const isCurrent = pauses === this.#pauses;
    this.#count(batch, outcome, change, isCurrent);
    if (isCurrent) {
      this.#enter(state ?? this.#state);
      this.#pause(pause);
    }
    this.#report(batch, outcome, change);
    return this.#recordOf(batch.id, change);
  }

  #count(batch: OutgoingBatch, outcome: SendOutcome, change: BatchChange, isCurrent: boolean): void {
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
    const milliseconds = pause === 'backoff' ? this.#backoff(this.#failures) : pause;
    this.#pausedUntil = this.#options.clock.monotonic() + milliseconds;
  }

  /** Returns the milliseconds to wait after consecutive failures. */
  #backoff(failures: number): number {
    return backoffDelay(failures, FIRST_PAUSE, MAX_PAUSE, this.#options.random);
  }

  /** Returns the write that makes a change of a batch durable. It may be repeated. */
  #recordOf(id: number, change: BatchChange): () => Promise<void> {
    const { outbox, clock } = this.#options;
    const now = clock.now();
    switch (change.kind) {
      case 'sent':
      case 'rest':
        return () => outbox[change.kind](id, now);
      case 'split':
      case 'release':
        return () => outbox[change.kind](id);
      case 'bury':
        return () => outbox.bury(id, change.reason, now);
      case 'doubt': {
        // Twice the pause of the sender, so that other batches go first and show whether this one is the cause.
        const rest = change.rest === 0 ? 0 : 2 * this.#backoff(change.rest);
        return () => outbox.doubt(id, now + rest);
      }
    }
  }

  #report({ items, doubts }: OutgoingBatch, outcome: SendOutcome, change: BatchChange): void {
    const { events } = this.#options;
    const [only] = items;
    if (outcome.kind === 'taken') {
      const bytes = items.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
      events.onSent?.({ items: items.length, bytes });
    }
    if (outcome.kind === 'lost') {
      events.onDoubt?.({ items: items.length, times: doubts + 1, reason: outcome.reason });
    }
    if (change.kind === 'bury' && only !== undefined) {
      events.onRefused?.({ source: only.source, key: only.key, reason: change.reason });
    }
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

/** Batch whose outcome is not recorded yet. */
interface SendingBatch {
  readonly batch: OutgoingBatch;
  /** Number of pauses of the sender before this batch was started. */
  readonly pauses: number;
  /** True if the request has left the queue. */
  isOnTheWay: boolean;
  readonly aborting: AbortController;
  ended: Promise<void>;
  /** Absent: the request has not ended. */
  outcome?: SendOutcome;
  /** Makes the outcome durable; repeated until it succeeds. */
  write?: () => Promise<void>;
}

/** Milliseconds before a platform that refuses the credentials is tried again; the fix is manual. */
const REFUSED_PAUSE = 10 * 60_000;
const UNSUPPORTED_PAUSE = 60 * 60_000;
const CANCELLED_PAUSE = 1000;
/** Number of lost responses after which the batch itself is suspected, if other batches were answered in between. */
const POISONED = 6;

/** State of a batch that was sent. */
interface SentBatch {
  /** Conversations in the batch. */
  readonly items: number;
  /** Earlier responses that were lost; with 0, the platform has certainly not accepted the batch before. */
  readonly doubts: number;
  /** Other batches were answered since the last response of this batch was lost. */
  readonly othersAnswered: boolean;
}

/** Change of a batch in the outbox. */
type BatchChange =
  | { readonly kind: 'sent' | 'rest' }
  | { readonly kind: 'split' | 'release' }
  | { readonly kind: 'bury'; readonly reason: string }
  /** `rest`: number of lost responses, which determines the backoff of the batch; 0: it may be sent again at once. */
  | { readonly kind: 'doubt'; readonly rest: number };

/** Consequences of one outcome for a batch and the sender. */
interface Transition {
  readonly change: BatchChange;
  /** Null: the state does not change. */
  readonly state: SenderState | null;
  /** Milliseconds until the next batch; `backoff`: grows with each consecutive failure. */
  readonly pause: number | 'backoff';
}

/**
 * Returns the change of a batch and of the sender after an outcome. Pure.
 *
 *   outcome                          batch                            sender
 *   taken (2xx)                      sent                             sending
 *   bad-content (400, 413, 422)      split; alone: dead letter        sending
 *   lost (no response, or a fault)   in doubt, rests for a backoff    failing, backoff
 *   lost again and again, while      split; alone: dead letter        failing, backoff
 *     others are answered
 *   not-sent (no connection, 429)    waits again, or rests in doubt   failing, backoff
 *   refused (401, 403, another 4xx)  waits again, or rests in doubt   refused, 10 minutes
 *   unsupported (404, 405, 410)      waits again, or rests in doubt   unsupported, 1 hour
 *   cancelled                        waits again, or rests in doubt   unchanged, 1 second
 *
 * The sender ignores its column for a batch that was started before its last pause.
 */
export function decide(batch: SentBatch, outcome: SendOutcome): Transition {
  switch (outcome.kind) {
    case 'taken':
      return { change: { kind: 'sent' }, state: { kind: 'sending' }, pause: 0 };
    case 'bad-content':
      return { change: divide(batch, outcome.reason), state: { kind: 'sending' }, pause: 0 };
    case 'lost':
    case 'not-sent': {
      const { kind, reason } = outcome;
      const change = kind === 'lost' ? lose(batch, reason) : returnBatch(batch);
      return { change, state: { kind: 'failing', reason }, pause: 'backoff' };
    }
    case 'refused':
    case 'unsupported': {
      const { kind, reason, maybeTaken } = outcome;
      return {
        change: maybeTaken ? { kind: 'doubt', rest: 0 } : returnBatch(batch),
        state: { kind, reason },
        pause: kind === 'refused' ? REFUSED_PAUSE : UNSUPPORTED_PAUSE,
      };
    }
    case 'cancelled':
      return { change: returnBatch(batch), state: null, pause: CANCELLED_PAUSE };
  }
}

/**
 * Returns the change of a batch that was not accepted this time. If an earlier attempt is in doubt, it may have been
 * accepted.
 */
function returnBatch({ doubts }: SentBatch): BatchChange {
  return { kind: doubts > 0 ? 'rest' : 'release' };
}

/** Halves a batch until the conversation that is refused is alone. */
function divide({ items }: SentBatch, reason: string): BatchChange {
  return items === 1 ? { kind: 'bury', reason } : { kind: 'split' };
}

function lose(batch: SentBatch, reason: string): BatchChange {
  const attempts = batch.doubts + 1;
  return attempts >= POISONED && batch.othersAnswered
    ? divide(batch, `no response after ${attempts} attempts, while other batches succeeded: ${reason}`)
    : { kind: 'doubt', rest: attempts };
}

/** Outcome of one request with conversations. */
export type SendOutcome =
  | { readonly kind: 'taken' | 'cancelled' }
  /** `bad-content`: the content of at least one conversation is refused. `lost`: no response; the platform may have accepted the batch. */
  | { readonly kind: 'bad-content' | 'lost' | 'not-sent'; readonly reason: string }
  /** Requires manual action. */
  | { readonly kind: 'refused' | 'unsupported'; readonly reason: string; readonly maybeTaken: boolean };

const CONTENT: readonly number[] = [400, 413, 422];
const NOT_THERE: readonly number[] = [404, 405, 410];

/** Classifies an error of the platform client by what it means for a batch. */
export function classifyError(error: unknown): SendOutcome {
  if (error instanceof RejectedError) {
    return rejected(error);
  }
  // A proxy or gateway responded; it may have forwarded the request.
  const maybeTaken = error instanceof NotThePlatformError;
  if (maybeTaken || error instanceof AuthError) {
    return { kind: 'refused', reason: error.message, maybeTaken };
  }
  if (error instanceof CancelledError) {
    return { kind: 'cancelled' };
  }
  if (error instanceof TransientError && error.maybeDone) {
    return { kind: 'lost', reason: error.message };
  }
  return error instanceof RateLimitedError || error instanceof LeaseLostError || error instanceof TransientError
    ? { kind: 'not-sent', reason: error.message }
    : { kind: 'lost', reason: `an unexpected ${error instanceof Error ? error.name : 'error'}` };
}

function rejected({ status, message }: RejectedError): SendOutcome {
  if (CONTENT.includes(status)) {
    return { kind: 'bad-content', reason: message };
  }
  return NOT_THERE.includes(status)
    ? { kind: 'unsupported', reason: `this platform has no conversations: ${message}`, maybeTaken: false }
    : { kind: 'refused', reason: message, maybeTaken: false };
}

const FIRST_PAUSE = 1000;
const MAX_PAUSE = 5 * 60_000;

/** Number of refused batches, with none accepted, after which batches count as unsupported. */
const MIN_REFUSALS = 6;

/**
 * Detects whether the platform accepts more than one conversation in a request. Without this, every batch would be
 * split down to single conversations. Source: docs/platform-notes.md#conversations
 */
class BatchSupportProbe {
  isUnsupported = false;
  /** True until an answer shows what may be in a request: a list was accepted, or only single conversations are. */
  isUndecided = true;
  #taken = 0;
  #refused = 0;
  #singles = 0;

  learn(items: number, isTaken: boolean): void {
    if (items === 1) {
      this.#singles += isTaken ? 1 : 0;
    } else if (isTaken) {
      this.#taken += 1;
    } else {
      this.#refused += 1;
    }
    this.isUnsupported = this.#taken === 0 && this.#refused >= MIN_REFUSALS && this.#singles > 1;
    this.isUndecided = this.#taken === 0 && !this.isUnsupported && (this.#refused > 0 || this.#singles === 0);
  }
}
