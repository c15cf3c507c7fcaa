/** One value inside a JSON document, as it stands there. */
export interface Element {
  /** The line it begins on, from 1. */
  readonly line: number;
  /** null: longer than what is held in memory. */
  readonly bytes: Buffer | null;
  /** False: the document ends in the middle of it. */
  readonly whole: boolean;
}

const [QUOTE, BACKSLASH, COMMA, NEWLINE] = [0x22, 0x5c, 0x2c, 0x0a];
const [OPEN_ARRAY, OPEN_OBJECT, CLOSE_ARRAY, CLOSE_OBJECT] = [0x5b, 0x7b, 0x5d, 0x7d];
/** A member of the document itself whose value is the list of what it has: `{ "tickets": [ … ] }`. */
const LIST_MEMBER = /[{,]\s*"(?:tickets|conversations)"\s*:\s*$/;
const TAIL = 128;

/**
 * Splits a JSON document into the values it lists: those of an array, of an object's `tickets` or `conversations`, or
 * simply one after the other. Only finds where each begins and ends, so that one which is broken or too long costs no
 * other; whether it is JSON is for whoever parses it.
 */
export class ElementSplitter {
  readonly #longest: number;
  #line = 1;
  #depth = 0;
  /** How deep the values stand: 0 the document itself, 1 in its array, 2 in its object's list. */
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

  /** The values that end in this chunk. */
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
        // What ended it may close the list as well, and is looked at again.
        at = ends - 1;
        this.#line -= ends <= at + 1 && byte === NEWLINE ? 1 : 0;
      }
    }
    if (this.#isOpen) {
      this.#keep(chunk.subarray(from));
    }
    return found;
  }

  /** What the document breaks off in, where it does. */
  end(): Element[] {
    const found: Element[] = [];
    if (this.#isOpen) {
      // A bare word or number at the very end is whole as far as anybody can tell.
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

  /** Between values: returns where the next one begins. */
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
    // What stands behind the list in the document's own object is no ticket.
    this.#isIgnored = this.#base === 2;
    this.#isOpen = this.#isIgnored;
    this.#depth = this.#base - 1;
    this.#base = 0;
  }

  /** Inside a value, outside a string. True where the value turned out to be the list's own object. */
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
    const pieces = [chunk.subarray(Math.max(from, at - TAIL), at)];
    let size = pieces[0]?.length ?? 0;
    for (let index = this.#held.length - 1; index >= 0 && size < TAIL; index--) {
      const piece = this.#held[index]?.subarray(-TAIL) ?? Buffer.alloc(0);
      pieces.unshift(piece);
      size += piece.length;
    }
    return LIST_MEMBER.test(Buffer.concat(pieces).toString('latin1'));
  }

  /** Where the open value ends, if this byte ends it: behind its closing bracket or quote, or before what follows. */
  #endOf(byte: number, at: number): number | null {
    if (this.#isString) {
      return null;
    }
    if (this.#depth < this.#base) {
      // A bare word before the list's own end.
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
