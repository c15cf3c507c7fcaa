/** Deposits: decides in memory what they change, and stores it with few statements for many entries. */
import { inNumbers, inTexts, runBatches, type SqlValue } from '../sql/database.ts';
import type { Deposit, Kept, NewContent, OutboxLimit, ProcessedChange } from './outbox.ts';
import {
  addCounts,
  type ContentState,
  changeStored,
  deleteContent,
  isFull,
  type OutboxSql,
  readPosition,
  readStored,
  rememberDelivery,
} from './tables.ts';
import { addMails, type ResolvedEntry } from './threads.ts';

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
  await addCounts(context, source, { ...deposit.counts, unchanged, withdrawn, queued: waiting });
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
  const store = async (entries: readonly ResolvedEntry[], rechecked: readonly string[] = []) => {
    const keys = entries.flatMap(({ entry, merged }) => (entry === null ? merged : [entry.key, ...merged]));
    const plan = new DepositPlan(deposit, await readKeys(context, [...new Set([...keys, ...rechecked])]));
    for (const resolved of entries) {
      outcomes[settle(plan, resolved)] += 1;
    }
    settleRechecked(plan, deposit, rechecked, outcomes);
    await write(context, plan);
    const { items, bytes } = plan.growth();
    growth.items += items;
    growth.bytes += bytes;
  };
  const parts = partsOf(deposit.entries);
  for (const [index, part] of parts.entries()) {
    await store(await addMails(context, part), index === parts.length - 1 ? deposit.rechecked : []);
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
async function readKeys({ sql, organization }: OutboxSql, keys: readonly string[]): Promise<Map<string, KeyContent>> {
  if (keys.length === 0) {
    return new Map();
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
  const byKey = new Map<string, KeyContent>(known.map(({ key, ...hashes }) => [key, hashes]));
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

async function write(context: OutboxSql, plan: DepositPlan): Promise<void> {
  const { sql, organization } = context;
  const { created, removed, postponed, replaced, checked } = plan;
  const idsOf = (contents: Iterable<PlannedContent>) => JSON.stringify([...contents].map(({ id }) => id));
  if (removed.size > 0) {
    await deleteContent(context, inNumbers(sql, 'id'), idsOf(removed));
  }
  for (const isReplaced of [false, true]) {
    const changed = [...replaced].filter((content) => content.replaced === isReplaced);
    if (changed.length > 0) {
      await sql.run(
        `UPDATE content SET replaced = ${isReplaced ? 1 : 0} WHERE ${inNumbers(sql, 'id')}`,
        idsOf(changed),
      );
    }
  }
  await runBatches(
    sql,
    '(CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS TEXT))',
    [...postponed].filter(({ id }) => id !== null).map(({ id, at, redactor }) => [id, at, redactor]),
    (list) =>
      `WITH changed (id, at, redactor) AS (VALUES ${list})
       UPDATE content SET at = changed.at, redactor = changed.redactor FROM changed WHERE content.id = changed.id`,
  );
  await insert(context, [...created]);
  await runBatches(
    sql,
    '(?, ?, ?, ?, ?, ?)',
    [...checked].map((content): SqlValue[] => {
      const { source, id, at } = content.check as ContentCheck;
      return [content.id, organization, source, content.key, id, at];
    }),
    (list) =>
      `INSERT INTO recheck (content, organization, source, key, id, at) VALUES ${list}
       ON CONFLICT (content) DO UPDATE SET id = excluded.id, at = excluded.at`,
  );
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

type DepositOutcome = 'waiting' | 'unchanged' | 'confirmed' | 'withdrawn' | 'nothing';

class DepositPlan {
  /** In the order in which it will be sent. */
  readonly created = new Set<PlannedContent>();
  readonly removed = new Set<PlannedContent>();
  /** Content that is due at another time, or was redacted by another version. */
  readonly postponed = new Set<PlannedContent>();
  /** Content that is being sent, and is or is not replaced by newer content now. */
  readonly replaced = new Set<PlannedContent>();
  /** Content with a new or changed check. */
  readonly checked = new Set<PlannedContent>();
  readonly #deposit: Deposit;
  readonly #keys: Map<string, KeyContent>;

  /** `keys` has what is stored of each key of the deposit. */
  constructor(deposit: Deposit, keys: Map<string, KeyContent>) {
    this.#deposit = deposit;
    this.#keys = keys;
  }

  /** Returns the difference to the amount of stored content. */
  growth(): OutboxLimit {
    const sum = (contents: Iterable<PlannedContent>) => [...contents].reduce((total, { bytes }) => total + bytes, 0);
    return { items: this.created.size - this.removed.size, bytes: sum(this.created) - sum(this.removed) };
  }

  take(content: NewContent): DepositOutcome {
    const { hash, redactor } = content;
    const notBefore = Math.ceil(content.notBefore ?? 0);
    const known = this.#of(content.key);
    const { waiting, sending, dead } = known;
    if (waiting?.hash === hash) {
      // Solved again with the same text: the delay starts again.
      this.#postpone(waiting, Math.max(waiting.at, notBefore), redactor);
      return this.#requireCheck(waiting, content, waiting.at) ? 'confirmed' : 'unchanged';
    }
    if (sending !== undefined) {
      this.#replace(sending, sending.hash !== hash);
    }
    const isDead = sending === undefined && dead?.hash === hash;
    // Content that the platform has, or will have once the response arrives.
    const arrives = (sending?.hash ?? known.sent) === hash;
    this.#remove(known, 'waiting');
    if (!isDead) {
      this.#remove(known, 'dead');
    }
    if (arrives || isDead || known.dismissed === hash) {
      return 'unchanged';
    }
    known.waiting = this.#create(content, notBefore, waiting?.since);
    this.#requireCheck(known.waiting, content, notBefore);
    return 'waiting';
  }

  /** Content that may have been sent cannot be withdrawn; if it was not sent, it is not sent again. */
  withdraw(key: string): DepositOutcome {
    const known = this.#of(key);
    const isWithdrawn = known.waiting !== undefined;
    if (known.sending !== undefined) {
      this.#replace(known.sending, true);
    }
    this.#remove(known, 'waiting');
    this.#remove(known, 'dead');
    return isWithdrawn ? 'withdrawn' : 'nothing';
  }

  /**
   * Records that the content due at the time of the request to the source was checked, even if the source asks for more
   * checks. Returns its number.
   */
  settleCheck(key: string): number {
    const { source, at, lookedAt = at } = this.#deposit;
    const { waiting, sending, dead } = this.#of(key);
    const due = [waiting, sending, dead].filter((each) => {
      const check = each?.check;
      return check?.source === source && check.at !== null && check.at <= lookedAt;
    }) as PlannedContent[];
    for (const content of due) {
      this.#check(content, { ...(content.check as ContentCheck), at: null });
    }
    return due.length;
  }

  #of(key: string): KeyContent {
    const known = this.#keys.get(key) ?? {};
    this.#keys.set(key, known);
    return known;
  }

  /** `since`: time since which older content of this key waits. */
  #create({ key, hash, redactor, payload }: NewContent, notBefore: number, since = this.#deposit.at): PlannedContent {
    const created = {
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
    this.created.add(created);
    return created;
  }

  #remove(known: KeyContent, state: 'waiting' | 'dead'): void {
    const content = known[state];
    if (content === undefined) {
      return;
    }
    delete known[state];
    this.checked.delete(content);
    this.postponed.delete(content);
    if (!this.created.delete(content)) {
      this.removed.add(content);
    }
  }

  #postpone(content: PlannedContent, at: number, redactor: string): void {
    if (content.at !== at || content.redactor !== redactor) {
      Object.assign(content, { at, redactor });
      this.postponed.add(content);
    }
  }

  #replace(content: PlannedContent, replaced: boolean): void {
    if (content.replaced !== replaced) {
      content.replaced = replaced;
      this.replaced.add(content);
    }
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
    this.#check(content, { source: content.check?.source ?? source, id: recheck, at: isOver ? null : at });
    return isOver;
  }

  #check(content: PlannedContent, check: ContentCheck): void {
    content.check = check;
    this.checked.add(content);
  }
}
