/** What a mail's header says of its place in a thread; read without the rest of the mail. */
export interface MailThreading {
  /** Its own Message-ID, with its angle brackets; empty where it has none. */
  readonly id: string;
  /** The mails before it, the oldest first. */
  readonly parents: readonly string[];
  /** Milliseconds since the epoch; null where it has no date. */
  readonly at: number | null;
}

/** Lines of a header that matter, and as much of each as is read. */
const WANTED = /^(message-id|references|in-reply-to|date):/i;
const LONGEST_VALUE = 64 * 1024;
/** As many mails before it as are kept: the first, which names the thread, and the latest, which join it. */
const MOST_PARENTS = 100;
const MESSAGE_ID = /<[^<>\s]{1,1000}>/g;

/** Takes a header line by line. */
export class HeaderReader {
  readonly #values = new Map<string, string>();
  #name = '';
  /** False once the empty line was read. */
  isOpen = true;

  push(line: Buffer | null): void {
    if (line === null) {
      this.#name = '';
      return;
    }
    if (line.length === 0) {
      this.isOpen = false;
      return;
    }
    const text = line.toString('latin1', 0, Math.min(line.length, LONGEST_VALUE));
    if (/^[ \t]/.test(text)) {
      this.#add(this.#name, text);
      return;
    }
    this.#name = WANTED.exec(text)?.[1]?.toLowerCase() ?? '';
    // The first of a name counts.
    this.#name = this.#values.has(this.#name) ? '' : this.#name;
    this.#add(this.#name, text.slice(this.#name.length + 1));
  }

  #add(name: string, text: string): void {
    const value = this.#values.get(name) ?? '';
    if (name !== '' && value.length < LONGEST_VALUE) {
      this.#values.set(name, `${value} ${text.trim()}`);
    }
  }

  /** References name all that came before, In-Reply-To only the last (RFC 5322, section 3.6.4). */
  threading(): MailThreading {
    const ids = (name: string) => (this.#values.get(name)?.match(MESSAGE_ID) ?? []).map(copyOf);
    const references = ids('references');
    const kept =
      references.length > MOST_PARENTS
        ? [...references.slice(0, 1), ...references.slice(1 - MOST_PARENTS)]
        : references;
    const at = Date.parse((this.#values.get('date') ?? '').replace(/\([^()]*\)/g, '').trim());
    return {
      id: ids('message-id')[0] ?? '',
      parents: references.length > 0 ? kept : ids('in-reply-to').slice(0, 1),
      at: Number.isNaN(at) ? null : at,
    };
  }
}

/** A part of a string keeps the whole of it in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
