/** Writes values as YAML that a review shows completely and that every YAML reader understands alike. */
import { Document, type Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { FileContent } from '../kinds/model/manifest.ts';
import { printable } from '../plan/render/words.ts';

interface Style {
  /** Notes about mappings, written as comments before them. */
  readonly notes: ReadonlyMap<object, readonly string[]>;
  /** Returns the name of a file in this manifest. */
  nameOf(file: FileContent): string;
}

/** Maximum length of a collection on one line, in characters. */
const MAX_LINE_LENGTH = 100;

/** Characters that are invisible or misleading. They are escaped so that a review shows them. */
const UNSEEN =
  /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;

/**
 * Writes a mapping as YAML, its members in their order. Values that other YAML readers would interpret differently are
 * quoted.
 */
export function yamlOf(value: object, style: Style): string {
  const document = new Document(null, { version: '1.2', schema: 'core', compat: 'yaml-1.1' });
  const root = mappingOf(value, 0, style);
  root.flow = false;
  document.contents = root as never;
  const text = document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER });
  return text.replace(UNSEEN, written);
}

function mappingOf(value: object, depth: number, style: Style): YAMLMap {
  const map = new YAMLMap();
  for (const [name, member] of Object.entries(value)) {
    map.items.push(new Pair(noted(scalar(name), member, style), nodeOf(member, depth + 1, style)));
  }
  map.flow = lengthOf(value, style) + 2 * depth <= MAX_LINE_LENGTH;
  return map;
}

function nodeOf(value: unknown, depth: number, style: Style): Node {
  if (Array.isArray(value)) {
    const list = new YAMLSeq();
    list.items = value.map((item) => noted(nodeOf(item, depth + 1, style), item, style));
    list.flow = lengthOf(value, style) + 2 * depth <= MAX_LINE_LENGTH;
    return list;
  }
  if (value instanceof FileContent) {
    return mappingOf({ file: style.nameOf(value) }, depth, style);
  }
  return typeof value === 'object' && value !== null ? mappingOf(value, depth, style) : scalar(value);
}

function noted<Of extends Node>(node: Of, value: unknown, { notes }: Style): Of {
  const own = notes.get(value as object) ?? [];
  if (own.length > 0) {
    node.commentBefore = own.map((note) => ` ${printable(note)}`).join('\n');
  }
  return node;
}

/** Returns the length of a value on one line; infinite if it needs several lines or contains a comment. */
function lengthOf(value: unknown, style: Style): number {
  if (value instanceof FileContent) {
    return style.nameOf(value).length + '{ file:  }'.length;
  }
  if (typeof value === 'string') {
    return value.includes('\n') ? Number.POSITIVE_INFINITY : value.length + 2;
  }
  if (typeof value !== 'object' || value === null) {
    return String(value).length;
  }
  const isList = Array.isArray(value);
  let length = 2;
  for (const [name, member] of Object.entries(value)) {
    const hasNote = style.notes.has(member as object);
    length += hasNote ? Number.POSITIVE_INFINITY : lengthOf(member, style) + 2 + (isList ? 0 : name.length + 2);
  }
  return length;
}

function scalar(value: unknown): Scalar {
  const node = new Scalar(value);
  if (typeof value === 'string' && (value.search(UNSEEN) !== -1 || hasUnseenEnd(value))) {
    node.type = Scalar.QUOTE_DOUBLE;
  }
  return node;
}

/** Returns true for a text whose last lines are empty or end in spaces: an editor that trims files would change it. */
function hasUnseenEnd(text: string): boolean {
  return text.includes('\n') && text.replace(/\n$/, '') !== text.trimEnd();
}

function written(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
