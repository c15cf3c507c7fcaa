import { isMap, isNode, isPair, isScalar, isSeq, type ParsedNode, parseAllDocuments, type YAMLMap } from 'yaml';
import { Lines } from '../../manifests/read/lines.ts';

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

interface Placed {
  readonly offset: number;
  /** Indentation of the keys of the entries. */
  readonly indent: number;
}

function placeIn(text: string, key: ParsedNode, value: ParsedNode | null): Placed | null {
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
  const end = last.value === null ? last.key.range[1] : Math.max(last.key.range[1], last.value.range[1]);
  return { offset: afterComments(text, text[end - 1] === '\n' ? end : lineEnd(text, end), indent), indent };
}

/** Returns the indentation of a key that begins its line; null if something precedes it. */
function columnOf(text: string, key: ParsedNode): number | null {
  const { column } = new Lines(text).positionOf(key.range[0]);
  const before = text.slice(key.range[0] - column + 1, key.range[0]);
  return /^\ufeff? *$/.test(before) ? column - 1 - (before.startsWith('\ufeff') ? 1 : 0) : null;
}

/** Returns the end of a node's content: the range of a block includes comments after it, and the next indentation. */
export function contentEnd(node: ParsedNode): number {
  const isBlock = (isMap(node) || isSeq(node)) && node.flow !== true;
  const last: unknown = isBlock ? node.items.at(-1) : undefined;
  const inner = isPair(last) ? (last.value ?? last.key) : last;
  return isNode(inner) && inner.range ? contentEnd(inner as ParsedNode) : node.range[1];
}

/** Returns the start of the next line. */
export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}

/** Returns the end of the comments that belong to the previous entry, because they are indented like it. */
export function afterComments(text: string, offset: number, indent: number): number {
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
