/** Conversations that arrive as single mails: the redacted mails of each thread, and its message ids. */
import type { StatementSync } from 'node:sqlite';
import type { ThreadAddition, ThreadMail } from './outbox.ts';
import type { OutboxTables } from './tables.ts';

/** Maximum mails of one thread; later ones are dropped, so that the cost of a thread is bounded. */
const MAX_MAILS = 500;

/** Thread after mails were added to it. */
export interface GrownThread {
  /** Key of the conversation, which never changes. */
  readonly key: string;
  /** Sorted by date. */
  readonly mails: readonly ThreadMail[];
  /** Keys of threads that turned out to be this one and were merged into it. */
  readonly merged: readonly string[];
}

export class ThreadTables {
  readonly #organization: string;
  readonly #threadOf: StatementSync;
  readonly #link: StatementSync;
  readonly #relink: StatementSync;
  readonly #mails: StatementSync;
  readonly #put: StatementSync;
  readonly #move: StatementSync;
  readonly #dropMoved: StatementSync;
  readonly #isSent: StatementSync;

  constructor({ database, organization }: OutboxTables) {
    this.#organization = organization;
    this.#threadOf = database.prepare('SELECT thread FROM mail_link WHERE organization = ? AND id = ?');
    this.#link = database.prepare('INSERT OR IGNORE INTO mail_link VALUES (?, ?, ?)');
    this.#relink = database.prepare('UPDATE mail_link SET thread = ? WHERE organization = ? AND thread = ?');
    this.#mails = database.prepare(`SELECT id, at, role, subject, body FROM mail
      WHERE organization = ? AND thread = ? ORDER BY at IS NULL, at, id`);
    this.#put = database.prepare('INSERT OR REPLACE INTO mail VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#move = database.prepare('UPDATE OR IGNORE mail SET thread = ? WHERE organization = ? AND thread = ?');
    this.#dropMoved = database.prepare('DELETE FROM mail WHERE organization = ? AND thread = ?');
    this.#isSent = database.prepare(`SELECT 1 FROM conversation
      WHERE organization = ? AND key = ? AND sent IS NOT NULL`);
  }

  /** Adds mails to the thread that one of their message ids belongs to; `key` is used for a new thread. */
  add(key: string, { mails, links, redactAgain }: ThreadAddition): GrownThread {
    const known = [...new Set(links.flatMap((id) => this.#lookUp(id)))].sort();
    const own = known.find((each) => this.#isSent.get(this.#organization, each) !== undefined) ?? known[0] ?? key;
    const merged = known.filter((each) => each !== own);
    for (const other of merged) {
      this.#move.run(own, this.#organization, other);
      this.#dropMoved.run(this.#organization, other);
      this.#relink.run(own, this.#organization, other);
    }
    for (const id of links) {
      this.#link.run(this.#organization, id, own);
    }
    const added = new Set(mails.map(({ id }) => id));
    const before = this.#of(own);
    // Earlier mails may name the people of these mails, who were unknown when they were redacted.
    for (const mail of before.filter(({ id }) => !added.has(id))) {
      const again = { ...mail, subject: redactAgain(mail.subject), body: redactAgain(mail.body) };
      if (again.subject !== mail.subject || again.body !== mail.body) {
        this.#keep(own, again);
      }
    }
    const isKnown = new Set(before.map(({ id }) => id));
    let room = MAX_MAILS - before.length;
    for (const mail of mails) {
      room -= isKnown.has(mail.id) ? 0 : 1;
      if (room >= 0 || isKnown.has(mail.id)) {
        this.#keep(own, mail);
      }
    }
    return { key: own, mails: this.#of(own), merged };
  }

  #lookUp(id: string): readonly string[] {
    const row = this.#threadOf.get(this.#organization, id);
    return row === undefined ? [] : [String(row.thread)];
  }

  #of(thread: string): readonly ThreadMail[] {
    return this.#mails.all(this.#organization, thread).map((row) => ({
      id: String(row.id),
      at: row.at === null ? null : Number(row.at),
      role: String(row.role),
      subject: String(row.subject),
      body: String(row.body),
    }));
  }

  #keep(thread: string, { id, at, role, subject, body }: ThreadMail): void {
    this.#put.run(this.#organization, thread, id, at, role, subject, body);
  }
}
