/** Conversations that arrive as single mails: the redacted mails of each thread, and its message ids. */
import { insertNewRows, inTexts, rowBatches, upsertRows } from '../sql/database.ts';
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
  const links = await sql.all(
    `SELECT id, thread FROM mail_link WHERE organization = ? AND ${inTexts(sql, 'id')}`,
    ...[organization, JSON.stringify(ids)],
  );
  const linked = new Map(links.map(({ id, thread }) => [String(id), String(thread)]));
  const threads = JSON.stringify([...new Set([...linked.values(), ...entries.map(({ key }) => key)])]);
  const sent = await sql.all(
    `SELECT key FROM conversation WHERE organization = ? AND sent IS NOT NULL AND ${inTexts(sql, 'key')}`,
    ...[organization, threads],
  );
  const mails = await sql.all(
    `SELECT thread, id, at, role, subject, body FROM mail WHERE organization = ? AND ${inTexts(sql, 'thread')}`,
    ...[organization, threads],
  );
  return new ThreadBook({
    links: linked,
    sent: new Set(sent.map(({ key }) => String(key))),
    mails: mails.map(({ thread, id, at, role, subject, body }) => ({
      thread: String(thread),
      mail: {
        id: String(id),
        at: at === null ? null : Number(at),
        role: String(role),
        subject: String(subject),
        body: String(body),
      } satisfies ThreadMail,
    })),
  });
}

async function write({ sql, organization }: OutboxSql, book: ThreadBook): Promise<void> {
  if (book.merges.size > 0) {
    await sql.run(
      `DELETE FROM mail WHERE organization = ? AND ${inTexts(sql, 'thread')}`,
      ...[organization, JSON.stringify([...book.merges.keys()])],
    );
  }
  for (const { list, values } of rowBatches('(CAST(? AS TEXT), CAST(? AS TEXT))', [...book.merges])) {
    await sql.run(
      `WITH merged (source, target) AS (VALUES ${list})
       UPDATE mail_link SET thread = merged.target FROM merged WHERE organization = ? AND thread = merged.source`,
      ...[...values, organization],
    );
  }
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

interface StoredThreads {
  /** Thread of each message id. */
  readonly links: ReadonlyMap<string, string>;
  /** Threads whose conversation was sent. */
  readonly sent: ReadonlySet<string>;
  readonly mails: readonly { readonly thread: string; readonly mail: ThreadMail }[];
}

class ThreadBook {
  /** Thread into which each stored thread was merged. */
  readonly merges = new Map<string, string>();
  readonly #stored: StoredThreads;
  readonly #links: Map<string, string>;
  readonly #mails = new Map<string, Map<string, ThreadMail>>();
  /** Ids of new and changed mails by thread. */
  readonly #changed = new Map<string, Set<string>>();

  constructor(stored: StoredThreads) {
    this.#stored = stored;
    this.#links = new Map(stored.links);
    for (const { thread, mail } of stored.mails) {
      this.#of(thread).set(mail.id, mail);
    }
  }

  /** Adds mails to the thread that one of their message ids belongs to; `key` is used for a new thread. */
  add(key: string, { mails, links, redactAgain }: ThreadAddition): GrownThread {
    const known = [...new Set(links.flatMap((id) => this.#links.get(id) ?? []))].sort();
    const own = known.find((each) => this.#stored.sent.has(each)) ?? known[0] ?? key;
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
    return [...this.#links].filter(([id]) => !this.#stored.links.has(id));
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
