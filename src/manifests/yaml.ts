/** Parser for YAML 1.2 whose nodes have offsets, with lines and columns of offsets and problems in plain words. */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  parseAllDocuments,
  type ScalarTag,
  Schema,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { messageOf } from '../core/errors.ts';

interface Span {
  /** Offset of the first character. */
  readonly start: number;
  /** Offset after the last character. */
  readonly end: number;
}

export interface ScalarNode extends Span {
  readonly type: 'scalar';
  readonly value: unknown;
  /** As written, without quotes. Empty for a value that is left out. */
  readonly source: string;
  readonly anchor?: string;
}

export interface NodePair {
  readonly key: YamlNode;
  readonly value: YamlNode | null;
}

export interface MapNode extends Span {
  readonly type: 'map';
  readonly pairs: readonly NodePair[];
  readonly anchor?: string;
}

export interface SequenceNode extends Span {
  readonly type: 'sequence';
  readonly items: readonly (YamlNode | null)[];
  readonly anchor?: string;
}

export interface AliasNode extends Span {
  readonly type: 'alias';
  readonly name: string;
}

export type YamlNode = ScalarNode | MapNode | SequenceNode | AliasNode;

/** Returns the text of a key. */
export function keyText(node: YamlNode | null | undefined): string {
  return node?.type === 'scalar' ? String(node.value ?? '') : '';
}

/** Returns the start offset of a node. */
export function offsetOf(node: YamlNode | null | undefined): number {
  return node?.start ?? 0;
}

/** Converts a node of the YAML library. */
function nodeOf(node: ParsedNode): YamlNode {
  const [start, end] = node.range;
  if (isAlias(node)) {
    return { type: 'alias', start, end, name: node.source };
  }
  const anchor = node.anchor === undefined ? {} : { anchor: node.anchor };
  if (isMap(node)) {
    const pairs = (node as YAMLMap.Parsed).items.map(({ key, value }) => ({
      key: nodeOf(key),
      value: value === null ? null : nodeOf(value),
    }));
    return { type: 'map', start, end, pairs, ...anchor };
  }
  if (isSeq(node)) {
    return { type: 'sequence', start, end, items: node.items.map((item) => nodeOf(item as ParsedNode)), ...anchor };
  }
  const { value, source } = isScalar(node) ? node : { value: null, source: '' };
  return { type: 'scalar', start, end, value, source: source ?? '', ...anchor };
}

/** Position in a text. Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Start of a file. */
export const START: Position = { line: 1, column: 1 };

/** Converts offsets in a text to lines and columns. The lines are indexed at the first call. */
export class Lines {
  private readonly text: string;
  private starts: number[] | null = null;

  constructor(text: string) {
    this.text = text;
  }

  positionOf(offset: number): Position {
    this.starts ??= lineStarts(this.text);
    const line = Math.max(
      0,
      lastAtMost(this.starts, offset, (start) => start),
    );
    return { line: line + 1, column: offset - (this.starts[line] ?? 0) + 1 };
  }
}

/** Returns the index of the last item whose number is at most `limit`, or -1. The items are sorted by that number. */
export function lastAtMost<Item>(sorted: readonly Item[], limit: number, by: (item: Item) => number): number {
  let low = -1;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (by(sorted[middle] as Item) <= limit) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/** Returns the offset of the start of each line. */
export function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

/** One document of a YAML file. */
interface YamlDocument {
  readonly contents: YamlNode | null;
  /** True if the document could be parsed only in part. */
  readonly broken: boolean;
}

export interface YamlFile {
  readonly documents: readonly YamlDocument[];
  readonly problems: readonly { readonly offset: number; readonly message: string }[];
}

/** Creates a YAML 1.2 parser. It reuses one schema, because yaml would otherwise create one for every document. */
export function createYamlReader(): (text: string) => YamlFile {
  // Known tags of YAML 1.1 (`!!binary`, `!!timestamp`, …) and merge keys have no meaning in a manifest.
  const schema = new Schema({ schema: 'core', resolveKnownTags: false, merge: false });
  const resolve = resolverOf(schema);
  return (text) => {
    const contents = parsePlainYaml(text, resolve);
    return contents === null ? readYaml(text, schema) : { documents: [{ contents, broken: false }], problems: [] };
  };
}

/** Returns a function that resolves unquoted text as the YAML library does with this schema. */
function resolverOf(schema: Schema): (source: string) => unknown {
  const isTyped = (tag: Schema['tags'][number]): tag is ScalarTag => tag.default === true && 'test' in tag;
  const tags = schema.tags.filter(isTyped);
  return (source) => {
    const tag = tags.find(({ test }) => test?.test(source) === true);
    const value = tag === undefined ? source : tag.resolve(source, () => undefined, {});
    return isScalar(value) ? value.value : value;
  };
}

function readYaml(text: string, schema: Schema): YamlFile {
  try {
    // Duplicate keys are found during conversion, because yaml compares every pair of keys.
    const documents = parseAllDocuments(text, {
      schema,
      stringKeys: true,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
    });
    return 'empty' in documents ? { documents: [], problems: firstOf(documents.errors) } : fileOf(documents);
  } catch (error) {
    const message = error instanceof RangeError ? 'is nested too deeply' : messageOf(error);
    return { documents: [{ contents: null, broken: true }], problems: [{ offset: 0, message }] };
  }
}

function fileOf(documents: readonly Document[]): YamlFile {
  const problems = documents.flatMap((document) => [
    ...firstOf(document.errors),
    ...document.warnings.map(toProblem),
    ...(document.directives?.yaml.version === '1.1' ? [OLD_VERSION] : []),
  ]);
  return {
    documents: documents.map((document) => ({
      contents: document.contents === null ? null : nodeOf(document.contents as ParsedNode),
      broken: document.errors.length > 0,
    })),
    problems,
  };
}

/** Returns only the first error of a document, because later errors are usually caused by it. */
function firstOf(errors: readonly YAMLError[]) {
  const first = errors.toSorted((a, b) => a.pos[0] - b.pos[0])[0];
  return first === undefined ? [] : [toProblem(first)];
}

function toProblem(error: YAMLError) {
  return { offset: Math.max(0, error.pos[0]), message: yamlProblem(error) };
}

const OLD_VERSION = { offset: 0, message: 'manifests are YAML 1.2; remove the %YAML directive' };

/** Explains a YAML error in plain words, because yaml's own messages use terms of the grammar. */
function yamlProblem(error: YAMLError): string {
  const words = WORDS[error.code];
  const message = (error.message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '');
  return words === undefined ? lowerFirst(message) : words(message);
}

const WORDS: Partial<Record<YAMLError['code'], (message: string) => string>> = {
  TAB_AS_INDENT: () => 'tabs are not allowed for indentation; use spaces',
  BAD_INDENT: (message) =>
    message.includes('same column') ? 'the members of a mapping must start in the same column' : lowerFirst(message),
  BAD_ALIAS: (message) => lowerFirst(message.replace('Alias', 'an alias').replace('Anchor', 'an anchor')),
  BAD_DQ_ESCAPE: (message) => `${lowerFirst(message)}; use single quotes, or double the backslash`,
  BAD_SCALAR_START: (message) => `${lowerFirst(message)}; quote the string`,
  BLOCK_AS_IMPLICIT_KEY: (message) =>
    message.startsWith('Nested mappings')
      ? 'a string with ": " must be quoted; a nested mapping starts on its own line'
      : lowerFirst(message),
  MISSING_CHAR: missingCharacter,
  MULTILINE_IMPLICIT_KEY: () => 'expected "key: value"; a ":" or a quote may be missing',
  NON_STRING_KEY: () => 'a key must be a string; quote it',
  RESOURCE_EXHAUSTION: () => 'is nested too deeply',
  TAG_RESOLVE_FAILED: (message) =>
    message.startsWith('Unresolved tag: ')
      ? `the tag ${message.slice('Unresolved tag: '.length).replace(/^tag:yaml\.org,2002:/, '!!')} is not supported; remove it`
      : lowerFirst(message),
};

function missingCharacter(message: string): string {
  if (message.startsWith('Implicit map keys need to be followed by map values')) {
    return 'expected "key: value"; a ":" may be missing';
  }
  const quoted = /^Missing closing (.)quote$/.exec(message);
  return quoted === null ? lowerFirst(message) : `a closing ${quoted[1]} is missing`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/**
 * Parser for the plain part of YAML that most manifests consist of, several times as fast as the YAML library. It knows
 * mappings, sequences, values on one line, and comments. It returns null for everything else, and for every error, so
 * that the library decides on them.
 */

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
    if (!isFirst && separator !== ',') {
      return false;
    }
    this.#skipSpaces();
    const isEnd = isFirst && this.#text[this.#at] === close;
    this.#at += isEnd ? 1 : 0;
    return !isEnd;
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
