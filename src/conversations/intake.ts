/** Moves the records of a source into the outbox, redacted and in the form that the platform accepts. */
import { createHash } from 'node:crypto';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Clock, WakeUpSignal } from '../core/clock.ts';
import { type AppError, SourceError } from '../core/errors.ts';
import { canonicalJson } from '../core/json.ts';
import type { Outbox } from '../store/outbox/outbox.ts';
import type { Deposit, Kept, NewContent, ThreadAddition, ThreadMail, Withdrawal } from '../store/outbox/tables.ts';
import type { ConversationEvents, IntakeCounts, Rejection, Shortfall, WebhookResult } from './model/source.ts';
import {
  type AuthorRole,
  type Conversation,
  type Person,
  problemOfKey,
  type RedactionCounts,
  type Redactor,
  type SourceRecord,
  type Ticket,
  type TicketSkipReason,
} from './model/ticket.ts';
import { writableKey } from './private-ids.ts';
import { chosenId } from './redact/chosen-id.ts';
import type { RedactionThreads } from './redact/redaction-threads.ts';
import { type RedactionResult, redactOrFail } from './redact/redaction-work.ts';

interface IntakeOptions {
  /** As configured. */
  readonly source: string;
  readonly outbox: Outbox;
  readonly redactor: Redactor;
  /** Redacts long tickets, and many tickets faster; null: only this thread redacts. */
  readonly threads: Pick<RedactionThreads, 'redact' | 'isFull'> | null;
  /** Delay after a ticket is solved, in milliseconds. */
  readonly settleDelay: number;
  readonly clock: Clock;
  /** Notified when there is something to send. */
  readonly work: WakeUpSignal;
  /** Notified when the outbox has room again. */
  readonly room: WakeUpSignal;
  /** Notified when there are hints to follow. */
  readonly hints: WakeUpSignal;
  readonly events: ConversationEvents;
}

/** Changes that become durable in the same transaction as the records. */
type DepositContext = Pick<Deposit, 'cursor' | 'handled' | 'delivery' | 'lookedAt' | 'rechecked'>;

/** Records that are ready to be stored, and the reports to make once they are durable. */
interface Prepared {
  readonly deposit: Deposit;
  readonly sorted: SortedRecords;
}

/** Interval in which a full outbox is checked without a notification, in milliseconds. */
const CHECK_INTERVAL = 30_000;
/** Maximum time of synchronous work before yielding to the event loop, in milliseconds. */
const MAX_TURN = 10;

/**
 * Moves the records of one source into the outbox:
 * 1. Redact and convert each ticket (`convertTicket`). Nothing is written or reported before that.
 * 2. Store the entries in one transaction with the cursor, hints and numbers that belong to them.
 * 3. Report events.
 * 4. Notify the sender.
 */
export class Intake {
  /** True while records wait because the outbox is full. */
  isBlocked = false;
  readonly #options: IntakeOptions;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /**
   * Stores the records, and waits for room if the outbox is full. `meanwhile` is called before each wait, and may make
   * room; it returns the keys of tickets that were fetched later, whose records are omitted. Records are redacted at
   * once, and stored after `after`. Throws StoreError, the signal's reason, and the error of `after`.
   */
  async take(
    records: readonly SourceRecord[],
    context: DepositContext,
    signal: AbortSignal,
    { meanwhile, after }: { meanwhile?: () => Promise<ReadonlySet<string>>; after?: Promise<unknown> } = {},
  ): Promise<Exclude<Kept['kind'], 'full'>> {
    const { room, clock } = this.#options;
    let [prepared] = await Promise.all([this.#prepare(records, context), after]);
    for (let waits = false; ; waits = true) {
      signal.throwIfAborted();
      const seen = room.count;
      const kind = await this.#put(prepared);
      if (kind !== 'full') {
        if (waits) {
          this.#block(false);
        }
        return kind;
      }
      prepared = withoutKeys(prepared, (await meanwhile?.()) ?? new Set());
      if (!waits) {
        this.#block(true);
      }
      await room.wait(seen, CHECK_INTERVAL, clock, signal);
    }
  }

  #block(isFull: boolean): void {
    this.isBlocked = isFull;
    this.#options.events.onPressure?.({ source: this.#options.source, isFull });
  }

  /**
   * Stores a webhook request. `kept` and `known`: the request may be confirmed. `full` and `busy`: the outbox is full, or
   * too much waits for redaction; the sender should retry later. A reason: what it describes was not kept. Throws
   * StoreError.
   */
  async takeWebhook(
    result: Exclude<WebhookResult, { kind: 'refused' }>,
  ): Promise<'kept' | 'known' | 'full' | 'busy' | { readonly reason: string }> {
    const { outbox, source, clock, hints, threads } = this.#options;
    // The sender chose the id: its length and content are not trusted.
    const delivery = result.delivery === null ? null : createHash('sha256').update(result.delivery).digest('base64url');
    if (result.kind === 'hints') {
      const isNew = await outbox.hint(source, delivery, result.ids, clock.now());
      hints.notify();
      return isNew ? 'kept' : 'known';
    }
    if (threads?.isFull === true) {
      return 'busy';
    }
    const prepared = await this.#prepare(result.found, { delivery });
    const { deposit, sorted } = prepared;
    const { lost, rejected } = sorted;
    // A request that was not kept completely is not known: repeated, it gets the same answer.
    const kept = (await this.#put(lost === 0 ? prepared : { ...prepared, deposit: { ...deposit, delivery: null } })) as
      | 'kept'
      | 'known'
      | 'full';
    if (lost === 0 || kept === 'full') {
      return kept;
    }
    const rest = result.found.length === 1 ? '' : `; ${lost} of ${result.found.length} conversations were not kept`;
    return { reason: `${rejected.at(-1)?.reason}${rest}` };
  }

  /** Redacts the message of an error: it may name a file, and files are often named after the person who wrote them. */
  redactError(error: AppError): AppError {
    const message = this.#options.redactor.text(error.message);
    return error instanceof SourceError && message !== error.message ? new SourceError(message) : error;
  }

  async #prepare(records: readonly SourceRecord[], context: DepositContext): Promise<Prepared> {
    const { source, clock } = this.#options;
    const sorted = sortedRecords();
    const redacted = await this.#redact(records);
    let turnStartedAt = clock.monotonic();
    for (const record of records) {
      sortRecord(record, redacted?.get(record), sorted, this.#options);
      // Redaction takes time, and blocks everything else meanwhile.
      if (clock.monotonic() - turnStartedAt > MAX_TURN) {
        await yieldToOthers();
        turnStartedAt = clock.monotonic();
      }
    }
    const { entries, counts } = sorted;
    return { deposit: { source, at: clock.now(), entries, counts: flatten(counts), ...context }, sorted };
  }

  /** Redacts the tickets, and the keys of other records, on several threads; null if this one has to. */
  async #redact(records: readonly SourceRecord[]): Promise<ReadonlyMap<SourceRecord, RedactionResult> | null> {
    const asked = records.flatMap((record) => {
      const ticket = ticketOf(record);
      return ticket === null ? [] : [{ record, ticket }];
    });
    const results = (await this.#options.threads?.redact(asked.map(({ ticket }) => ticket))) ?? null;
    return results === null
      ? null
      : new Map(asked.map(({ record }, index) => [record, results[index] as RedactionResult]));
  }

  async #put(prepared: Prepared): Promise<Kept['kind']> {
    const { outbox, work, room } = this.#options;
    const kept = await outbox.put(prepared.deposit);
    if (kept.kind === 'kept') {
      this.#report(prepared.sorted, kept);
      if (kept.waiting > 0 || kept.confirmed > 0) {
        work.notify();
      }
      if (kept.withdrawn > 0) {
        room.notify();
      }
    }
    return kept.kind;
  }

  #report({ counts, rejected, shortfalls }: SortedRecords, kept: Extract<Kept, { kind: 'kept' }>): void {
    const { source, events } = this.#options;
    const { waiting, unchanged, withdrawn } = kept;
    for (const shortfall of shortfalls) {
      events.onShortfall?.(shortfall);
    }
    for (const rejection of rejected) {
      events.onRejected?.(rejection);
    }
    events.onIntake?.({ source, ...counts, waiting, unchanged, withdrawn });
  }
}

/** Returns the ticket of a record, or one with only its key; null if the key was not chosen by a person. */
function ticketOf(record: SourceRecord): Ticket | null {
  if (record.kind === 'ticket') {
    return record.ticket;
  }
  if (record.kind === 'rejected' || chosenId(record.key) === '') {
    return null;
  }
  const people = record.kind === 'skipped' ? (record.people ?? []) : [];
  const none = {
    subject: '',
    createdAt: null,
    settledAt: null,
    url: null,
    attributes: {},
    parts: [],
    completeness: null,
  };
  return { key: record.key, people, ...none };
}

function withoutKeys(prepared: Prepared, keys: ReadonlySet<string>): Prepared {
  const { deposit } = prepared;
  return { ...prepared, deposit: { ...deposit, entries: deposit.entries.filter(({ key }) => !keys.has(key)) } };
}

type Counts = Omit<IntakeCounts, 'source' | 'waiting' | 'unchanged' | 'withdrawn'>;

/** Records as outbox entries, counts and reports. */
interface SortedRecords {
  readonly entries: (NewContent | Withdrawal)[];
  readonly rejected: Rejection[];
  readonly shortfalls: Shortfall[];
  readonly counts: Record<Exclude<keyof Counts, 'skipped' | 'redacted'>, number> &
    Record<'skipped' | 'redacted', Record<string, number>>;
  /** Number of tickets that could not be converted, and that are not among the entries. */
  lost: number;
}

function sortedRecords(): SortedRecords {
  const counts = { found: 0, gone: 0, rejected: 0, incomplete: 0, skipped: {}, redacted: {} };
  return { entries: [], rejected: [], shortfalls: [], counts, lost: 0 };
}

/** Sorts one record. `redacted`: the ticket, or the key, was redacted already. */
function sortRecord(
  record: SourceRecord,
  redacted: RedactionResult | undefined,
  sorted: SortedRecords,
  { redactor, settleDelay, source, clock }: IntakeOptions,
): void {
  const { entries, counts } = sorted;
  counts.found += 1;
  const isPrivate = redacted !== undefined && 'hasPrivateId' in redacted ? redacted.hasPrivateId : undefined;
  const skip = (key: string, reason: TicketSkipReason, isOneOfMany = false) => {
    counts.skipped[reason] = (counts.skipped[reason] ?? 0) + 1;
    if (!isOneOfMany) {
      entries.push({ kind: 'ineligible', key, reason });
    }
  };
  const reject = (place: string, reason: string) => {
    counts.rejected += 1;
    sorted.rejected.push({ source, place, reason });
  };
  if (record.kind === 'skipped') {
    skip(writableKey(record.key, redactor, record.people, isPrivate), record.reason, record.isOneOfMany);
    return;
  }
  if (record.kind === 'gone') {
    counts.gone += 1;
    entries.push({ kind: 'gone', key: writableKey(record.key, redactor, [], isPrivate) });
    return;
  }
  if (record.kind === 'rejected') {
    // Mails are often saved under their subject or the name of the person who wrote them.
    reject(redactor.text(record.place), record.reason);
    return;
  }
  const { completeness, mails } = record.ticket;
  const converted = convertTicket(record.ticket, { redactor, redacted, settleDelay, now: clock.now() });
  const { key } = converted;
  if (converted.kind === 'rejected') {
    // An earlier version of it stays, and is sent.
    reject(shortened(key), converted.reason);
    sorted.lost += 1;
    return;
  }
  if (completeness !== null && completeness.fetched < completeness.reported) {
    counts.incomplete += 1;
    sorted.shortfalls.push({ source, key, ...completeness });
  }
  if (converted.kind === 'skipped') {
    skip(key, converted.reason, mails !== undefined);
    return;
  }
  entries.push(converted.content);
  for (const [type, count] of Object.entries(converted.counts)) {
    counts.redacted[type] = (counts.redacted[type] ?? 0) + count;
  }
}

const MAX_PLACE_LENGTH = 80;

function shortened(key: string): string {
  return key.length > MAX_PLACE_LENGTH ? `${key.slice(0, MAX_PLACE_LENGTH)}…` : key;
}

/** Counts as the outbox keeps them, with one name each: `skipped.spam`. */
function flatten({ skipped, redacted, ...plain }: SortedRecords['counts']): Record<string, number> {
  const named = Object.entries({ skipped, redacted }).flatMap(([prefix, counts]) =>
    Object.entries(counts).map(([name, count]) => [`${prefix}.${name}`, count] as const),
  );
  return { ...plain, ...Object.fromEntries(named) };
}

interface ConvertOptions extends Pick<IntakeOptions, 'redactor' | 'settleDelay'> {
  /** Result of the redaction, if another thread made it. */
  readonly redacted?: RedactionResult | undefined;
  /** Milliseconds since the epoch. A later date of a ticket or mail counts as this time. */
  readonly now: number;
}

/** Result of the conversion. `key` is the key of the ticket as it may be written. */
export type ConvertedTicket = { readonly key: string } & (
  | { readonly kind: 'content'; readonly content: NewContent; readonly counts: RedactionCounts }
  | { readonly kind: 'skipped'; readonly reason: TicketSkipReason }
  | { readonly kind: 'rejected'; readonly reason: string }
);

/** Longest URL, in characters. Source: docs/platform-notes.md#limits */
const MAX_URL_LENGTH = 2048;

/**
 * Converts a ticket to the outbox entry of a redacted conversation that the platform accepts.
 * Source: docs/platform-notes.md#conversations
 */
export function convertTicket(ticket: Ticket, options: ConvertOptions): ConvertedTicket {
  const { redactor, settleDelay, now } = options;
  // 1. Redact. Nothing before this step is written, logged or sent.
  const redacted = options.redacted ?? redactOrFail(redactor, ticket);
  // 2. Replace an id that is itself private. The platform limits the length of a key.
  const isPrivate = 'failure' in redacted ? undefined : redacted.hasPrivateId;
  const key = writableKey(ticket.key, redactor, ticket.people, isPrivate);
  const problem = problemOfKey(ticket.key);
  if (problem !== null) {
    return { kind: 'rejected', key, reason: problem };
  }
  if ('failure' in redacted) {
    return { kind: 'rejected', key, reason: `it cannot be redacted (${redacted.failure})` };
  }
  // 3. Add mails to their thread, which other files may have started.
  const thread = threadAddition(ticket, redacted.conversation, options);
  // 4. Omit what the platform refuses, and skip a conversation without a customer.
  const conversation = fitToPlatform(redacted.conversation, key);
  if (conversation.parts.length === 0) {
    return { kind: 'skipped', key, reason: 'empty' };
  }
  // The customer's mail may be in another file.
  if (thread === null && !conversation.parts.some(({ role }) => role === 'user')) {
    return { kind: 'skipped', key, reason: 'no-customer' };
  }
  // 5. Serialize it in a canonical form, so that equal content has an equal hash.
  const payload = canonicalJson(conversation);
  const content: NewContent = {
    kind: 'content',
    key,
    hash: createHash('sha256').update(payload).digest('hex'),
    redactor: redactor.version,
    payload,
    // The clock of the source may be ahead, so the delay is never longer than the settle delay from now.
    notBefore: ticket.settledAt === null ? null : Math.min(ticket.settledAt, now) + settleDelay,
    ...(thread === null ? {} : { thread }),
    ...(ticket.recheck === undefined ? {} : { recheck: ticket.recheck }),
  };
  return { kind: 'content', key, content, counts: redacted.counts };
}

/** Omits empty parts and members, and a URL that redaction has made invalid. */
function fitToPlatform({ subject, parts, metadata }: Conversation, id: string): Conversation {
  const { url, attributes, createdAt } = metadata ?? {};
  const time = createdAt === undefined ? Number.NaN : Date.parse(createdAt);
  const names = Object.keys(attributes ?? {}).toSorted();
  // Members are in order of their names, so that they need no sorting to be serialized.
  const sorted = Object.fromEntries(names.map((name) => [name, attributes?.[name] ?? '']));
  const kept = {
    ...(names.length === 0 ? {} : { attributes: sorted }),
    ...(Number.isNaN(time) ? {} : { createdAt: new Date(time).toISOString() }),
    ...(url && isWebAddress(url) ? { url } : {}),
  };
  // The redactor has shortened the subject already: a cut can create text that has to be redacted in turn.
  const title = subject?.trim() ?? '';
  return {
    id,
    ...(Object.keys(kept).length === 0 ? {} : { metadata: kept }),
    parts: parts.filter(({ body }) => body.trim() !== ''),
    ...(title === '' ? {} : { subject: title }),
  };
}

/**
 * Reports whether a URL is that of a web page. A file may contain any URL, and a person may open it: scripts are
 * excluded.
 */
function isWebAddress(url: string): boolean {
  return url.length <= MAX_URL_LENGTH && /^https?:$/.test(URL.parse(url)?.protocol ?? '');
}

/**
 * Returns the mails of a ticket as an addition to their thread; null for tickets that are not mails. `conversation` is
 * the redacted ticket, with a part for each part of the ticket.
 */
function threadAddition(
  { mails, people }: Ticket,
  conversation: Conversation,
  { redactor, settleDelay, now }: ConvertOptions,
): ThreadAddition | null {
  if (mails === undefined) {
    return null;
  }
  const added = conversation.parts.map(({ role, body }, index) => ({
    id: mails.ids[index]?.id ?? '',
    at: mails.ids[index]?.at ?? null,
    role,
    // The thread has the subject of its first mail.
    subject: index === 0 ? (conversation.subject?.trim() ?? '') : '',
    body,
  }));
  return {
    mails: added.filter(({ body }) => body.trim() !== ''),
    links: mails.links,
    redactAgain: (text) => (mayName(text, people) ? redactor.text(text, people) : text),
    compose: (key, all) => {
      const thread = conversationOf(key, all, conversation);
      const payload = canonicalJson(thread);
      const last = all.findLast(({ at }) => at !== null)?.at ?? null;
      return thread.parts.some(({ role }) => role === 'user')
        ? {
            payload,
            hash: createHash('sha256').update(payload).digest('hex'),
            notBefore: last === null ? null : Math.min(last, now) + settleDelay,
          }
        : null;
    },
  };
}

/** Reports whether a text contains a word of the people's names or addresses: most texts need no second redaction. */
function mayName(text: string, people: readonly Person[]): boolean {
  const seen = plain(text);
  return people.some(({ names, emails }) =>
    [...names, ...emails].some((each) =>
      plain(each)
        .split(/[^\p{L}\p{N}]+/u)
        .some((word) => word !== '' && seen.includes(word)),
    ),
  );
}

/** Removes case and accents. */
function plain(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

function conversationOf(key: string, mails: readonly ThreadMail[], like: Conversation): Conversation {
  const subject = mails.find((mail) => mail.subject !== '')?.subject;
  const first = mails.find(({ at }) => at !== null)?.at ?? null;
  const attributes = like.metadata?.attributes;
  return {
    id: key,
    ...(subject === undefined ? {} : { subject }),
    parts: mails.map(({ role, body }) => ({ type: 'message', role: role as AuthorRole, body })),
    metadata: {
      ...(attributes === undefined ? {} : { attributes }),
      ...(first === null ? {} : { createdAt: new Date(first).toISOString() }),
    },
  };
}
