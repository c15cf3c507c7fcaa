/** Conversations that arrive as single mails: the redacted mails of each thread, and its message ids. */
import { insertNewRows, inTexts, runBatches, upsertRows } from '../sql/database.ts';
import type { NewContent, ThreadAddition, ThreadMail, Withdrawal } from './outbox.ts';
import type { OutboxSql } from './tables.ts';

/** Entry of a deposit, whose thread was composed. */
export interface ResolvedEntry {
  /** Null: no conversation, as no customer wrote any of the mails. */
  readonly entry: NewContent | Withdrawal | null;
  /** Keys of threads that turned out to be that of the entry and were merged into it. */
  readonly merged: readonly string[];
}

type MailEntry = NewContent & { readonly thread: ThreadAddition };

/** Adds the mails of entries to their threads, and replaces these entries with the resulting conversations. */
export async function addMails(
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
  await write(context, book);
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

async function write({ sql, organization }: OutboxSql, book: ThreadBook): Promise<void> {
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
