/**
 * Parser for the plain part of YAML that most manifests consist of, several times as fast as the YAML library. It knows
 * mappings, sequences, values on one line, and comments. It returns null for everything else, and for every error, so
 * that the library decides on them.
 */
import type { MapNode, NodePair, ScalarNode, SequenceNode, YamlNode } from './nodes.ts';

/** Control characters, among them tabs and carriage returns, and the byte order mark. */
const UNUSUAL = /[^\n\x20-\x7e\xa0-\ufefe\uff00-\uffff]/;
const KEY = /[A-Za-z0-9_/][\w.@+/-]{0,200}(?=:(?:[ \n]|$))/y;
/** A string in quotes without escapes. */
const QUOTED = /"[^"\\\n]*"|'[^'\n]*'(?!')/y;
/** An unquoted value up to the end of its line. A `-` begins one if a letter or a digit follows. */
const PLAIN = /(?:[\w/.+~($^=<;\\\xa0-\uffff]|-[A-Za-z0-9.]).*/y;
/** An unquoted key or value in `{…}` or `[…]`. */
const FLOW_PLAIN = /[A-Za-z0-9_/](?:[\w/.@+-]| +(?=[\w/.@+]))*/y;
/** The rest of a line after a value. */
const LINE_END = / *(?=\n|$)| +#.*/y;
/** Unquoted text that may be a number, a boolean or null. */
const MAYBE_TYPED = /^(?:[-+.0-9~]|(?:null|true|false)$)/i;

/** Maximum nesting. The library checks what is deeper. */
const MAX_DEPTH = 50;

/** Parses a file with one document. `resolve` returns the value of unquoted text, such as a number for `1`. */
export function parsePlainYaml(text: string, resolve: (source: string) => unknown): YamlNode | null {
  return UNUSUAL.test(text) ? null : new PlainParser(text, resolve).document();
}

class PlainParser {
  readonly #text: string;
  readonly #resolve: (source: string) => unknown;
  /** Offset of the next character. At the end of a line, `#nextLine` moves it to the next content. */
  #at = 0;
  /** Column of the line's first content, counted from 0; -1 at the end of the text. */
  #column = -1;

  constructor(text: string, resolve: (source: string) => unknown) {
    this.#text = text;
    this.#resolve = resolve;
  }

  document(): YamlNode | null {
    this.#nextLine(0);
    const root = this.#column === 0 ? this.#mapping(0, 0) : null;
    return this.#column === -1 ? root : null;
  }

  /** Moves to the first line from this offset on that is neither empty nor a comment. */
  #nextLine(offset: number): void {
    for (let start = offset; start < this.#text.length; ) {
      this.#at = start;
      this.#skipSpaces();
      const first = this.#text[this.#at];
      if (first !== '#' && first !== '\n' && first !== undefined) {
        this.#column = this.#at - start;
        return;
      }
      const end = this.#text.indexOf('\n', this.#at);
      start = end === -1 ? this.#text.length : end + 1;
    }
    this.#column = -1;
  }

  /** Moves to the next line if only a comment follows on this one. */
  #endLine(): boolean {
    const isEnd = this.#match(LINE_END);
    this.#nextLine(this.#at + 1);
    return isEnd;
  }

  /** Reads the mapping whose first key comes next, in this column. */
  #mapping(column: number, depth: number): MapNode | null {
    const start = this.#at;
    const pairs: NodePair[] = [];
    let end = start;
    do {
      const key = this.#key(KEY);
      const value = key === null ? null : this.#value(column, depth, true);
      if (key === null || value === null) {
        return null;
      }
      pairs.push({ key, value });
      end = value.end;
    } while (this.#column === column);
    return this.#column > column || depth > MAX_DEPTH ? null : { type: 'map', start, end, pairs };
  }

  /** Reads the sequence whose first `-` comes next, in this column. */
  #sequence(column: number, depth: number): SequenceNode | null {
    const start = this.#at;
    const items: YamlNode[] = [];
    let end = start;
    do {
      this.#at += 1;
      const item = this.#item(column, depth);
      if (item === null) {
        return null;
      }
      items.push(item);
      end = item.end;
    } while (this.#column === column && this.#isItem());
    return this.#column > column || depth > MAX_DEPTH ? null : { type: 'sequence', start, end, items };
  }

  /** Reads what follows the `-` of an item: a mapping whose first key is on the same line, or another value. */
  #item(column: number, depth: number): YamlNode | null {
    const before = this.#at;
    this.#skipSpaces();
    const start = this.#at;
    const isKey = start > before && this.#match(KEY);
    this.#at = isKey ? start : before;
    return isKey ? this.#mapping(column + 1 + start - before, depth + 1) : this.#value(column, depth, false);
  }

  /** Reads the value of a key or an item: on the same line, on lines below that are indented more, or left out. */
  #value(column: number, depth: number, ofKey: boolean): YamlNode | null {
    const before = this.#at;
    this.#skipSpaces();
    const start = this.#at;
    const first = this.#text[start];
    if (first !== undefined && first !== '\n' && first !== '#') {
      const value = this.#inline(first, depth);
      // A line that is indented more would continue the value.
      return value !== null && this.#endLine() && this.#column <= column ? value : null;
    }
    this.#at = before;
    if (!this.#endLine()) {
      return null;
    }
    if (this.#column > column || (ofKey && this.#column === column && this.#isItem())) {
      return this.#isItem() ? this.#sequence(this.#column, depth + 1) : this.#mapping(this.#column, depth + 1);
    }
    return scalar(start, '', null);
  }

  /** Reads a value on one line. */
  #inline(first: string, depth: number): YamlNode | null {
    if (first === '{' || first === '[') {
      return depth > MAX_DEPTH ? null : first === '{' ? this.#flowMapping(depth) : this.#flowSequence(depth);
    }
    return first === '"' || first === "'" ? this.#quoted() : this.#plain();
  }

  #flowMapping(depth: number): MapNode | null {
    const start = this.#at;
    const pairs: NodePair[] = [];
    while (this.#beforeItem('}', pairs.length === 0)) {
      const key = this.#key(FLOW_PLAIN);
      this.#skipSpaces();
      const value = key === null ? null : this.#flowValue(depth);
      if (key === null || value === null) {
        return null;
      }
      pairs.push({ key, value });
    }
    return this.#text[this.#at - 1] === '}' ? { type: 'map', start, end: this.#at, pairs } : null;
  }

  #flowSequence(depth: number): SequenceNode | null {
    const start = this.#at;
    const items: YamlNode[] = [];
    while (this.#beforeItem(']', items.length === 0)) {
      const item = this.#flowValue(depth);
      if (item === null) {
        return null;
      }
      items.push(item);
    }
    return this.#text[this.#at - 1] === ']' ? { type: 'sequence', start, end: this.#at, items } : null;
  }

  /** Moves past `{`, `[` or `,` to an item. Returns false after the closing character, and where neither follows. */
  #beforeItem(close: '}' | ']', isFirst: boolean): boolean {
    if (!isFirst) {
      this.#skipSpaces();
    }
    const separator = this.#text[this.#at];
    this.#at += 1;
    if (!isFirst) {
      if (separator !== ',') {
        return false;
      }
      this.#skipSpaces();
      return true;
    }
    this.#skipSpaces();
    if (this.#text[this.#at] !== close) {
      return true;
    }
    this.#at += 1;
    return false;
  }

  #flowValue(depth: number): YamlNode | null {
    const first = this.#text[this.#at] ?? '';
    if ('{["\''.includes(first)) {
      return this.#inline(first, depth + 1);
    }
    const start = this.#at;
    // A colon would make it a key.
    return this.#match(FLOW_PLAIN) && this.#text[this.#at] !== ':' ? this.#typed(start) : null;
  }

  /** Reads a key and its colon. */
  #key(pattern: RegExp): ScalarNode | null {
    const start = this.#at;
    if (!this.#match(pattern) || this.#text[this.#at] !== ':' || !' \n'.includes(this.#text[this.#at + 1] ?? ' ')) {
      return null;
    }
    const key = this.#text.slice(start, this.#at);
    this.#at += 1;
    return scalar(start, key, key);
  }

  #quoted(): ScalarNode | null {
    const start = this.#at;
    if (!this.#match(QUOTED)) {
      return null;
    }
    const value = this.#text.slice(start + 1, this.#at - 1);
    return { type: 'scalar', start, end: this.#at, value, source: value };
  }

  #plain(): ScalarNode | null {
    const start = this.#at;
    if (!this.#match(PLAIN)) {
      return null;
    }
    const comment = this.#text.slice(start, this.#at).indexOf(' #');
    this.#at = comment === -1 ? this.#at : start + comment;
    while (this.#text[this.#at - 1] === ' ') {
      this.#at -= 1;
    }
    const value = this.#typed(start);
    return value.source.includes(': ') || value.source.endsWith(':') ? null : value;
  }

  /** Returns the unquoted text from an offset on. */
  #typed(start: number): ScalarNode {
    const source = this.#text.slice(start, this.#at);
    return scalar(start, source, MAYBE_TYPED.test(source) ? this.#resolve(source) : source);
  }

  #isItem(): boolean {
    return this.#text[this.#at] === '-' && ' \n'.includes(this.#text[this.#at + 1] ?? ' ');
  }

  #skipSpaces(): void {
    while (this.#text[this.#at] === ' ') {
      this.#at += 1;
    }
  }

  /** Moves past what matches here. */
  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const isMatch = pattern.test(this.#text);
    this.#at = isMatch ? pattern.lastIndex : this.#at;
    return isMatch;
  }
}

function scalar(start: number, source: string, value: unknown): ScalarNode {
  return { type: 'scalar', start, end: start + source.length, value, source };
}
