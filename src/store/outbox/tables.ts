/** Content of an outbox: what is stored of it, its rows, their amount, and the state of a source. */
import type { Json } from '../../core/json.ts';
import type { Sql, SqlValue } from '../sql/database.ts';

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

export type ContentState = 'waiting' | 'sending' | 'dead';

/** Transaction on the outbox of one organization. */
export interface OutboxSql {
  readonly sql: Sql;
  readonly organization: string;
}

export async function readStored({ sql, organization }: OutboxSql): Promise<OutboxLimit> {
  const row = await sql.get<OutboxLimit>('SELECT items, bytes FROM outbox WHERE organization = ?', organization);
  return row ?? { items: 0, bytes: 0 };
}

export function isFull(stored: OutboxLimit, limit: OutboxLimit): boolean {
  return stored.items >= limit.items || stored.bytes >= limit.bytes;
}

/** Changes the amount of stored content. */
export async function changeStored({ sql, organization }: OutboxSql, { items, bytes }: OutboxLimit): Promise<void> {
  if (items !== 0 || bytes !== 0) {
    await sql.run(
      `INSERT INTO outbox (organization, items, bytes) VALUES (?, ?, ?) ON CONFLICT (organization)
       DO UPDATE SET items = outbox.items + excluded.items, bytes = outbox.bytes + excluded.bytes`,
      ...[organization, items, bytes],
    );
  }
}

/** Row of content that was changed or deleted. */
export interface ContentRow {
  readonly source: string;
  readonly bytes: number;
}

/** Deletes content of the organization, its payloads and its checks. */
export async function deleteContent(
  { sql, organization }: OutboxSql,
  condition: string,
  ...values: readonly SqlValue[]
): Promise<readonly ContentRow[]> {
  const matching = `FROM content WHERE organization = ? AND ${condition}`;
  await sql.run(`DELETE FROM recheck WHERE content IN (SELECT id ${matching})`, organization, ...values);
  return sql.all<ContentRow>(`DELETE ${matching} RETURNING source, bytes`, organization, ...values);
}

/** Deletes content and subtracts it from the amount of stored content. */
export async function removeContent(
  context: OutboxSql,
  condition: string,
  ...values: readonly SqlValue[]
): Promise<readonly ContentRow[]> {
  const rows = await deleteContent(context, condition, ...values);
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  await changeStored(context, { items: -rows.length, bytes: -bytes });
  return rows;
}

export async function readPosition({ sql, organization }: OutboxSql, source: string): Promise<SourcePosition> {
  const row = await sql.get<{ cursor: string; since: number | null; round: number }>(
    'SELECT cursor, since, round FROM source WHERE organization = ? AND name = ?',
    ...[organization, source],
  );
  return row === undefined ? { cursor: null, since: null, round: 0 } : { ...row, cursor: sql.parse(row.cursor) };
}

/** Milliseconds for which the ids of webhook requests are remembered: senders repeat them for up to three days. */
const DELIVERIES_KEPT = 4 * 24 * 3_600_000;

/** Returns false if the delivery was already remembered. */
export async function rememberDelivery(
  { sql, organization }: OutboxSql,
  source: string,
  delivery: string,
  at: number,
): Promise<boolean> {
  await sql.run('DELETE FROM delivery WHERE at < ?', at - DELIVERIES_KEPT);
  const added = await sql.run(
    'INSERT INTO delivery (organization, source, id, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    ...[organization, source, delivery, at],
  );
  return added > 0;
}
