/** Finds and edits parts of the text of a manifest: every other byte stays, and no comment is lost. */
import {
  Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  type ParsedNode,
  parseAllDocuments,
  Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { append } from '../core/lists.ts';
import type { Source } from '../core/resource.ts';
import { FileContent } from '../kinds/model/manifest.ts';
import { Lines, lastAtMost, lineStarts } from '../manifests/yaml.ts';
import { yamlOf } from './yaml-text.ts';

/** Mapping or list, with the index of one of its entries. */
interface EntryLocation<T extends YAMLMap.Parsed | YAMLSeq.Parsed> {
  readonly holder: T;
  readonly index: number;
}

/** Manifest text; parsed and indexed once, on first use. */
export class ManifestText {
  readonly text: string;
  #starts: readonly number[] | null = null;
  #index: Index | null = null;
  readonly #commented = new Map<YAMLMap.Parsed | YAMLSeq.Parsed, boolean>();

  constructor(text: string) {
    this.text = text;
  }

  /** Returns the offset of a line and column, both from 1. A byte order mark takes no column. */
  offsetAt({ line, column }: Pick<Source, 'line' | 'column'>): number {
    this.#starts ??= lineStarts(this.text);
    const mark = line === 1 && this.text.startsWith('\ufeff') ? 1 : 0;
    return (this.#starts[line - 1] ?? this.text.length) + mark + column - 1;
  }

  /** Returns the list with an item that begins at an offset. */
  itemAt(offset: number): EntryLocation<YAMLSeq.Parsed> | undefined {
    return this.#indexed().items.get(offset);
  }

  /** Returns the innermost mapping with a key that begins at an offset. */
  keyAt(offset: number): EntryLocation<YAMLMap.Parsed> | undefined {
    return this.#indexed().keys.get(offset);
  }

  /** Returns the mapping that begins at an offset as a list item, or that is the value of the key there. */
  mappingAt(offset: number): YAMLMap.Parsed | null {
    const item = this.itemAt(offset);
    const own = item?.holder.items[item.index];
    return isMap(own) ? (own as YAMLMap.Parsed) : (this.#indexed().values.get(offset) ?? null);
  }

  /** Returns true if a list or mapping contains a comment. */
  hasComments(node: YAMLMap.Parsed | YAMLSeq.Parsed): boolean {
    const known = this.#commented.get(node) ?? hasComments(node);
    this.#commented.set(node, known);
    return known;
  }

  #indexed(): Index {
    this.#index ??= indexOf(this.text);
    return this.#index;
  }
}

interface Index {
  readonly items: Map<number, EntryLocation<YAMLSeq.Parsed>>;
  readonly keys: Map<number, EntryLocation<YAMLMap.Parsed>>;
  /** Mappings by the offset of the outermost key whose value they are. */
  readonly values: Map<number, YAMLMap.Parsed>;
}

function indexOf(text: string): Index {
  const index: Index = { items: new Map(), keys: new Map(), values: new Map() };
  const documents = parseAllDocuments(text, { logLevel: 'silent', stringKeys: true, prettyErrors: false });
  for (const { contents } of 'empty' in documents ? [] : documents) {
    visit(contents as ParsedNode | null, {
      Seq: (_key, node) => indexList(index, node as YAMLSeq.Parsed),
      Map: (_key, node) => indexMapping(index, node as YAMLMap.Parsed),
    });
  }
  return index;
}

function indexList({ items }: Index, holder: YAMLSeq.Parsed): void {
  for (const [index, item] of holder.items.entries()) {
    if (isMap(item) && item.range && !items.has(item.range[0])) {
      items.set(item.range[0], { holder, index });
    }
  }
}

function indexMapping({ keys, values }: Index, holder: YAMLMap.Parsed): void {
  for (const [index, { key, value }] of holder.items.entries()) {
    const offset = key.range?.[0];
    if (offset === undefined) {
      continue;
    }
    if (isScalar(key)) {
      keys.set(offset, { holder, index });
    }
    if (isMap(value) && !isSeq(value) && !values.has(offset)) {
      values.set(offset, value as YAMLMap.Parsed);
    }
  }
}

/**
 * Appends entries to a section of a manifest. Every existing byte stays, in the same order. Null if the section is not
 * written in block style, so that nothing can follow its last entry.
 */
export function appendEntries(text: string, section: string, entries: string): string | null {
  const documents = parseAllDocuments(text, { prettyErrors: false, logLevel: 'silent', stringKeys: true });
  if ('empty' in documents || documents.some(({ errors }) => errors.length > 0)) {
    return null;
  }
  const pair = documents
    .flatMap(({ contents }) => (isMap(contents) ? (contents as YAMLMap.Parsed).items : []))
    .find(({ key }) => isScalar(key) && key.value === section);
  const place = pair === undefined ? null : placeIn(text, pair.key, pair.value);
  if (place === null) {
    return null;
  }
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = entries.trimEnd().split('\n');
  const added = lines.map((line) => (line === '' ? '' : ' '.repeat(place.indent) + line)).join(newline);
  const [before, after] = [text.slice(0, place.offset), text.slice(place.offset)];
  return `${before}${before === '' || before.endsWith('\n') ? '' : newline}${added}${newline}${after}`;
}

/** Returns where an entry can be appended to a section, and the indentation of its key. */
function placeIn(text: string, key: ParsedNode, value: ParsedNode | null) {
  if (columnOf(text, key) !== 0) {
    return null;
  }
  if (value === null || (isScalar(value) && value.source === '')) {
    const isBare = value === null || (value.anchor === undefined && value.tag === undefined);
    return isBare ? { offset: afterComments(text, lineEnd(text, key.range[1]), 1), indent: 2 } : null;
  }
  const last = isMap(value) && value.flow !== true ? (value as YAMLMap.Parsed).items.at(-1) : undefined;
  const indent = last === undefined ? null : columnOf(text, last.key);
  if (last === undefined || indent === null || indent === 0) {
    return null;
  }
  const end = Math.max(last.key.range[1], last.value?.range[1] ?? 0);
  return { offset: afterComments(text, lineEndFrom(text, end), indent), indent };
}

/** Returns the indentation of a key that begins its line; null if something precedes it. */
function columnOf(text: string, key: ParsedNode): number | null {
  const { column } = new Lines(text).positionOf(key.range[0]);
  const before = text.slice(key.range[0] - column + 1, key.range[0]);
  return /^\ufeff? *$/.test(before) ? column - 1 - (before.startsWith('\ufeff') ? 1 : 0) : null;
}

/** Returns the end of a node's content: the range of a block includes comments after it, and the next indentation. */
function contentEnd(node: ParsedNode): number {
  const isBlock = (isMap(node) || isSeq(node)) && node.flow !== true;
  const last: unknown = isBlock ? node.items.at(-1) : undefined;
  const inner = isPair(last) ? (last.value ?? last.key) : last;
  return isNode(inner) && inner.range ? contentEnd(inner as ParsedNode) : node.range[1];
}

function pairEnd(key: ParsedNode, value: ParsedNode | null): number {
  return Math.max(key.range[1], value === null ? 0 : contentEnd(value));
}

/** Returns the start of the next line. */
function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}

/** Returns the end of the comments that belong to the previous entry, because they are indented like it. */
function afterComments(text: string, offset: number, indent: number): number {
  let settled = offset;
  let at = offset;
  while (at < text.length) {
    const next = lineEnd(text, at);
    const line = text.slice(at, next).trimEnd();
    const comment = /^( *)#/.exec(line);
    if (comment !== null && (comment[1] ?? '').length >= indent) {
      settled = next;
    } else if (line !== '') {
      break;
    }
    at = next;
  }
  return settled;
}

/** Replacement of a part of a text. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Change of one value in a manifest. */
type Patch =
  | { readonly edits: readonly Edit[]; readonly file: null }
  /** The manifest refers to a file, which contains the value. */
  | { readonly edits: null; readonly file: { readonly name: string; readonly text: string } };

/**
 * Changes the value at a path in a mapping with the smallest possible edit of the text. Null if its notation does not
 * allow changing it alone: an alias, or comments inside.
 */
export function patchMember(
  text: string,
  mapping: YAMLMap.Parsed,
  [name = '', ...inner]: readonly string[],
  value: unknown,
): Patch | null {
  const pair = mapping.items.find(({ key }) => isScalar(key) && key.value === name);
  if (pair?.value === undefined || pair.value === null) {
    return null;
  }
  if (inner.length > 0) {
    const isOwn = isMap(pair.value) && pair.value.anchor === undefined;
    return isOwn ? patchMember(text, pair.value as YAMLMap.Parsed, inner, value) : null;
  }
  const named = fileOf(pair.value);
  if (named !== null) {
    const written = typeof value === 'string' ? `${value.trimEnd()}\n` : null;
    const inside = value instanceof FileContent ? value.text : written;
    return inside === null ? null : { edits: null, file: { name: named, text: inside } };
  }
  const plain = value instanceof FileContent ? plainOf(value) : value;
  const edits = editsOf(text, pair.value, plain, mapping.flow === true, lineOffsetOf(text, pair.key));
  return edits === null ? null : { edits, file: null };
}

function fileOf(node: ParsedNode): string | null {
  if (!isMap(node) || node.items.length !== 1) {
    return null;
  }
  const [pair] = (node as YAMLMap.Parsed).items;
  const isFile = isScalar(pair?.key) && pair.key.value === 'file';
  return isFile && isScalar(pair?.value) ? String(pair.value.value) : null;
}

function plainOf({ path, text }: FileContent): unknown {
  return path.endsWith('.json') ? JSON.parse(text) : text;
}

function editsOf(text: string, node: ParsedNode, value: unknown, inFlow: boolean, column: number): Edit[] | null {
  if (node.anchor !== undefined || node.tag !== undefined || node.range === undefined) {
    return null;
  }
  const [from, to] = node.range;
  if (isMap(node) && node.flow !== true && isPlainMapping(value)) {
    return membersOf(text, node as YAMLMap.Parsed, value);
  }
  if (hasComments(node) || (!isScalar(node) && !isMap(node) && !isSeq(node))) {
    return null;
  }
  const isBlock = typeof value === 'string' && value.includes('\n') && !inFlow;
  const written = isBlock ? blockText(value, column) : flowText(value, isScalar(node) ? node.type : undefined);
  const end = to - spaceAtEnd(text.slice(from, to));
  // A value on its own lines moves to the line of its key.
  return !isScalar(node) && node.flow !== true
    ? [{ from: from - spaceAtEnd(text.slice(0, from)), to: end, text: ` ${written}` }]
    : [{ from, to: end, text: written }];
}

function spaceAtEnd(text: string): number {
  return text.length - text.trimEnd().length;
}

/** Changes members line by line, so that unchanged ones stay, with their comments. */
function membersOf(text: string, node: YAMLMap.Parsed, value: Readonly<Record<string, unknown>>): Edit[] | null {
  const edits: Edit[] = [];
  const seen = new Set<string>();
  const last = node.items.at(-1);
  for (const { key, value: member } of node.items) {
    const name = isScalar(key) ? String(key.value) : '';
    seen.add(name);
    const [begin] = key.range;
    const end = lineEndFrom(text, pairEnd(key, member));
    if (!Object.hasOwn(value, name)) {
      edits.push({ from: text.lastIndexOf('\n', begin - 1) + 1, to: end, text: '' });
    } else if (member === null || !isScalar(member) || member.value !== value[name]) {
      const inner = member === null ? null : editsOf(text, member, value[name], false, lineOffsetOf(text, key));
      if (inner === null) {
        return null;
      }
      append(edits, inner);
    }
  }
  const added = Object.entries(value).filter(([name]) => !seen.has(name));
  const keepsOne = node.items.some(({ key }) => isScalar(key) && Object.hasOwn(value, String(key.value)));
  if (last === undefined || (!keepsOne && added.length === 0)) {
    return null;
  }
  if (added.length > 0) {
    const at = lineEndFrom(text, pairEnd(last.key, last.value));
    const indent = ' '.repeat(lineOffsetOf(text, last.key));
    const lines = added.map(([name, each]) => `${indent}${flowText(name)}: ${flowText(each)}\n`).join('');
    edits.push({ from: at, to: at, text: at > 0 && text[at - 1] !== '\n' ? `\n${lines}` : lines });
  }
  return edits;
}

/** Writes values without notes, and files by their paths. */
const STYLE: Parameters<typeof yamlOf>[1] = { notes: new Map(), nameOf: ({ path }) => path };

/** Formats a value on one line, valid anywhere. */
function flowText(value: unknown, type?: Scalar.Type | null): string {
  const holder = yamlOf({ v: { v: value } }, STYLE);
  const quotes = type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE;
  if (typeof value === 'string' && quotes && !value.includes('\n')) {
    return quoted(value, type);
  }
  const line = /^v: \{ v: (.*) \}\n$/s.exec(holder)?.[1];
  return line ?? JSON.stringify(value);
}

/** Quotes a value in the existing style if that can represent it. */
function quoted(value: string, type: Scalar.Type): string {
  const scalar = new Scalar(value);
  scalar.type = /[^\p{L}\p{N}\p{P}\p{S} ]/u.test(value) ? Scalar.QUOTE_DOUBLE : type;
  return new Document(scalar).toString({ lineWidth: 0 }).trimEnd();
}

function blockText(value: string, column: number): string {
  const body = yamlOf({ v: value }, STYLE);
  const [head = '', ...lines] = body.trimEnd().split('\n');
  return [head.slice('v: '.length), ...lines.map((line) => (line === '' ? '' : ' '.repeat(column) + line))].join('\n');
}

function isPlainMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}

/** Returns true if a comment is inside a node, or right before it. */
function hasComments(node: ParsedNode): boolean {
  let found = false;
  visit(node, (key, each) => {
    const { comment, commentBefore } = each as { comment?: string | null; commentBefore?: string | null };
    // A comment after the whole node is not inside it.
    found ||= Boolean(commentBefore) || (key !== null && each !== node && Boolean(comment));
  });
  return found;
}

function lineOffsetOf(text: string, key: ParsedNode): number {
  return key.range[0] - (text.lastIndexOf('\n', key.range[0] - 1) + 1);
}

/** Returns the start of the next line; the offset itself if that starts one. */
function lineEndFrom(text: string, offset: number): number {
  return text[offset - 1] === '\n' ? offset : lineEnd(text, offset);
}

/** Part of a text; the end is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** New order of parts of a text: the part with the index `order[0]` comes first. */
export interface Reordering {
  readonly pieces: readonly Span[];
  readonly order: readonly number[];
}

/**
 * Returns each item of a list with its comments: on its lines, inside it, and right above it. Other text between two
 * items, such as an empty line and a comment above it, belongs to neither. Null if items cannot be separated by lines.
 */
export function itemSpans(text: string, list: YAMLSeq.Parsed): readonly Span[] | null {
  if (list.flow === true) {
    return hasComments(list) ? null : list.items.map(({ range }) => ({ from: range[0], to: range[1] }));
  }
  const pieces = list.items.map((item) => linesOf(text, item, item));
  return pieces.some((piece) => piece === null) ? null : (pieces as Span[]);
}

/** Returns the edit that removes the entry or list item at an offset. Null if it cannot be removed on its own. */
export function removalAt(manifest: ManifestText, offset: number): Edit | null {
  const { text } = manifest;
  const item = manifest.itemAt(offset);
  const { holder, index } = item ?? manifest.keyAt(offset) ?? { holder: null, index: 0 };
  if (holder === null || holder.items.length < 2) {
    // Removing the last item would need another notation for the empty list or section.
    return null;
  }
  const [first, last] = endsOf(holder, index);
  if (holder.flow !== true) {
    const lines = linesOf(text, first, last);
    return lines === null ? null : { ...lines, text: '' };
  }
  if (manifest.hasComments(holder)) {
    return null;
  }
  return index === 0
    ? { from: first.range[0], to: endsOf(holder, 1)[0].range[0], text: '' }
    : { from: endOf(holder, index - 1), to: endOf(holder, index), text: '' };
}

/** Returns the first and last node of an entry. */
function endsOf(holder: YAMLMap.Parsed | YAMLSeq.Parsed, index: number): readonly [ParsedNode, ParsedNode] {
  const entry = holder.items[index];
  if (isPair(entry)) {
    const { key, value } = entry as Pair<ParsedNode, ParsedNode | null>;
    return [key, value ?? key];
  }
  return [entry as ParsedNode, entry as ParsedNode];
}

function endOf(holder: YAMLMap.Parsed | YAMLSeq.Parsed, index: number): number {
  const [first, last] = endsOf(holder, index);
  return Math.max(first.range[1], last.range[1]);
}

/** Returns the lines from one node to another, with the comments right above them. */
function linesOf(text: string, first: ParsedNode, last: ParsedNode): Span | null {
  const start = text.lastIndexOf('\n', first.range[0] - 1) + 1;
  const before = text.slice(start, first.range[0]);
  const indent = /^( *)(?:- *)?$/.exec(before)?.[1]?.length;
  if (indent === undefined) {
    return null;
  }
  const own = lineEndFrom(text, contentEnd(last));
  return { from: withCommentsAbove(text, start, indent), to: afterComments(text, own, indent + 1) };
}

function withCommentsAbove(text: string, start: number, indent: number): number {
  let from = start;
  while (from > 0) {
    const above = text.lastIndexOf('\n', from - 2) + 1;
    const comment = /^( *)#/.exec(text.slice(above, from));
    if (comment === null || (comment[1] ?? '').length !== indent) {
      break;
    }
    from = above;
  }
  return from;
}

type Step = Edit & { readonly order: Reordering | null };

/** Applies all edits and reorders all parts. Edits and orders may be nested in parts. */
export function applyEdits(text: string, edits: readonly Edit[], orders: readonly Reordering[]): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  /** By start, longest first. */
  const steps: readonly Step[] = [
    ...edits.map((edit) => ({ ...edit, order: null })),
    ...orders.map((order) => ({
      from: order.pieces[0]?.from ?? 0,
      to: order.pieces.at(-1)?.to ?? 0,
      text: '',
      order,
    })),
  ].toSorted((a, b) => a.from - b.from || b.to - a.to);

  /** Renders a part with its outermost steps; steps inside a reordered part are applied with it. */
  const render = (from: number, to: number): string => {
    const done: string[] = [];
    let at = from;
    let isInserted = true;
    const first = lastAtMost(steps, from - 1, (step) => step.from) + 1;
    for (let index = first; index < steps.length; index += 1) {
      const step = steps[index] as Step;
      if (step.from > to) {
        break;
      }
      const isNested = step.from < at || (step.from === at && step.to === at && !isInserted);
      if (isNested || !isInside(step, { from, to })) {
        continue;
      }
      done.push(text.slice(at, step.from));
      done.push(step.order === null ? step.text.replace(/\r?\n/g, newline) : ordered(step.order));
      at = step.to;
      // An insertion at the end of a longer piece belongs to that.
      isInserted = step.from === step.to;
    }
    done.push(text.slice(at, to));
    return done.join('');
  };

  /** Text between pieces stays where it is. */
  const ordered = ({ pieces, order }: Reordering): string => {
    const parts = pieces.map(({ from, to }) => render(from, to));
    const isLines = pieces.slice(1).every(({ from }) => text[from - 1] === '\n');
    const whole = pieces.map(({ to }, index) => {
      const part = parts[order[index] ?? index] ?? '';
      const gap = text.slice(to, pieces[index + 1]?.from ?? to);
      return `${part}${isLines && part !== '' && !part.endsWith('\n') ? newline : ''}${gap}`;
    });
    const hasEnd = !isLines || text[(pieces.at(-1)?.to ?? 0) - 1] === '\n';
    return hasEnd ? whole.join('') : whole.join('').replace(/\r?\n$/, '');
  };

  return render(0, text.length);
}

/** An insertion between two pieces belongs to the end of the first. */
function isInside(step: Span, { from, to }: Span): boolean {
  const isAfterStart = step.from > from || (step.from === from && (step.to > from || from === 0));
  return isAfterStart && step.to <= to;
}

/** Returns true if two parts overlap and neither contains the other. */
export function overlaps(one: Span, other: Span): boolean {
  const isApart = one.to <= other.from || other.to <= one.from;
  return !isApart && !contains(one, other) && !contains(other, one);
}

function contains(outer: Span, inner: Span): boolean {
  return outer.from <= inner.from && outer.to >= inner.to && outer.to - outer.from > inner.to - inner.from;
}
