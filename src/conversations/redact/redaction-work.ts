// Tickets that are being redacted: those of several calls, in parts that threads take in turn.
import type { Redactor, Ticket } from '../model/ticket.ts';

/** Redacted ticket, or the name of the error: its message may quote the ticket. */
export type RedactionResult = ReturnType<Redactor['redact']> | { readonly failure: string };

/** Redacts a ticket. */
export function redactOrFail(redactor: Pick<Redactor, 'redact'>, ticket: Ticket): RedactionResult {
  try {
    return redactor.redact(ticket);
  } catch (error) {
    return { failure: error instanceof Error ? error.name : 'error' };
  }
}

/** Text of one chunk, in UTF-16 units: about 10 ms of work. */
const CHUNK = 32 * 1024;

/** Part of a call. `tickets` begin at index `from`. */
export interface Chunk {
  readonly call: RedactionCall;
  readonly from: number;
  readonly tickets: readonly Ticket[];
}

/** Tickets of one call. Lengths are in UTF-16 units. */
export class RedactionCall {
  readonly length: number;
  readonly #tickets: readonly Ticket[];
  readonly #results: RedactionResult[] = [];
  readonly #done = Promise.withResolvers<readonly RedactionResult[]>();
  #next = 0;
  #missing: number;
  #missingLength: number;

  constructor(tickets: readonly Ticket[]) {
    this.#tickets = tickets;
    this.#missing = tickets.length;
    this.length = tickets.reduce((sum, ticket) => sum + lengthOf(ticket), 0);
    this.#missingLength = this.length;
  }

  /** Results in the order of the tickets. */
  get done(): Promise<readonly RedactionResult[]> {
    return this.#done.promise;
  }

  /** Length of the text without a result. */
  get missingLength(): number {
    return this.#missingLength;
  }

  /**
   * Returns the next tickets that nobody has taken; null if there are none, or if the next one is longer than `longest`.
   */
  take(longest = Number.POSITIVE_INFINITY): Chunk | null {
    const from = this.#next;
    for (let size = 0; this.#next < this.#tickets.length && size < CHUNK; this.#next += 1) {
      const length = lengthOf(this.#tickets[this.#next] as Ticket);
      if (length > longest) {
        break;
      }
      size += length;
    }
    return from === this.#next ? null : { call: this, from, tickets: this.#tickets.slice(from, this.#next) };
  }

  store({ from, tickets }: Chunk, results: readonly RedactionResult[]): void {
    for (const [offset, result] of results.entries()) {
      this.#results[from + offset] = result;
      this.#missingLength -= lengthOf(tickets[offset] as Ticket);
    }
    this.#missing -= results.length;
    if (this.#missing === 0) {
      this.#done.resolve(this.#results);
    }
  }

  /** Rejects `done`. Nothing more is taken. */
  fail(error: unknown): void {
    this.#next = this.#tickets.length;
    this.#done.reject(error);
  }
}

/** Returns the length of everything in a ticket that is redacted, and of its people, in UTF-16 units. */
export function lengthOf({ key, subject, parts, attributes, url, people }: Ticket): number {
  let length = key.length + subject.length + (url?.length ?? 0);
  for (const { body } of parts) {
    length += body.length;
  }
  for (const [name, value] of Object.entries(attributes)) {
    length += name.length + value.length;
  }
  for (const { names, emails } of people) {
    for (const each of [...names, ...emails]) {
      length += each.length;
    }
  }
  return length;
}
