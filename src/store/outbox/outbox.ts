/** Outbox of an organization: the interface. */

import type { Clock } from '../../core/clock.ts';
import type { Json } from '../../core/json.ts';

/*
 * States of a conversation's content:
 *
 *   put ──> waiting ──next──> sending ──sent───> only its key, its hash and when
 *              ^  │              │  ├──bury───> dead ──retry──> waiting
 *              │  └─withdraw     │  │             └──drop─> only its hash
 *              └────release──────┘  └──doubt──> sending, in doubt: the same batch again
 *
 * A key has at most one content in each state. Content that is put while older content of the same key is being sent
 * waits until the older one is settled. The older one is then neither released nor buried.
 */

/** Limit on the content that is stored: waiting, being sent, or dead. One batch may exceed it. */
export interface OutboxLimit {
  readonly items: number;
  readonly bytes: number;
}

/** Redacted content of one conversation, in the form in which it is sent. */
export interface NewContent {
  readonly kind: 'content';
  /** Id of the conversation: connector, account and ticket. */
  readonly key: string;
  /** Hash of the payload; equal hashes mean equal content. */
  readonly hash: string;
  /** Version of the redactor that produced the content. */
  readonly redactor: string;
  /** JSON text. */
  readonly payload: string;
  /** Earliest time to send it, in milliseconds since the epoch; null: immediately. */
  readonly notBefore: number | null;
  /** Id at its source, if the content must be checked again when its delay ends; absent: no check is needed. */
  readonly recheck?: string;
  /** Mails to add to a thread; the thread's conversation replaces `key`, `hash`, `payload` and `notBefore`. */
  readonly thread?: ThreadAddition;
}

/** One redacted mail of a thread. */
export interface ThreadMail {
  /** Hash of its message id. */
  readonly id: string;
  /** Milliseconds since the epoch; null if it has no date. */
  readonly at: number | null;
  readonly role: string;
  /** Empty if the mail has none, or is not the first of its file. */
  readonly subject: string;
  readonly body: string;
}

/** Some mails of a thread; other mails of it may have arrived before or arrive later. */
export interface ThreadAddition {
  readonly mails: readonly ThreadMail[];
  /** Hashes of the message ids of these mails, and of all message ids that they reference. */
  readonly links: readonly string[];
  /** Redacts a mail again that was stored earlier, now that the people of these mails are known too. */
  redactAgain(text: string): string;
  /** Creates the conversation of all mails, sorted by date; null if no customer wrote any of them. */
  compose(key: string, mails: readonly ThreadMail[]): Pick<NewContent, 'payload' | 'hash' | 'notBefore'> | null;
}

/** Withdraws the waiting content of a conversation, because the ticket changed or was deleted. */
export interface Withdrawal {
  readonly kind: 'ineligible' | 'gone';
  readonly key: string;
  /** Why an ineligible ticket is left out; absent: not recorded. */
  readonly reason?: string;
}

/** Hint that a ticket changed. `mark` distinguishes it from a later hint about the same ticket. */
export interface Hint {
  readonly id: string;
  readonly mark: number;
}

/** Content that must be checked at its source before it is sent. `id` identifies it at the source. */
export interface Recheck {
  readonly key: string;
  readonly id: string;
}

/** Change to the set of processed items of a source. */
export interface ProcessedChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** Items that are stored in one transaction. */
export interface Deposit {
  readonly source: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** In the order in which they were found; the last one of a key wins. */
  readonly entries: readonly (NewContent | Withdrawal)[];
  /** Counter increments of this deposit, by name. */
  readonly counts: Readonly<Record<string, number>>;
  /** Cursor of the poll after this deposit, and the round in which the poll began; absent: unchanged. */
  readonly cursor?: { readonly value: Json; readonly round: number; readonly processed?: ProcessedChange };
  /** Hints that this deposit resolves. */
  readonly handled?: readonly Hint[];
  /** Sender's id of a webhook request; a known one is not accepted again. */
  readonly delivery?: string | null;
  /** Time of the request to the source, in milliseconds since the epoch; later changes may be missing. Absent: `at`. */
  readonly lookedAt?: number;
  /** Keys of content that was checked again: the old content is removed, which makes room for its replacement. */
  readonly rechecked?: readonly string[];
}

/**
 * Result of a deposit. Every result except `kept` changes nothing.
 *
 * - `full`: the outbox is full.
 * - `known`: the delivery was accepted before.
 * - `stale`: the source was reset since the round began.
 *
 * `confirmed` counts waiting content that is unchanged and needs no other check.
 */
export type Kept =
  | {
      readonly kind: 'kept';
      readonly waiting: number;
      readonly unchanged: number;
      readonly withdrawn: number;
      readonly confirmed: number;
    }
  | { readonly kind: 'full' | 'known' | 'stale' };

/** Start of the next poll of a source. */
export interface SourcePosition {
  readonly cursor: Json;
  /** Time to which the source was reset, in milliseconds since the epoch; null: as configured. */
  readonly since: number | null;
  /** Changes when the source is reset. */
  readonly round: number;
}

/** Content that is being sent. A batch always has the same items in the same order. */
export interface OutgoingBatch {
  readonly id: number;
  /** Number of lost responses; 0: the platform has certainly not accepted the batch. */
  readonly doubts: number;
  readonly items: readonly { readonly key: string; readonly source: string; readonly payload: string }[];
}

export interface BatchLimits {
  readonly items: number;
  /** Limit on the payloads of a batch together; a larger item is sent alone. */
  readonly bytes: number;
  /** Number of stored batches, in flight or in doubt, at which no new batch is started. */
  readonly open: number;
  /** Batches in flight, which are not returned again; absent: there are none. */
  readonly inFlight?: readonly number[];
}

/** Content that the platform refused. */
export interface DeadLetter {
  readonly key: string;
  readonly source: string;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly bytes: number;
}

/** Selection of dead letters; all of them if both members are absent. */
export interface DeadFilter {
  readonly source?: string | undefined;
  readonly key?: string | undefined;
}

export interface OutboxStatus {
  readonly stored: OutboxLimit;
  readonly limit: OutboxLimit;
  readonly isFull: boolean;
  /** Sorted by name. */
  readonly sources: readonly SourceStatus[];
}

export interface SourceStatus {
  readonly source: string;
  readonly cursor: Json;
  /** End of the last complete poll; null: never. */
  readonly polledAt: number | null;
  /** When it last had a ticket that was queued or left out; null: never, or before this was recorded. */
  readonly arrivedAt: number | null;
  readonly waiting: number;
  /** Time since which the oldest content waits; null: none waits. */
  readonly waitingSince: number | null;
  /** Batches that are being sent, including those in doubt. */
  readonly sending: number;
  readonly inDoubt: number;
  readonly deadLetters: number;
  readonly hints: number;
  /** Counters by name. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Number of UTC days for which numbers by day, and the tickets that were left out, are kept. */
export const DAYS_KEPT = 30;

/** Numbers of the last 30 UTC days, and examples. */
export interface RecentCounts {
  /** Numbers of each day by counter: `queued`, `sent`, `refused`, `skipped.REASON`. Oldest first; the last one is today's. */
  readonly days: ReadonlyMap<string, readonly number[]>;
  /** Keys of a few tickets that were left out when they were last read, by reason; newest first. */
  readonly leftOut: ReadonlyMap<string, readonly string[]>;
}

/** State of a ticket, without its content. */
export interface KnownTicket {
  readonly key: string;
  readonly source: string;
  /** `at`: earliest time to send it. Null: it does not wait. */
  readonly waiting: { readonly since: number; readonly at: number } | null;
  readonly isSending: boolean;
  readonly refused: { readonly reason: string; readonly at: number } | null;
  /** When its content was last sent; null: never. */
  readonly sentAt: number | null;
  /** Its dead letter was deleted by a person. */
  readonly isDiscarded: boolean;
  /** Why it was left out when it was last read, `gone` if it was deleted; known for 30 days. */
  readonly leftOut: { readonly reason: string; readonly at: number } | null;
}

/**
 * Outbox: state of one organization's conversations, and the content that is still to be sent. Each method is one
 * transaction, which is on disk when its promise resolves. Every method throws StoreError if the state cannot be used.
 * Times are milliseconds since the epoch.
 */
export interface Outbox {
  /** Stores a deposit. Content that was already sent, waits, or is dead is not stored again. */
  put(deposit: Deposit): Promise<Kept>;

  position(source: string): Promise<SourcePosition>;
  /** Returns the items that deposits marked as processed. A reset empties the set. */
  processed(source: string): Promise<ReadonlySet<string>>;
  /** Records that a poll is complete. */
  polled(source: string, at: number): Promise<void>;
  /** Resets the cursor: the next poll starts at `since`. Unchanged content is still not sent again. */
  reset(source: string, since: number): Promise<void>;

  /** Stores the hint of a webhook. Returns false if the delivery was accepted in the last few days. */
  hint(source: string, delivery: string | null, ids: readonly string[], at: number): Promise<boolean>;
  /** Returns the oldest unresolved hints. */
  hints(source: string, most: number): Promise<readonly Hint[]>;

  /** Returns the content to check again now, the longest overdue first. */
  rechecks(source: string, now: number, most: number): Promise<readonly Recheck[]>;
  /** Returns the time of the next check; null if there is none. */
  recheckAt(source: string): Promise<number | null>;
  /** Postpones a check that failed until `until`; the content is not sent before. */
  postponeRecheck(source: string, key: string, until: number): Promise<void>;

  /** Marks the batches that an earlier process was sending as in doubt. Returns their number. */
  recover(): Promise<number>;
  /**
   * Returns the batch to send now: one in doubt whose delay has ended, otherwise a new one of the oldest content that
   * is due. It is stored as being sent before this resolves. Content of a conversation that is in another batch is not
   * due until that batch is settled. Returns null if there is none.
   */
  next(limits: BatchLimits, now: number): Promise<OutgoingBatch | null>;
  /** Returns the time of the next batch that `next` would return with these limits; null if there is nothing to send. */
  dueAt(limits: Pick<BatchLimits, 'open' | 'inFlight'>): Promise<number | null>;
  /**
   * Corrects times in the future of `now`, which a clock that was ahead has stored: waiting content is due unless its
   * source delays it, batches in doubt are due, and content is checked again when it is due. May be repeated.
   */
  correctTimes(now: number): Promise<void>;
  /** Records that the platform accepted the batch. */
  sent(batch: number, at: number): Promise<void>;
  /** Records that the response was lost: the same batch is sent again, not before `until`. */
  doubt(batch: number, until: number): Promise<void>;
  /** Postpones a batch that is still in doubt until `until`. */
  rest(batch: number, until: number): Promise<void>;
  /** Moves the items of a batch that was certainly not accepted back to waiting, unless newer content replaces them. */
  release(batch: number): Promise<void>;
  /** Splits a batch into two. */
  split(batch: number): Promise<void>;
  /** Records that a batch with one item was refused permanently. */
  bury(batch: number, reason: string, at: number): Promise<void>;

  /** Returns dead letters, oldest first. */
  dead(filter: DeadFilter, most: number): Promise<readonly DeadLetter[]>;
  /** Returns a dead letter with its payload; null if there is none. */
  deadLetter(key: string): Promise<(DeadLetter & { readonly payload: string }) | null>;
  /** Moves dead letters back to waiting. Resolves with their number. */
  retry(filter: DeadFilter, now: number): Promise<number>;
  /** Deletes dead letters; the same content is not accepted again. Resolves with their number. */
  drop(filter: DeadFilter): Promise<number>;

  status(): Promise<OutboxStatus>;
  recent(now: number): Promise<RecentCounts>;
  /** Returns what is known of the tickets with this key, or with this id in any account: `123` for `zendesk/acme/123`. */
  find(text: string): Promise<readonly KnownTicket[]>;
  /** Counts waiting content by source that another redactor version produced. Reads all waiting content. */
  outdated(redactor: string): Promise<ReadonlyMap<string, number>>;
}

/** Milliseconds after which the outbox is read again in any case: another replica may have stored a webhook request. */
const MAX_AGE = 55_000;

interface Reading {
  readonly status: Promise<OutboxStatus>;
  /** Number of changes before the outbox was read. */
  readonly changes: number;
  /** On the monotonic clock. */
  readonly at: number;
}

/** Reads the status again after `markChanged`, and otherwise once a minute. */
export class RecentStatus {
  readonly #outbox: Pick<Outbox, 'status'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #changes = 0;
  #last: Reading | null = null;

  constructor(outbox: Pick<Outbox, 'status'>, clock: Pick<Clock, 'monotonic'>) {
    this.#outbox = outbox;
    this.#clock = clock;
  }

  /** Records that the outbox may have changed. Call it after the change. */
  markChanged(): void {
    this.#changes += 1;
  }

  /** Returns the status since the last change. Throws StoreError. */
  async read(): Promise<OutboxStatus> {
    const at = this.#clock.monotonic();
    if (this.#last === null || this.#last.changes !== this.#changes || at - this.#last.at >= MAX_AGE) {
      this.#last = { status: this.#outbox.status(), changes: this.#changes, at };
    }
    const reading = this.#last;
    try {
      return await reading.status;
    } catch (error) {
      if (this.#last === reading) {
        this.#last = null;
      }
      throw error;
    }
  }
}
