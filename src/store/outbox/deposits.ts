/** Deposits: decides in memory what they change, and stores it with few statements for many entries. */

import { sameJson } from '../../core/json.ts';
import { inNumbers, insertNewRows, inTexts, runBatches, type SqlValue, upsertRows } from '../sql/database.ts';
import { addCounts } from './counts.ts';
import { recordLeftOut } from './known-tickets.ts';
import {
  type ContentState,
  changeStored,
  type Deposit,
  deleteContent,
  isFull,
  type Kept,
  type NewContent,
  type OutboxLimit,
  type OutboxSql,
  type ProcessedChange,
  readPosition,
  readStored,
  rememberDelivery,
  type ThreadAddition,
  type ThreadMail,
  type Withdrawal,
} from './tables.ts';

type Outcomes = Record<DepositOutcome, number>;

/** Maximum number of mails that are added to their threads at a time: all mails of their threads are read. */
const THREADS = 25;

export async function putDeposit(context: OutboxSql, deposit: Deposit, limit: OutboxLimit): Promise<Kept> {
  const { sql, organization } = context;
  const { source, at, delivery, cursor, handled = [] } = deposit;
  if (cursor !== undefined && cursor.round !== (await readPosition(context, source)).round) {
    return { kind: 'stale' };
  }
  if (delivery && !(await rememberDelivery(context, source, delivery, at))) {
    return { kind: 'known' };
  }
  const wasFull = isFull(await readStored(context), limit);
  const outcomes = { waiting: 0, unchanged: 0, confirmed: 0, withdrawn: 0, nothing: 0 };
  const growth = await storeEntries(context, deposit, outcomes);
  // A deposit that needs no room, or frees some, is accepted even then, and so is content that was checked again:
  // it makes room.
  if (wasFull && deposit.rechecked === undefined && (growth.items > 0 || growth.bytes > 0)) {
    return { kind: 'full' };
  }
  await changeStored(context, growth);
  if (cursor !== undefined) {
    await sql.run(
      `INSERT INTO source (organization, name, cursor) VALUES (?, ?, ?)
       ON CONFLICT (organization, name) DO UPDATE SET cursor = excluded.cursor`,
      ...[organization, source, JSON.stringify(cursor.value)],
    );
    await changeProcessed(context, source, cursor.processed);
  }
  if (handled.length > 0) {
    // One that arrived again in the meantime has another mark and is kept.
    await sql.run(
      `DELETE FROM hint WHERE organization = ? AND source = ? AND ${inNumbers(sql, 'mark')}`,
      ...[organization, source, JSON.stringify(handled.map(({ mark }) => mark))],
    );
  }
  const { waiting, withdrawn, confirmed } = outcomes;
  const unchanged = outcomes.unchanged + confirmed;
  await recordLeftOut(context, deposit);
  await addCounts(context, source, at, { ...deposit.counts, unchanged, withdrawn, queued: waiting });
  return { kind: 'kept', waiting, unchanged, withdrawn, confirmed };
}

async function changeProcessed(
  { sql, organization }: OutboxSql,
  source: string,
  { add, remove }: ProcessedChange = { add: [], remove: [] },
): Promise<void> {
  if (remove.length > 0) {
    await sql.run(
      `DELETE FROM processed WHERE organization = ? AND source = ? AND ${inTexts(sql, 'item')}`,
      ...[organization, source, JSON.stringify(remove)],
    );
  }
  if (add.length > 0) {
    // The condition separates SELECT from ON CONFLICT in SQLite.
    await sql.run(
      `INSERT INTO processed (organization, source, item)
       SELECT CAST(? AS TEXT), CAST(? AS TEXT), value FROM ${sql.jsonItems('?')} WHERE true ON CONFLICT DO NOTHING`,
      ...[organization, source, JSON.stringify(add)],
    );
  }
}

/** Returns the difference to the amount of stored content. */
async function storeEntries(context: OutboxSql, deposit: Deposit, outcomes: Outcomes): Promise<OutboxLimit> {
  const growth = { items: 0, bytes: 0 };
  const parts = partsOf(deposit.entries);
  for (const [index, part] of parts.entries()) {
    const entries = await addMails(context, part);
    const rechecked = index === parts.length - 1 ? (deposit.rechecked ?? []) : [];
    const keys = entries.flatMap(({ entry, merged }) => (entry === null ? merged : [entry.key, ...merged]));
    const stored = await readKeys(context, [...new Set([...keys, ...rechecked])]);
    const plan = new DepositPlan(deposit, structuredClone(stored));
    for (const resolved of entries) {
      outcomes[settle(plan, resolved)] += 1;
    }
    settleRechecked(plan, deposit, rechecked, outcomes);
    const { items, bytes } = await write(context, contentsOf(stored), contentsOf(plan.keys));
    growth.items += items;
    growth.bytes += bytes;
  }
  return growth;
}

/** Divides entries into parts with a limited number of mails each; at least one. */
function partsOf(entries: Deposit['entries']): Deposit['entries'][] {
  const parts: Deposit['entries'][number][][] = [[]];
  let threads = 0;
  for (const entry of entries) {
    threads += entry.kind === 'content' && entry.thread !== undefined ? 1 : 0;
    if (threads > THREADS) {
      parts.push([]);
      threads = 1;
    }
    parts.at(-1)?.push(entry);
  }
  return parts;
}

function settle(plan: DepositPlan, { entry, merged }: ResolvedEntry): DepositOutcome {
  for (const key of merged) {
    plan.withdraw(key);
  }
  if (entry === null) {
    return 'nothing';
  }
  return entry.kind === 'content' ? plan.take(entry) : plan.withdraw(entry.key);
}

function settleRechecked(plan: DepositPlan, deposit: Deposit, rechecked: readonly string[], outcomes: Outcomes): void {
  const keys = new Set(deposit.entries.map(({ key }) => key));
  for (const key of rechecked) {
    if (keys.has(key)) {
      // The source may report deletions by now and no longer ask for a check.
      const confirmed = plan.settleCheck(key);
      outcomes.unchanged -= confirmed;
      outcomes.confirmed += confirmed;
    } else {
      // It has another key now.
      outcomes[plan.withdraw(key)] += 1;
    }
  }
}

/** Reads what is stored of keys. */
async function readKeys({ sql, organization }: OutboxSql, keys: readonly string[]): Promise<KeyContents> {
  const byKey: KeyContents = new Map(keys.map((key) => [key, {}]));
  if (keys.length === 0) {
    return byKey;
  }
  const list = JSON.stringify(keys);
  const known = await sql.all<{ key: string; sent: string | null; dismissed: string | null }>(
    `SELECT key, sent, dismissed FROM conversation WHERE organization = ? AND ${inTexts(sql, 'key')}`,
    ...[organization, list],
  );
  const contents = await sql.all<PlannedRow>(
    `SELECT content.id, content.key, content.state, content.source, content.hash, content.redactor, content.bytes,
       content.since, content.at, content.replaced,
       recheck.source AS "checkSource", recheck.id AS "checkId", recheck.at AS "checkAt"
     FROM content LEFT JOIN recheck ON recheck.content = content.id
     WHERE content.organization = ? AND ${inTexts(sql, 'content.key')}`,
    ...[organization, list],
  );
  for (const { key, ...hashes } of known) {
    byKey.set(key, hashes);
  }
  for (const { state, checkSource: source, checkId: id, checkAt: at, ...row } of contents) {
    const check = source === null || id === null ? null : { source, id, at };
    const content = { ...row, replaced: row.replaced === 1, check, payload: null };
    byKey.set(row.key, { ...byKey.get(row.key), [state]: content });
  }
  return byKey;
}

/** Stored content, with its check if it has one. */
interface PlannedRow extends Omit<PlannedContent, 'replaced' | 'check' | 'payload'> {
  readonly state: ContentState;
  readonly replaced: number;
  readonly checkSource: string | null;
  readonly checkId: string | null;
  readonly checkAt: number | null;
}

function contentsOf(keys: KeyContents): PlannedContent[] {
  return [...keys.values()].flatMap(({ waiting, sending, dead }) =>
    [waiting, sending, dead].filter((content) => content !== undefined),
  );
}

/** Stores the difference between contents. Returns that of their amounts. */
async function write(
  context: OutboxSql,
  before: readonly PlannedContent[],
  after: readonly PlannedContent[],
): Promise<OutboxLimit> {
  const { sql } = context;
  const stored = new Map(before.map((content) => [content.id, content]));
  const kept = new Set(after.map(({ id }) => id));
  const created = after.filter(({ id }) => id === null);
  const removed = before.filter(({ id }) => !kept.has(id));
  const changed = after.flatMap((content) => {
    const old = stored.get(content.id);
    return old === undefined ? [] : [{ old, content }];
  });
  const idsOf = (contents: readonly PlannedContent[]) => JSON.stringify(contents.map(({ id }) => id));
  if (removed.length > 0) {
    await deleteContent(context, inNumbers(sql, 'id'), idsOf(removed));
  }
  const turned = Map.groupBy(
    changed.filter(({ old, content }) => old.replaced !== content.replaced).map(({ content }) => content),
    ({ replaced }) => replaced,
  );
  for (const [isReplaced, contents] of turned) {
    await sql.run(`UPDATE content SET replaced = ${isReplaced ? 1 : 0} WHERE ${inNumbers(sql, 'id')}`, idsOf(contents));
  }
  await runBatches(
    sql,
    '(CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS TEXT))',
    changed
      .filter(({ old, content }) => old.at !== content.at || old.redactor !== content.redactor)
      .map(({ content: { id, at, redactor } }) => [id, at, redactor]),
    (list) =>
      `WITH changed (id, at, redactor) AS (VALUES ${list})
       UPDATE content SET at = changed.at, redactor = changed.redactor FROM changed WHERE content.id = changed.id`,
  );
  await insert(context, created);
  await runBatches(
    sql,
    '(?, ?, ?, ?, ?, ?)',
    after.flatMap(({ id, key, check }): SqlValue[][] =>
      check === null || sameJson(check, stored.get(id)?.check)
        ? []
        : [[id, context.organization, check.source, key, check.id, check.at]],
    ),
    (list) =>
      `INSERT INTO recheck (content, organization, source, key, id, at) VALUES ${list}
       ON CONFLICT (content) DO UPDATE SET id = excluded.id, at = excluded.at`,
  );
  const sum = (contents: readonly PlannedContent[]) => contents.reduce((total, { bytes }) => total + bytes, 0);
  return { items: created.length - removed.length, bytes: sum(created) - sum(removed) };
}

/** Stores new content. Content that is to be checked gets its id. */
async function insert({ sql, organization }: OutboxSql, created: readonly PlannedContent[]): Promise<void> {
  const checked = new Map(created.filter((each) => each.check !== null).map((content) => [content.key, content]));
  const returning = checked.size > 0 ? ' RETURNING id, key' : '';
  const rows = await runBatches<{ id: number; key: string }>(
    sql,
    "(?, ?, 'waiting', ?, ?, ?, ?, ?, ?, ?)",
    created.map(({ key, source, hash, redactor, bytes, since, at, payload }): SqlValue[] => [
      ...[organization, key, source, hash, redactor, bytes, since, at, payload],
    ]),
    (list) =>
      `INSERT INTO content (organization, key, state, source, hash, redactor, bytes, since, at, payload)
       VALUES ${list}${returning}`,
  );
  for (const { id, key } of rows) {
    Object.assign(checked.get(key) ?? {}, { id });
  }
}

/** Check of content at its source. `at` is null once it was made. */
interface ContentCheck {
  readonly source: string;
  /** Id at the source. */
  readonly id: string;
  readonly at: number | null;
}

/** Content of a key, as it is stored or as this deposit stores it. */
interface PlannedContent {
  /** Null: this deposit stores it. */
  id: number | null;
  readonly key: string;
  readonly source: string;
  readonly hash: string;
  redactor: string;
  readonly bytes: number;
  readonly since: number;
  at: number;
  replaced: boolean;
  check: ContentCheck | null;
  /** Null: it is stored and was not read. */
  readonly payload: string | null;
}

/** Content of one key in each state, and the hashes of content that was sent or dismissed before. */
interface KeyContent extends Partial<Record<ContentState, PlannedContent>> {
  readonly sent?: string | null;
  readonly dismissed?: string | null;
}

type KeyContents = Map<string, KeyContent>;

type DepositOutcome = 'waiting' | 'unchanged' | 'confirmed' | 'withdrawn' | 'nothing';

class DepositPlan {
  /** Contents after the deposit. New ones are in the order in which they will be sent. */
  readonly keys: KeyContents;
  readonly #deposit: Deposit;

  /** `keys` has what is stored of each key of the deposit. */
  constructor(deposit: Deposit, keys: KeyContents) {
    this.#deposit = deposit;
    this.keys = keys;
  }

  take(content: NewContent): DepositOutcome {
    const { key, hash, redactor } = content;
    const notBefore = Math.ceil(content.notBefore ?? 0);
    const known = this.#of(key);
    const { waiting, sending, dead } = known;
    if (waiting?.hash === hash) {
      // Solved again with the same text: the delay starts again.
      Object.assign(waiting, { at: Math.max(waiting.at, notBefore), redactor });
      return this.#requireCheck(waiting, content, waiting.at) ? 'confirmed' : 'unchanged';
    }
    if (sending !== undefined) {
      sending.replaced = sending.hash !== hash;
    }
    const isDead = sending === undefined && dead?.hash === hash;
    // Content that the platform has, or will have once the response arrives.
    const arrives = (sending?.hash ?? known.sent) === hash;
    delete known.waiting;
    if (!isDead) {
      delete known.dead;
    }
    if (arrives || isDead || known.dismissed === hash) {
      return 'unchanged';
    }
    known.waiting = this.#create(content, notBefore, waiting?.since);
    this.#requireCheck(known.waiting, content, notBefore);
    this.keys.delete(key);
    this.keys.set(key, known);
    return 'waiting';
  }

  /** Content that may have been sent cannot be withdrawn; if it was not sent, it is not sent again. */
  withdraw(key: string): DepositOutcome {
    const known = this.#of(key);
    const isWithdrawn = known.waiting !== undefined;
    if (known.sending !== undefined) {
      known.sending.replaced = true;
    }
    delete known.waiting;
    delete known.dead;
    return isWithdrawn ? 'withdrawn' : 'nothing';
  }

  /**
   * Records that the content due at the time of the request to the source was checked, even if the source asks for more
   * checks. Returns its number.
   */
  settleCheck(key: string): number {
    const { source, at, lookedAt = at } = this.#deposit;
    const { waiting, sending, dead } = this.#of(key);
    let settled = 0;
    for (const content of [waiting, sending, dead]) {
      const check = content?.check ?? null;
      if (content !== undefined && check?.source === source && check.at !== null && check.at <= lookedAt) {
        content.check = { ...check, at: null };
        settled += 1;
      }
    }
    return settled;
  }

  #of(key: string): KeyContent {
    return this.keys.get(key) ?? {};
  }

  /** `since`: time since which older content of this key waits. */
  #create({ key, hash, redactor, payload }: NewContent, notBefore: number, since = this.#deposit.at): PlannedContent {
    return {
      id: null,
      key,
      source: this.#deposit.source,
      hash,
      redactor,
      payload,
      bytes: Buffer.byteLength(payload),
      since,
      at: Math.max(since, notBefore),
      replaced: false,
      check: null,
    };
  }

  /**
   * Schedules the check of content at the end of its delay, at `at`. Returns true if this deposit was that check: it
   * was made after the delay had ended.
   */
  #requireCheck(content: PlannedContent, { recheck }: NewContent, at: number): boolean {
    if (recheck === undefined) {
      return false;
    }
    const { source, at: now, lookedAt = now } = this.#deposit;
    const isOver = at <= lookedAt;
    content.check = { source: content.check?.source ?? source, id: recheck, at: isOver ? null : at };
    return isOver;
  }
}

/** Entry of a deposit, whose thread was composed. */
interface ResolvedEntry {
  /** Null: no conversation, as no customer wrote any of the mails. */
  readonly entry: NewContent | Withdrawal | null;
  /** Keys of threads that turned out to be that of the entry and were merged into it. */
  readonly merged: readonly string[];
}

type MailEntry = NewContent & { readonly thread: ThreadAddition };

/** Adds the mails of entries to their threads, and replaces these entries with the resulting conversations. */
async function addMails(
  context: OutboxSql,
  entries: readonly (NewContent | Withdrawal)[],
): Promise<readonly ResolvedEntry[]> {
  const mails = entries.filter(isMail);
  if (mails.length === 0) {
    return entries.map((entry) => ({ entry, merged: [] }));
  }
  const book = await readThreads(context, mails);
  const resolved = entries.map((entry): ResolvedEntry => {
    if (!isMail(entry)) {
      return { entry, merged: [] };
    }
    const { key, mails: all, merged } = book.add(entry.key, entry.thread);
    const whole = entry.thread.compose(key, all);
    return { entry: whole === null ? null : { ...entry, ...whole, key }, merged };
  });
  await writeThreads(context, book);
  return resolved;
}

function isMail(entry: NewContent | Withdrawal): entry is MailEntry {
  return entry.kind === 'content' && entry.thread !== undefined;
}

async function readThreads({ sql, organization }: OutboxSql, entries: readonly MailEntry[]): Promise<ThreadBook> {
  const ids = [...new Set(entries.flatMap(({ thread }) => thread.links))];
  const links = await sql.all<{ id: string; thread: string }>(
    `SELECT id, thread FROM mail_link WHERE organization = ? AND ${inTexts(sql, 'id')}`,
    ...[organization, JSON.stringify(ids)],
  );
  const linked = new Map(links.map(({ id, thread }) => [id, thread]));
  const threads = JSON.stringify([...new Set([...linked.values(), ...entries.map(({ key }) => key)])]);
  const sent = await sql.all<{ key: string }>(
    `SELECT key FROM conversation WHERE organization = ? AND sent IS NOT NULL AND ${inTexts(sql, 'key')}`,
    ...[organization, threads],
  );
  const mails = await sql.all<ThreadMail & { readonly thread: string }>(
    `SELECT thread, id, at, role, subject, body FROM mail WHERE organization = ? AND ${inTexts(sql, 'thread')}`,
    ...[organization, threads],
  );
  return new ThreadBook(linked, new Set(sent.map(({ key }) => key)), mails);
}

async function writeThreads({ sql, organization }: OutboxSql, book: ThreadBook): Promise<void> {
  if (book.merges.size > 0) {
    await sql.run(
      `DELETE FROM mail WHERE organization = ? AND ${inTexts(sql, 'thread')}`,
      ...[organization, JSON.stringify([...book.merges.keys()])],
    );
  }
  await runBatches(
    sql,
    '(CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT))',
    [...book.merges].map(([source, target]) => [organization, source, target]),
    (list) =>
      `WITH merged (owner, source, target) AS (VALUES ${list})
       UPDATE mail_link SET thread = merged.target FROM merged WHERE organization = owner AND thread = merged.source`,
  );
  await insertNewRows(sql, {
    table: 'mail_link',
    key: ['organization', 'id'],
    columns: ['thread'],
    rows: book.newLinks().map(([id, thread]) => [organization, id, thread]),
  });
  await upsertRows(sql, {
    table: 'mail',
    key: ['organization', 'thread', 'id'],
    columns: ['at', 'role', 'subject', 'body'],
    rows: book
      .changedMails()
      .map(([thread, { id, at, role, subject, body }]) => [organization, thread, id, at, role, subject, body]),
  });
}

/** Maximum mails of one thread; later ones are dropped, so that the cost of a thread is bounded. */
const MAX_MAILS = 500;

/** Thread after mails were added to it. */
interface GrownThread {
  /** Key of the conversation, which never changes. */
  readonly key: string;
  /** Sorted by date. */
  readonly mails: readonly ThreadMail[];
  /** Keys of threads that turned out to be this one and were merged into it. */
  readonly merged: readonly string[];
}

class ThreadBook {
  /** Thread into which each stored thread was merged. */
  readonly merges = new Map<string, string>();
  readonly #stored: ReadonlyMap<string, string>;
  readonly #sent: ReadonlySet<string>;
  readonly #links: Map<string, string>;
  readonly #mails = new Map<string, Map<string, ThreadMail>>();
  /** Ids of new and changed mails by thread. */
  readonly #changed = new Map<string, Set<string>>();

  /** `links`: thread of each stored message id; `sent`: threads whose conversation was sent. */
  constructor(
    links: ReadonlyMap<string, string>,
    sent: ReadonlySet<string>,
    mails: readonly (ThreadMail & { readonly thread: string })[],
  ) {
    this.#stored = links;
    this.#sent = sent;
    this.#links = new Map(links);
    for (const { thread, ...mail } of mails) {
      this.#of(thread).set(mail.id, mail);
    }
  }

  /** Adds mails to the thread that one of their message ids belongs to; `key` is used for a new thread. */
  add(key: string, { mails, links, redactAgain }: ThreadAddition): GrownThread {
    const known = [...new Set(links.flatMap((id) => this.#links.get(id) ?? []))].sort();
    const own = known.find((each) => this.#sent.has(each)) ?? known[0] ?? key;
    const merged = known.filter((each) => each !== own);
    for (const other of merged) {
      this.#merge(other, own);
    }
    for (const id of links) {
      this.#links.set(id, own);
    }
    const added = new Set(mails.map(({ id }) => id));
    const thread = this.#of(own);
    // Earlier mails may name the people of these mails, who were unknown when they were redacted.
    for (const mail of thread.values()) {
      const again = added.has(mail.id)
        ? mail
        : { ...mail, subject: redactAgain(mail.subject), body: redactAgain(mail.body) };
      if (again.subject !== mail.subject || again.body !== mail.body) {
        this.#keep(own, again);
      }
    }
    for (const mail of mails) {
      if (thread.has(mail.id) || thread.size < MAX_MAILS) {
        this.#keep(own, mail);
      }
    }
    return { key: own, mails: [...thread.values()].sort(byDate), merged };
  }

  newLinks(): readonly (readonly [id: string, thread: string])[] {
    return [...this.#links].filter(([id]) => !this.#stored.has(id));
  }

  /** Returns mails to store, with their threads. */
  changedMails(): readonly (readonly [thread: string, mail: ThreadMail])[] {
    return [...this.#changed].flatMap(([thread, ids]) =>
      [...ids].map((id) => [thread, this.#of(thread).get(id) as ThreadMail] as const),
    );
  }

  #merge(other: string, own: string): void {
    const thread = this.#of(own);
    for (const mail of this.#of(other).values()) {
      if (!thread.has(mail.id)) {
        this.#keep(own, mail);
      }
    }
    this.#mails.delete(other);
    this.#changed.delete(other);
    for (const links of [this.#links, this.merges]) {
      for (const [id, thread] of links) {
        if (thread === other) {
          links.set(id, own);
        }
      }
    }
    if (!this.merges.has(other)) {
      this.merges.set(other, own);
    }
  }

  #of(thread: string): Map<string, ThreadMail> {
    const mails = this.#mails.get(thread) ?? new Map<string, ThreadMail>();
    this.#mails.set(thread, mails);
    return mails;
  }

  #keep(thread: string, mail: ThreadMail): void {
    this.#of(thread).set(mail.id, mail);
    const changed = this.#changed.get(thread) ?? new Set();
    this.#changed.set(thread, changed.add(mail.id));
  }
}

/** Mails without a date come last. */
function byDate(a: ThreadMail, b: ThreadMail): number {
  const order = (a.at ?? Number.POSITIVE_INFINITY) - (b.at ?? Number.POSITIVE_INFINITY);
  return order || (a.id < b.id ? -1 : 1);
}
