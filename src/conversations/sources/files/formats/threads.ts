import { createHash } from 'node:crypto';
import type { MailThreading } from './mail-headers.ts';

/** Position and threading of a mail in its file. */
export interface Envelope {
  /** Number of its first line, from 1. */
  readonly line: number;
  /** In bytes. */
  readonly start: number;
  readonly end: number;
  readonly threading: MailThreading;
}

export interface MailThread {
  /** Message-ID of its first mail, which may be in another file; a unique value if there is none. */
  readonly root: string;
  /** By date. */
  readonly mails: readonly Envelope[];
}

/**
 * Groups mails into threads by References, or else In-Reply-To; subjects do not count. References may be incomplete,
 * out of order or circular.
 */
export function threadsOf(mails: readonly Envelope[]): MailThread[] {
  const sets = new DisjointSets();
  mails.forEach(({ threading }, index) => {
    const own = setName(threading, index);
    for (const parent of threading.parents) {
      sets.join(own, digest(parent));
    }
  });
  const threads = new Map<string, Envelope[]>();
  mails.forEach((mail, index) => {
    const set = sets.find(setName(mail.threading, index));
    const thread = threads.get(set);
    if (thread === undefined) {
      threads.set(set, [mail]);
    } else {
      thread.push(mail);
    }
  });
  return [...threads.values()].map((thread) => {
    const sorted = thread.toSorted(byDate);
    return { root: rootOf(sorted[0]?.threading), mails: sorted };
  });
}

function setName({ id }: MailThreading, index: number): string {
  return id === '' ? `#${index}` : digest(id);
}

/** Hashes an id: ids may be long, and there are many. */
function digest(id: string): string {
  return createHash('sha256').update(id).digest('base64').slice(0, 16);
}

function byDate(a: Envelope, b: Envelope): number {
  const [x, y] = [a.threading.at ?? Number.POSITIVE_INFINITY, b.threading.at ?? Number.POSITIVE_INFINITY];
  if (x !== y) {
    return x < y ? -1 : 1;
  }
  // The result does not depend on the order of the mails.
  return a.threading.id < b.threading.id ? -1 : a.threading.id > b.threading.id ? 1 : a.start - b.start;
}

function rootOf(first: MailThreading | undefined): string {
  return first?.parents[0] ?? first?.id ?? '';
}

/** Union-find with path halving. */
class DisjointSets {
  readonly #parents = new Map<string, string>();

  find(name: string): string {
    let at = name;
    for (let up = this.#parents.get(at); up !== undefined; up = this.#parents.get(at)) {
      const above = this.#parents.get(up);
      if (above !== undefined) {
        this.#parents.set(at, above);
      }
      at = above ?? up;
    }
    return at;
  }

  join(a: string, b: string): void {
    const [x, y] = [this.find(a), this.find(b)];
    if (x !== y) {
      this.#parents.set(x, y);
    }
  }
}
