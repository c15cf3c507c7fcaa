import { Document, isMap, isScalar, isSeq, type ParsedNode, Scalar, visit, type YAMLMap } from 'yaml';
import { append } from '../../core/lists.ts';
import { FileContent } from '../../kinds/model/manifest.ts';
import { contentEnd } from './append.ts';
import { yamlOf } from './yaml-text.ts';

/** Replacement of a part of a text. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Change of one value in a manifest. */
export type Patch =
  | { readonly edits: readonly Edit[]; readonly file: null }
  /** The manifest refers to a file, which contains the value. */
  | { readonly edits: null; readonly file: { readonly name: string; readonly text: string } };

/**
 * Changes the value of a member of a mapping with the smallest possible edit of the text. Null if its notation does not
 * allow changing it alone: an alias, or comments inside.
 */
export function patchMember(text: string, mapping: YAMLMap.Parsed, name: string, value: unknown): Patch | null {
  const pair = mapping.items.find(({ key }) => isScalar(key) && key.value === name);
  if (pair?.value === undefined || pair.value === null) {
    return null;
  }
  const named = fileOf(pair.value);
  if (named !== null) {
    const inside =
      value instanceof FileContent ? value.text : typeof value === 'string' ? `${value.trimEnd()}\n` : null;
    return inside === null ? null : { edits: null, file: { name: named, text: inside } };
  }
  const plain = value instanceof FileContent ? plainOf(value) : value;
  const edits = editsOf(text, pair.value, plain, mapping.flow === true, columnOf(text, pair.key));
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
  const ended = spaceAtEnd(text.slice(from, to));
  if (!isScalar(node) && node.flow !== true) {
    // A value on its own lines moves to the line of its key.
    const before = spaceAtEnd(text.slice(0, from)).length;
    return [{ from: from - before, to: to - ended.length, text: ` ${written}` }];
  }
  return [{ from, to: to - ended.length, text: written }];
}

function spaceAtEnd(text: string): string {
  return text.slice(text.trimEnd().length);
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
    const end = lineEnd(text, Math.max(key.range[1], member === null ? 0 : contentEnd(member)));
    if (!Object.hasOwn(value, name)) {
      edits.push({ from: text.lastIndexOf('\n', begin - 1) + 1, to: end, text: '' });
    } else if (member === null || !isScalar(member) || member.value !== value[name]) {
      const inner = member === null ? null : editsOf(text, member, value[name], false, columnOf(text, key));
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
    const at = lineEnd(text, Math.max(last.key.range[1], last.value === null ? 0 : contentEnd(last.value)));
    const indent = ' '.repeat(columnOf(text, last.key));
    const lines = added.map(([name, each]) => `${indent}${flowText(name)}: ${flowText(each)}\n`).join('');
    edits.push({ from: at, to: at, text: at > 0 && text[at - 1] !== '\n' ? `\n${lines}` : lines });
  }
  return edits;
}

/** Formats a value on one line, valid anywhere. */
function flowText(value: unknown, type?: Scalar.Type | null): string {
  const holder = yamlOf({ v: { v: value } }, { notes: new Map(), nameOf: ({ path }) => path });
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
  const body = yamlOf({ v: value }, { notes: new Map(), nameOf: ({ path }) => path });
  const [head = '', ...lines] = body.trimEnd().split('\n');
  return [head.slice('v: '.length), ...lines.map((line) => (line === '' ? '' : ' '.repeat(column) + line))].join('\n');
}

function isPlainMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}

/** Returns true if a comment is inside a node, or right before it. */
export function hasComments(node: ParsedNode): boolean {
  let found = false;
  visit(node, (key, each) => {
    const { comment, commentBefore } = each as { comment?: string | null; commentBefore?: string | null };
    // A comment after the whole node is not inside it.
    found ||= Boolean(commentBefore) || (key !== null && each !== node && Boolean(comment));
  });
  return found;
}

function columnOf(text: string, key: ParsedNode): number {
  return key.range[0] - (text.lastIndexOf('\n', key.range[0] - 1) + 1);
}

function lineEnd(text: string, offset: number): number {
  if (offset > 0 && text[offset - 1] === '\n') {
    return offset;
  }
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}
