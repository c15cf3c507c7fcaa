/** Reads JSON and NDJSON, value by value. */
import { isObject } from '../../../core/json.ts';
import type { SourceRecord } from '../../model/ticket.ts';
import { foundOfNative } from '../own-format.ts';
import { foundOfExport } from '../zendesk-ticket.ts';
import {
  asUtf8,
  type FileInput,
  largerThan,
  linesOf,
  MAX_LENGTH,
  placed,
  type ReadOptions,
  rejected,
  utf8Text,
} from './input.ts';

const BROKEN_OFF = 'the file ends in the middle of it';

/** Reads NDJSON: each line is a record. */
export async function* readNdjson(input: FileInput, options: ReadOptions): AsyncGenerator<SourceRecord> {
  const longest = options.longest ?? MAX_LENGTH;
  for await (const lines of linesOf(asUtf8(input.open()), longest)) {
    for (const { number, bytes } of lines) {
      if (bytes === null || bytes.some((byte) => byte > 0x20)) {
        yield foundOf(bytes, number, input.name, options);
      }
    }
  }
}

/** Reads a JSON document: a record, an array of records, or an object with `tickets` or `conversations`. */
export async function* readJson(input: FileInput, options: ReadOptions): AsyncGenerator<SourceRecord> {
  const splitter = new ElementSplitter(options.longest ?? MAX_LENGTH);
  for await (const chunk of asUtf8(input.open())) {
    for (const { bytes, line } of splitter.push(chunk)) {
      yield foundOf(bytes, line, input.name, options);
    }
  }
  for (const { bytes, line, whole } of splitter.end()) {
    yield whole ? foundOf(bytes, line, input.name, options) : rejected(input.name, line, BROKEN_OFF);
  }
}

function foundOf(bytes: Buffer | null, line: number, name: string, options: ReadOptions): SourceRecord {
  if (bytes === null) {
    return rejected(name, line, largerThan(options.longest ?? MAX_LENGTH));
  }
  const text = utf8Text(bytes);
  if (text === null) {
    return rejected(name, line, 'is not UTF-8');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the text.
    return rejected(name, line, 'is not valid JSON');
  }
  const found = isObject(value) ? foundOfObject(value, options.account) : null;
  if (found === null) {
    return rejected(name, line, 'is neither a conversation (id, parts) nor a Zendesk ticket (id, status, comments)');
  }
  return 'problem' in found ? rejected(name, line, found.problem) : placed(found, name, line);
}

function foundOfObject(value: Record<string, unknown>, account: string) {
  if ('parts' in value) {
    return foundOfNative(value, account);
  }
  return 'comments' in value || ('requester_id' in value && 'status' in value) ? foundOfExport(value, account) : null;
}

/** One value inside a JSON document, verbatim. */
interface Element {
  /** Number of its first line, from 1. */
  readonly line: number;
  /** Null if it is longer than the limit. */
  readonly bytes: Buffer | null;
  /** False if the document ends inside the value. */
  readonly whole: boolean;
}

const [QUOTE, BACKSLASH, COMMA, NEWLINE] = [0x22, 0x5c, 0x2c, 0x0a];
const [OPEN_ARRAY, OPEN_OBJECT, CLOSE_ARRAY, CLOSE_OBJECT] = [0x5b, 0x7b, 0x5d, 0x7d];
/** Member of the document with the list of tickets: `{ "tickets": [ … ] }`. */
const LIST_MEMBER = /[{,]\s*"(?:tickets|conversations)"\s*:\s*$/;
const TAIL = 128;

/**
 * Splits a JSON document into the values that it lists: those of an array, of an object's `tickets` or `conversations`,
 * or a sequence of values. It finds only their bounds, and the caller parses them, so that an invalid or too long value
 * does not affect the others.
 */
class ElementSplitter {
  readonly #longest: number;
  #line = 1;
  #depth = 0;
  /** Depth of the values: 0 at the top, 1 in an array, 2 in the list of an object. */
  #base: 0 | 1 | 2 = 0;
  #isString = false;
  #isEscaped = false;
  #isOpen = false;
  #isIgnored = false;
  #openedAt = 1;
  #held: Buffer[] = [];
  #size = 0;

  constructor(longest: number) {
    this.#longest = longest;
  }

  /** Returns the values that end in this chunk. */
  push(chunk: Buffer): Element[] {
    const found: Element[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (byte === NEWLINE) {
        this.#line += 1;
      }
      if (this.#isString) {
        this.#inString(byte);
      } else if (!this.#isOpen) {
        from = this.#between(byte, at, chunk, found);
        continue;
      } else if (this.#inValue(byte, chunk, from, at)) {
        continue;
      }
      const ends = this.#endOf(byte, at);
      if (ends !== null) {
        this.#keep(chunk.subarray(from, ends));
        this.#close(found, true);
        // The byte that ended the value may also close the list, and is processed again.
        at = ends - 1;
        this.#line -= byte === NEWLINE ? 1 : 0;
      }
    }
    if (this.#isOpen) {
      this.#keep(chunk.subarray(from));
    }
    return found;
  }

  /** Returns the value in which the document ends, if there is one. */
  end(): Element[] {
    const found: Element[] = [];
    if (this.#isOpen) {
      // A bare word or number at the end of the document counts as complete.
      this.#close(found, !this.#isString && this.#depth === this.#base);
    } else if (this.#base > 0) {
      found.push({ line: this.#line, bytes: Buffer.alloc(0), whole: false });
    }
    return found;
  }

  #inString(byte: number): void {
    if (this.#isEscaped) {
      this.#isEscaped = false;
    } else if (byte === BACKSLASH) {
      this.#isEscaped = true;
    } else if (byte === QUOTE) {
      this.#isString = false;
    }
  }

  /** Returns the position of the next value. */
  #between(byte: number, at: number, chunk: Buffer, found: Element[]): number {
    if (byte <= 0x20 || byte === COMMA) {
      return at + 1;
    }
    if (byte === OPEN_ARRAY && this.#depth === 0) {
      this.#base = 1;
      this.#depth = 1;
      return at + 1;
    }
    this.#isOpen = true;
    this.#openedAt = this.#line;
    if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      this.#depth += 1;
    } else if (byte === QUOTE) {
      this.#isString = true;
    } else if (byte === CLOSE_ARRAY && this.#base > 0) {
      this.#leaveList();
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      this.#keep(chunk.subarray(at, at + 1));
      this.#close(found, true);
    }
    return this.#isOpen ? at : at + 1;
  }

  #leaveList(): void {
    // Members after the list are not tickets.
    this.#isIgnored = this.#base === 2;
    this.#isOpen = this.#isIgnored;
    this.#depth = this.#base - 1;
    this.#base = 0;
  }

  /** Reads a byte inside a value, outside strings. Returns true if the value is the object that contains the list. */
  #inValue(byte: number, chunk: Buffer, from: number, at: number): boolean {
    if (byte === QUOTE) {
      this.#isString = true;
    } else if (byte === OPEN_OBJECT) {
      this.#depth += 1;
    } else if (byte === OPEN_ARRAY) {
      const isList = this.#base === 0 && this.#depth === 1 && !this.#isIgnored && this.#endsInList(chunk, from, at);
      this.#depth += 1;
      if (isList) {
        this.#base = 2;
        this.#isOpen = false;
        this.#drop();
        return true;
      }
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      this.#depth -= 1;
    }
    return false;
  }

  #endsInList(chunk: Buffer, from: number, at: number): boolean {
    const pieces = [...this.#held.slice(-TAIL), chunk.subarray(from, at)].map((piece) => piece.subarray(-TAIL));
    return LIST_MEMBER.test(Buffer.concat(pieces).subarray(-TAIL).toString('latin1'));
  }

  /** Returns the end of the open value if this byte ends it: after a bracket or quote, or before the next character. */
  #endOf(byte: number, at: number): number | null {
    if (this.#isString) {
      return null;
    }
    if (this.#depth < this.#base) {
      // A bare word before the end of the list.
      this.#depth = this.#base;
      return at;
    }
    if (this.#depth > this.#base) {
      return null;
    }
    if (byte === QUOTE || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      return at + 1;
    }
    return byte === COMMA || byte <= 0x20 ? at : null;
  }

  #keep(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#isIgnored || this.#size > this.#longest) {
      this.#held = [];
    } else {
      this.#held.push(piece);
    }
  }

  #close(found: Element[], whole: boolean): void {
    if (!this.#isIgnored) {
      const bytes = this.#size > this.#longest ? null : Buffer.concat(this.#held);
      found.push({ line: this.#openedAt, bytes, whole });
    } else if (!whole) {
      found.push({ line: this.#line, bytes: Buffer.alloc(0), whole });
    }
    this.#isOpen = false;
    this.#isIgnored = false;
    this.#drop();
  }

  #drop(): void {
    this.#held = [];
    this.#size = 0;
  }
}
