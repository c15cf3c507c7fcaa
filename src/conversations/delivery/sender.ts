import type { Clock, Random } from '../../core/clock.ts';
import { endsWithin } from '../../core/clock.ts';
import { StoreError } from '../../core/errors.ts';
import type { Outbox, OutgoingBatch } from '../../store/outbox.ts';
import { growingPause } from '../model/backoff.ts';
import type { Conversation } from '../model/conversation.ts';
import type { ConversationEvents, SenderState } from '../model/events.ts';
import type { Bell } from '../model/wake-up-signal.ts';
import { ListTrial } from './batch-support-probe.ts';
import type { Destination } from './destination.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

export interface SenderOptions {
  readonly outbox: Outbox;
  readonly destination: Destination;
  /** Conversations and bytes in one request at most. */
  readonly batch: { readonly maxConversations: number; readonly maxBytes: number };
  readonly clock: Clock;
  readonly random: Random;
  /** Rung when there is something to send. */
  readonly work: Bell;
  /** Rung when the outbox has room again. */
  readonly room: Bell;
  readonly events: ConversationEvents;
}

const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 5 * 60_000;
/** Between trials of a platform that does not let us, which only a person can change. */
const REFUSED_PAUSE = 10 * 60_000;
const UNSUPPORTED_PAUSE = 60 * 60_000;
/** The longest sleep: the wall clock, by which content is due, may be set meanwhile. */
const LOOK_AGAIN = 60_000;
/** While nothing is answered, no more batches than this get in doubt, but for one now and then. */
const OPEN = 4;
const ANY = Number.MAX_SAFE_INTEGER;
/** Lost answers of a batch, with others answered in between, from which it is taken for the cause itself. */
const POISONED = 6;

/**
 * Sends what is due, one batch at a time. What it does with each answer:
 *
 *   taken (2xx)                        recorded as sent
 *   refused for its content            halved, until the bad one stands alone: a dead letter
 *   no answer, or a fault              in doubt: the same body again, after a growing rest; others may go meanwhile
 *   not sent (no connection, no room)  all of it waits again, or rests on where an earlier answer was lost
 *   not permitted (401, 403)           stops: `refused`
 *   not there (404, 410)               stops: `unsupported`
 *
 * A batch whose answer is lost again and again while others are answered is halved as well.
 */
export class ConversationSender {
  readonly #options: SenderOptions;
  #state: SenderState = { kind: 'stopped' };
  /** What has come of a batch and is not recorded yet. */
  #unrecorded: (() => Promise<void>) | null = null;
  #isRecovered = false;
  #failures = 0;
  #answers = 0;
  readonly #lists = new ListTrial();
  /** By batch, the number of answers when its own was last lost. */
  readonly #lostAt = new Map<number, number>();
  /** On the monotonic scale. */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  readonly #stopping = new AbortController();
  readonly #cut = new AbortController();
  #hasLeft = false;
  /** The wall clock, as seen from the one that never goes back. */
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

  /** Sends from now on, until `stop`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** What stopped it was put right: tries again at once. */
  resume(): void {
    this.#pausedUntil = Number.NEGATIVE_INFINITY;
    this.#options.work.ring();
  }

  /** Begins nothing more; what is in flight may end within so many milliseconds, and is recorded either way. */
  async stop(milliseconds: number): Promise<void> {
    this.#stopping.abort();
    if (!this.#hasLeft || !(await endsWithin(this.#options.clock, milliseconds, [this.#running, this.#once]))) {
      this.#cut.abort();
    }
    await Promise.all([this.#running, this.#once]);
    this.#enter({ kind: 'stopped' });
  }

  /** Sends all that is due now, and answers why it went no further: `idle`, or what stopped it. */
  sendDue(): Promise<SenderState> {
    const sending = this.#sendDue();
    this.#once = sending;
    return sending;
  }

  async #sendDue(): Promise<SenderState> {
    while (!this.#stopping.signal.aborted && (await this.step()) === 0) {
      // Until there is nothing to do at once.
    }
    return this.#state;
  }

  /** Does one thing. Answers after how many milliseconds there is more to do; 0: at once. Rejects never. */
  async step(): Promise<number> {
    const { clock } = this.#options;
    const paused = this.#pausedUntil - clock.monotonic();
    if (paused > 0) {
      return paused;
    }
    try {
      return await this.#step();
    } catch (error) {
      // The state file: it may come back by itself, when there is room on the disk.
      // Another error's message may quote what it was about.
      const reason = error instanceof StoreError ? error.message : 'unexpected error while sending conversations';
      this.#enter({ kind: 'failing', reason });
      return this.#pause(this.#nextPause());
    }
  }

  async #run(): Promise<void> {
    const { work, clock } = this.#options;
    while (!this.#stopping.signal.aborted) {
      const seen = work.rings;
      const pause = await this.step();
      if (pause > 0) {
        await work.wait(seen, Math.min(pause, LOOK_AGAIN), clock, this.#stopping.signal);
      }
    }
  }

  async #step(): Promise<number> {
    const { outbox, batch: limits, clock } = this.#options;
    await this.#record();
    await this.#prepare();
    const isTrusted = this.#failures % OPEN === 0;
    const open = isTrusted ? ANY : OPEN;
    const items = this.#lists.areRefused ? 1 : limits.maxConversations;
    const batch = await outbox.next({ items, bytes: limits.maxBytes, open }, clock.now());
    if (batch === null) {
      if (this.#failures === 0) {
        this.#enter({ kind: 'idle' });
      }
      const at = await outbox.dueAt(open);
      return at === null ? LOOK_AGAIN : Math.max(1, at - clock.now());
    }
    const outcome = await this.#send(batch);
    const pause = this.#settle(batch, outcome);
    // In this order: what came of it is recorded before anything else is begun, however often that takes.
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
    if (wall < this.#wall - LOOK_AGAIN) {
      await outbox.setBack(this.#wall - wall, clock.now());
    }
    this.#wall = wall;
  }

  async #record(): Promise<void> {
    if (this.#unrecorded !== null) {
      await this.#unrecorded();
      this.#unrecorded = null;
      this.#options.room.ring();
    }
  }

  async #send({ items }: OutgoingBatch): Promise<Outcome> {
    const bodies = items.map(({ payload }) => JSON.parse(payload) as Conversation);
    this.#hasLeft = false;
    const onAttempt = () => {
      this.#hasLeft = true;
    };
    try {
      await this.#options.destination.send(bodies, { signal: this.#cut.signal, onAttempt });
      return { kind: 'taken' };
    } catch (error) {
      return outcomeOf(error);
    } finally {
      this.#hasLeft = false;
    }
  }

  /** Says what to record, and answers how long to pause. */
  #settle(batch: OutgoingBatch, outcome: Outcome): number {
    const { outbox, clock, events } = this.#options;
    const now = clock.now();
    switch (outcome.kind) {
      case 'taken':
        this.#unrecorded = () => outbox.sent(batch.id, now);
        this.#answered(batch, true);
        events.onSent?.({ items: batch.items.length, bytes: sizeOf(batch) });
        return 0;
      case 'bad-content':
        this.#answered(batch, false);
        this.#divide(batch, outcome.reason);
        return 0;
      case 'lost':
        return this.#lose(batch, outcome.reason);
      case 'not-sent':
        this.#putBack(batch, now);
        return this.#fail(outcome.reason);
      case 'refused':
      case 'unsupported': {
        const pause = outcome.kind === 'refused' ? REFUSED_PAUSE : UNSUPPORTED_PAUSE;
        if (outcome.maybeTaken) {
          this.#unrecorded = () => outbox.doubt(batch.id, now);
        } else {
          this.#putBack(batch, now);
        }
        this.#enter({ kind: outcome.kind, reason: outcome.reason });
        return this.#pause(pause);
      }
      case 'cancelled':
        this.#putBack(batch, now);
        return this.#pause(FIRST_PAUSE);
    }
  }

  #answered(batch: OutgoingBatch, isTaken: boolean): void {
    this.#lists.learn(batch.items.length, isTaken);
    this.#failures = 0;
    this.#answers += 1;
    this.#lostAt.delete(batch.id);
    this.#enter({ kind: 'sending' });
  }

  /** Certainly not taken this time; an earlier time is still in doubt. */
  #putBack(batch: OutgoingBatch, until: number): void {
    const { outbox } = this.#options;
    this.#unrecorded = () => (batch.doubts > 0 ? outbox.rest(batch.id, until) : outbox.release(batch.id));
  }

  #divide(batch: OutgoingBatch, reason: string): void {
    const { outbox, clock, events } = this.#options;
    const [only] = batch.items;
    if (batch.items.length > 1 || only === undefined) {
      this.#unrecorded = () => outbox.split(batch.id);
      return;
    }
    const at = clock.now();
    this.#unrecorded = () => outbox.bury(batch.id, reason, at);
    events.onRefused?.({ source: only.source, key: only.key, reason });
  }

  #lose(batch: OutgoingBatch, reason: string): number {
    const { outbox, clock, events, random } = this.#options;
    const times = batch.doubts + 1;
    const others = this.#answers - (this.#lostAt.get(batch.id) ?? this.#answers);
    this.#lostAt.set(batch.id, this.#answers);
    events.onDoubt?.({ items: batch.items.length, times, reason });
    if (times >= POISONED && others > 0) {
      this.#lostAt.delete(batch.id);
      this.#divide(batch, `no response after ${times} attempts, while other batches succeeded: ${reason}`);
      return this.#fail(reason);
    }
    // It rests for longer than the pause: what is to blame shows when others go first.
    const rest = 2 * growingPause(times, FIRST_PAUSE, LONGEST_PAUSE, random);
    const until = clock.now() + rest;
    this.#unrecorded = () => outbox.doubt(batch.id, until);
    return this.#fail(reason);
  }

  #fail(reason: string): number {
    this.#enter({ kind: 'failing', reason });
    return this.#pause(this.#nextPause());
  }

  #nextPause(): number {
    this.#failures += 1;
    return growingPause(this.#failures, FIRST_PAUSE, LONGEST_PAUSE, this.#options.random);
  }

  #pause(milliseconds: number): number {
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
