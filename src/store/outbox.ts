import type { Json } from '../core/json.ts';

/*
 * What becomes of a conversation's content:
 *
 *   put ──> waiting ──next──> sending ──sent───> only its key, its hash and when
 *              ^  │              │  ├──bury───> dead ──retry──> waiting
 *              │  └─drop/gone    │  │             └──dismiss──> only its hash
 *              └────release──────┘  └──doubt──> sending, in doubt: the same batch again
 *
 * A key has at most one content in each state. What is put while an older content is being sent waits until that is
 * settled; the older is then neither brought back nor buried.
 */

/** How much content is kept at most: waiting, being sent, or dead. One batch may go beyond it. */
export interface OutboxLimit {
  readonly items: number;
  readonly bytes: number;
}

/** Redacted content of one conversation, as it will be sent. */
export interface NewContent {
  readonly kind: 'content';
  /** Connector, account and ticket: the conversation's id. */
  readonly key: string;
  /** Of the payload; equal hashes are equal content. */
  readonly hash: string;
  /** Which redactor made it. */
  readonly redactor: string;
  /** JSON text. */
  readonly payload: string;
  /** Milliseconds since the epoch before which it is not sent; null: it may go at once. */
  readonly notBefore: number | null;
  /** By what its source finds it, where it must be looked at once more at the end of its rest; absent: it need not. */
  readonly recheck?: string;
  /** Mails that are added to a thread, whose conversation takes the place of `key`, `hash`, `payload` and `notBefore`. */
  readonly thread?: ThreadAddition;
}

/** One redacted mail of a thread. */
export interface ThreadMail {
  /** A hash of its message id. */
  readonly id: string;
  /** Milliseconds since the epoch; null where it has no date. */
  readonly at: number | null;
  readonly role: string;
  /** Empty where the mail has none, or is not the first of its file. */
  readonly subject: string;
  readonly body: string;
}

/** Mails of a thread of which other mails may have come before, or come later. */
export interface ThreadAddition {
  readonly mails: readonly ThreadMail[];
  /** Hashes of the message ids of these mails, and of all that they refer to. */
  readonly links: readonly string[];
  /** Redacts what was redacted before, knowing the people of these mails, too. */
  redactAgain(text: string): string;
  /** The conversation of all mails by date; null where no customer wrote any of them. */
  compose(key: string, mails: readonly ThreadMail[]): Pick<NewContent, 'payload' | 'hash' | 'notBefore'> | null;
}

/** What waits of a conversation is not to be sent: it may not be as it is now, or it was deleted. */
export interface Withdrawal {
  readonly kind: 'ineligible' | 'gone';
  readonly key: string;
}

/** A hint that a ticket changed. `mark` tells it from a later one of the same ticket. */
export interface Hint {
  readonly id: string;
  readonly mark: number;
}

/** Content that must be looked at once more at its source before it goes. `id` is what the source finds it by. */
export interface Recheck {
  readonly key: string;
  readonly id: string;
}

/** A change to the set of processed items of a source. */
export interface ProcessedChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** Everything that becomes durable together. */
export interface Deposit {
  readonly source: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** In the order in which they were found; the last of a key counts. */
  readonly entries: readonly (NewContent | Withdrawal)[];
  /** What is counted, and how many; all of them numbers of this deposit alone. */
  readonly counts: Readonly<Record<string, number>>;
  /** Where the poll stands once this is durable, in the round that it began in; absent: it stays. */
  readonly cursor?: { readonly value: Json; readonly round: number; readonly processed?: ProcessedChange };
  /** Hints that this answers. */
  readonly handled?: readonly Hint[];
  /** The sender's own id of a webhook request; a known one is not taken twice. */
  readonly delivery?: string | null;
  /** When the source was asked for this, in milliseconds since the epoch: what changed later it may not show; absent: `at`. */
  readonly lookedAt?: number;
  /** The keys of what was looked at once more: it waits no longer as it was, and what takes its place has room. */
  readonly rechecked?: readonly string[];
}

/**
 * What came of a deposit. All but `kept` leave everything as it was.
 *
 * - `full`: there is no room for it now.
 * - `known`: the delivery was taken before.
 * - `stale`: the source was reset since the round began.
 *
 * `confirmed` counts what waited unchanged and needs no other look: it may go.
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

/** Where the next poll of a source begins. */
export interface SourcePosition {
  readonly cursor: Json;
  /** How far back it goes, in milliseconds since the epoch, where it was reset to; null: as configured. */
  readonly since: number | null;
  /** Changes when the source is reset. */
  readonly round: number;
}

/** Content on its way. A batch is always the same items in the same order. */
export interface OutgoingBatch {
  readonly id: number;
  /** How often its answer was lost; with 0, the platform has certainly not taken it. */
  readonly doubts: number;
  readonly items: readonly { readonly key: string; readonly source: string; readonly payload: string }[];
}

export interface BatchLimits {
  readonly items: number;
  /** Of all payloads together; an item that is larger goes alone. */
  readonly bytes: number;
  /** No new batch is begun where so many are in doubt. */
  readonly open: number;
}

/** Content that the platform refuses. */
export interface DeadLetter {
  readonly key: string;
  readonly source: string;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly bytes: number;
}

/** Which dead letters. Both absent: all of them. */
export interface DeadFilter {
  readonly source?: string;
  readonly key?: string;
}

export interface OutboxStatus {
  readonly held: OutboxLimit;
  readonly limit: OutboxLimit;
  readonly isFull: boolean;
  /** Sorted by name. */
  readonly sources: readonly SourceStatus[];
}

export interface SourceStatus {
  readonly source: string;
  readonly cursor: Json;
  /** When a poll last came to its end; null: never. */
  readonly polledAt: number | null;
  readonly waiting: number;
  /** Since when the oldest content waits; null: none does. */
  readonly waitingSince: number | null;
  /** On its way, those in doubt included. */
  readonly sending: number;
  readonly inDoubt: number;
  readonly dead: number;
  readonly hints: number;
  /** Everything counted so far, by name. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * What is known of one organization's conversations, and what is still to be sent: the outbox. A promise that has
 * resolved is on disk, each method's work all or not at all. Every method throws StoreError where the state cannot be
 * used. Times are milliseconds since the epoch.
 */
export interface Outbox {
  /** Keeps what was found. Content that is the platform's already, waits, or is dead, is unchanged and left alone. */
  put(deposit: Deposit): Promise<Kept>;

  position(source: string): Promise<SourcePosition>;
  /** Items that the source has read to their end, as deposits said. A reset empties the set. */
  processed(source: string): Promise<ReadonlySet<string>>;
  /** A poll has come to its end. */
  polled(source: string, at: number): Promise<void>;
  /** Forgets the cursor: the next poll goes back to `since`. What is unchanged is still not sent again. */
  reset(source: string, since: number): Promise<void>;

  /** Keeps what a webhook hinted at. False: the delivery was taken before. Deliveries are remembered for a few days. */
  hint(source: string, delivery: string | null, ids: readonly string[], at: number): Promise<boolean>;
  /** The oldest hints that were not answered. */
  hints(source: string, most: number): Promise<readonly Hint[]>;

  /** What must be looked at once more now, the longest due first. */
  rechecks(source: string, now: number, most: number): Promise<readonly Recheck[]>;
  /** When the next of them is due; null: there is none. */
  recheckAt(source: string): Promise<number | null>;
  /** It could not be looked at: again at `until`, and not sent before. */
  postponeRecheck(source: string, key: string, until: number): Promise<void>;

  /** What an earlier process left on its way may have arrived: it is in doubt. Answers how many batches. */
  recover(): Promise<number>;
  /**
   * The batch to send now: one in doubt whose rest is over, else a new one of the oldest content that is due, durably
   * on its way before this resolves. Null: there is none now.
   */
  next(limits: BatchLimits, now: number): Promise<OutgoingBatch | null>;
  /** When there will be something to send, where so many batches may be open at once; null: there is nothing. */
  dueAt(open: number): Promise<number | null>;
  /** The wall clock was set back by so many milliseconds at `now`: nothing rests longer for it. */
  setBack(by: number, now: number): Promise<void>;
  /** The platform has taken the batch. */
  sent(batch: number, at: number): Promise<void>;
  /** The answer was lost: the same batch again, not before `until`. */
  doubt(batch: number, until: number): Promise<void>;
  /** Nothing is new of a batch in doubt: again, and not before `until`. */
  rest(batch: number, until: number): Promise<void>;
  /** The batch was certainly not taken: its items wait again, but for those that something newer replaces. */
  release(batch: number): Promise<void>;
  /** A batch becomes two. */
  split(batch: number): Promise<void>;
  /** A batch of one is refused for good. */
  bury(batch: number, reason: string, at: number): Promise<void>;

  /** The oldest first. */
  dead(filter: DeadFilter, most: number): Promise<readonly DeadLetter[]>;
  /** One with its payload; null: there is no such. */
  deadLetter(key: string): Promise<(DeadLetter & { readonly payload: string }) | null>;
  /** They wait again. Answers how many. */
  retry(filter: DeadFilter, now: number): Promise<number>;
  /** They are forgotten, and not taken again as they are. Answers how many. */
  dismiss(filter: DeadFilter): Promise<number>;

  status(): Promise<OutboxStatus>;
  /** How many wait per source that another redactor made than this one. Reads all that waits. */
  outdated(redactor: string): Promise<ReadonlyMap<string, number>>;
}
