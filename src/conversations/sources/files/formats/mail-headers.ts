import { parseTimestamp } from './dates.ts';

/** Position of a mail in a thread, from its header only. */
export interface MailThreading {
  /** Message-ID with its angle brackets; empty if it has none. */
  readonly id: string;
  /** Message ids of the earlier mails, oldest first. */
  readonly parents: readonly string[];
  /** Milliseconds since the epoch; null without a date. */
  readonly at: number | null;
}

/** Header fields that are read, and the maximum length of each. */
const WANTED = /^(message-id|references|in-reply-to|date):/i;
const MAX_VALUE_LENGTH = 64 * 1024;
/**
 * Maximum number of earlier mails to keep: the first one, which identifies the thread, and the latest, which connect
 * it.
 */
const MAX_PARENTS = 100;
const MESSAGE_ID = /<[^<>\s]{1,1000}>/g;

/** Reads a header line by line. */
export class HeaderReader {
  readonly #values = new Map<string, string>();
  #name = '';
  /** False after the empty line. */
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
    const text = line.toString('latin1', 0, Math.min(line.length, MAX_VALUE_LENGTH));
    if (/^[ \t]/.test(text)) {
      this.#add(this.#name, text);
      return;
    }
    this.#name = WANTED.exec(text)?.[1]?.toLowerCase() ?? '';
    // The first field of a name counts.
    this.#name = this.#values.has(this.#name) ? '' : this.#name;
    this.#add(this.#name, text.slice(this.#name.length + 1));
  }

  #add(name: string, text: string): void {
    const value = this.#values.get(name) ?? '';
    if (name !== '' && value.length < MAX_VALUE_LENGTH) {
      this.#values.set(name, `${value} ${text.trim()}`);
    }
  }

  /**
   * Returns the threading: References contains all earlier mails, In-Reply-To only the last (RFC 5322, section 3.6.4).
   */
  threading(): MailThreading {
    const ids = (name: string) => (this.#values.get(name)?.match(MESSAGE_ID) ?? []).map(copyOf);
    const references = ids('references');
    const kept =
      references.length > MAX_PARENTS ? [...references.slice(0, 1), ...references.slice(1 - MAX_PARENTS)] : references;
    return {
      id: ids('message-id')[0] ?? '',
      parents: references.length > 0 ? kept : ids('in-reply-to').slice(0, 1),
      at: parseTimestamp(this.#values.get('date')?.replace(/\([^()]*\)/g, '')),
    };
  }
}

/** Copies a string: a substring keeps the whole string in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
