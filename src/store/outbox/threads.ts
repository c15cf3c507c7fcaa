/** Conversations that arrive as single mails: the redacted mails of each thread, and its message ids. */
import { insertNewRows, upsertRows } from '../sql/inserts.ts';
import { rowBatches } from '../sql/row-batches.ts';
import type { NewContent, ThreadAddition, ThreadMail, Withdrawal } from './outbox.ts';
import { inTexts, type OutboxSql } from './tables.ts';
import { ThreadBook } from './thread-book.ts';

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
    ...{ table: 'mail_link', key: ['organization', 'id'], columns: ['thread'] },
    rows: book.newLinks().map(([id, thread]) => [organization, id, thread]),
  });
  await upsertRows(sql, {
    ...{ table: 'mail', key: ['organization', 'thread', 'id'], columns: ['at', 'role', 'subject', 'body'] },
    rows: book
      .changedMails()
      .map(([thread, { id, at, role, subject, body }]) => [organization, thread, id, at, role, subject, body]),
  });
}
