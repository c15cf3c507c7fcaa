import type { StatementSync } from 'node:sqlite';
import type { Deposit, Kept, NewContent, OutboxLimit, ThreadAddition, Withdrawal } from './outbox.ts';
import type { RecheckTables } from './rechecks.ts';
import type { SourceTables } from './sources.ts';
import { CONTENT_COLUMNS, type ContentRow, type ContentState, type OutboxTables, toContent } from './tables.ts';
import type { ThreadTables } from './threads.ts';

type OfKey = Partial<Record<ContentState, ContentRow>>;
type DepositOutcome = 'waiting' | 'unchanged' | 'confirmed' | 'withdrawn' | 'nothing';

export interface DepositOptions {
  readonly sources: SourceTables;
  readonly rechecks: RecheckTables;
  readonly threads: ThreadTables;
  readonly limit: OutboxLimit;
}

/** Stores deposits. */
export class DepositTables {
  readonly #tables: OutboxTables;
  readonly #sources: SourceTables;
  readonly #rechecks: RecheckTables;
  readonly #threads: ThreadTables;
  readonly #limit: OutboxLimit;
  readonly #ofKey: StatementSync;
  readonly #known: StatementSync;
  readonly #insert: StatementSync;
  readonly #postpone: StatementSync;
  readonly #replace: StatementSync;

  constructor(tables: OutboxTables, { sources, rechecks, threads, limit }: DepositOptions) {
    const { database } = tables;
    this.#tables = tables;
    this.#sources = sources;
    this.#rechecks = rechecks;
    this.#threads = threads;
    this.#limit = limit;
    this.#ofKey = database.prepare(`SELECT ${CONTENT_COLUMNS} FROM content WHERE organization = ? AND key = ?`);
    this.#known = database.prepare('SELECT sent, dismissed FROM conversation WHERE organization = ? AND key = ?');
    this.#insert = database.prepare(`INSERT INTO content
      (organization, key, state, source, hash, redactor, bytes, since, at, payload)
      VALUES (?, ?, 'waiting', ?, ?, ?, ?, ?, ?, ?)`);
    this.#postpone = database.prepare('UPDATE content SET at = ?, redactor = ? WHERE id = ?');
    this.#replace = database.prepare('UPDATE content SET replaced = ? WHERE id = ?');
  }

  isFull(): boolean {
    const stored = this.#tables.stored();
    return stored.items >= this.#limit.items || stored.bytes >= this.#limit.bytes;
  }

  put(deposit: Deposit): Promise<Kept> {
    return this.#tables.write(
      () => this.#put(deposit),
      ({ kind }) => kind === 'kept',
    );
  }

  #put(deposit: Deposit): Kept {
    const { source, at, delivery, cursor } = deposit;
    if (cursor !== undefined && cursor.round !== this.#sources.position(source).round) {
      return { kind: 'stale' };
    }
    if (delivery && !this.#sources.remember(source, delivery, at)) {
      return { kind: 'known' };
    }
    const before = this.#tables.stored();
    const wasFull = this.isFull();
    const outcomes = this.#takeAll(deposit);
    // A deposit that needs no room, or frees some, is accepted even then, and so is content that was checked again:
    // it makes room.
    if (wasFull && deposit.rechecked === undefined && grows(before, this.#tables.stored())) {
      return { kind: 'full' };
    }
    if (cursor !== undefined) {
      this.#sources.moveCursor(source, cursor.value);
      this.#sources.changeProcessed(source, cursor.processed);
    }
    this.#sources.answer(source, deposit.handled ?? []);
    const { waiting, withdrawn, confirmed } = outcomes;
    const unchanged = outcomes.unchanged + confirmed;
    for (const [name, value] of Object.entries({ ...deposit.counts, unchanged, withdrawn, queued: waiting })) {
      this.#tables.count(source, name, value);
    }
    return { kind: 'kept', waiting, unchanged, withdrawn, confirmed };
  }

  #takeAll(deposit: Deposit): Record<DepositOutcome, number> {
    const { source, entries, rechecked = [], lookedAt = deposit.at } = deposit;
    const outcomes = { waiting: 0, unchanged: 0, confirmed: 0, withdrawn: 0, nothing: 0 };
    for (const entry of entries) {
      outcomes[this.#settle(deposit, entry)] += 1;
    }
    const keys = new Set(entries.map(({ key }) => key));
    for (const key of rechecked) {
      if (keys.has(key)) {
        // The source may report deletions by now and no longer ask for a check.
        const confirmed = this.#rechecks.settle(source, key, lookedAt);
        outcomes.unchanged -= confirmed;
        outcomes.confirmed += confirmed;
      } else {
        // It has another key now.
        outcomes[this.#withdraw(key)] += 1;
      }
    }
    return outcomes;
  }

  #settle(deposit: Deposit, entry: NewContent | Withdrawal): DepositOutcome {
    if (entry.kind !== 'content') {
      return this.#withdraw(entry.key);
    }
    return entry.thread === undefined ? this.#take(deposit, entry) : this.#grow(deposit, entry, entry.thread);
  }

  /** Adds mails to their thread and stores the resulting conversation. */
  #grow(deposit: Deposit, content: NewContent, addition: ThreadAddition): DepositOutcome {
    const { key, mails, merged } = this.#threads.add(content.key, addition);
    for (const other of merged) {
      this.#withdraw(other);
    }
    const whole = addition.compose(key, mails);
    return whole === null ? 'nothing' : this.#take(deposit, { ...content, ...whole, key });
  }

  #rowsOf(key: string): OfKey {
    const rows = this.#ofKey.all(this.#tables.organization, key).map(toContent);
    return Object.fromEntries(rows.map((row) => [row.state, row]));
  }

  #take(deposit: Deposit, content: NewContent): DepositOutcome {
    const { source, at: now } = deposit;
    const { key, hash, redactor } = content;
    const notBefore = Math.ceil(content.notBefore ?? 0);
    const { waiting, sending, dead } = this.#rowsOf(key);
    if (waiting?.hash === hash) {
      // Solved again with the same text: the delay starts again.
      const at = Math.max(waiting.at, notBefore);
      this.#postpone.run(at, redactor, waiting.id);
      return this.#mark(deposit, content, waiting.id, at) ? 'confirmed' : 'unchanged';
    }
    const known = this.#known.get(this.#tables.organization, key);
    if (sending !== undefined && sending.replaced !== (sending.hash !== hash)) {
      this.#replace.run(sending.hash === hash ? 0 : 1, sending.id);
    }
    const isDead = sending === undefined && dead?.hash === hash;
    // Content that the platform has, or will have once the response arrives.
    const arrives = (sending?.hash ?? known?.sent) === hash;
    const isUnchanged = arrives || isDead || known?.dismissed === hash;
    for (const older of [waiting, isDead ? undefined : dead]) {
      if (older !== undefined) {
        this.#tables.remove(older);
      }
    }
    if (isUnchanged) {
      return 'unchanged';
    }
    const bytes = Buffer.byteLength(content.payload);
    const at = Math.max(now, notBefore);
    const since = waiting?.since ?? now;
    const { organization } = this.#tables;
    const { lastInsertRowid: id } = this.#insert.run(
      ...[organization, key, source, hash, redactor, bytes, since, at, content.payload],
    );
    this.#tables.hold(1, bytes);
    this.#mark(deposit, content, id, notBefore);
    return 'waiting';
  }

  /**
   * Schedules the check of content at the end of its delay, at `at`. Returns true if this deposit was that check: it
   * was made after the delay had ended.
   */
  #mark({ source, at: now, lookedAt = now }: Deposit, content: NewContent, id: number | bigint, at: number): boolean {
    const { key, recheck } = content;
    if (recheck === undefined) {
      return false;
    }
    const isOver = at <= lookedAt;
    this.#rechecks.require(id, source, { key, id: recheck }, isOver ? null : at);
    return isOver;
  }

  /** Content that may have been sent cannot be withdrawn; if it was not sent, it is not sent again. */
  #withdraw(key: string): DepositOutcome {
    const { waiting, sending, dead } = this.#rowsOf(key);
    if (sending !== undefined && !sending.replaced) {
      this.#replace.run(1, sending.id);
    }
    for (const row of [waiting, dead]) {
      if (row !== undefined) {
        this.#tables.remove(row);
      }
    }
    return waiting === undefined ? 'nothing' : 'withdrawn';
  }
}

function grows(before: OutboxLimit, after: OutboxLimit): boolean {
  return after.items > before.items || after.bytes > before.bytes;
}
