/** Finds the values of Kubernetes secrets in YAML and JSON, also in a quoted mail, in prose and in a broken manifest. */

import { append } from '../../../core/lists.ts';
import type { PrivateValue } from '../model/found.ts';
import { matchesIn } from '../model/matches.ts';
import type { TextSpan } from './keys.ts';
import { isEnvironment, isPlaceholder } from './non-secrets.ts';

const KIND = /(?<![\w-])kind\\{0,3}["']?[ \t]{0,8}:[ \t]{0,8}\\{0,3}["']?(Secret|SecretList)(?![\w-])/g;
/** Longest manifest, in characters on each side of its kind. */
const REACH = 64 * 1024;
const DATA = /^(\\{0,3}["']?)(?:data|stringData)\1[ \t]{0,8}:(?=[\s{\\]|$)/;
/** Start of a line: marks of a quoted mail, indentation, and dashes of list items, which count as indentation. */
const INDENT = /^(?:[ \t]?>){0,8}(?:[ \t]|-(?=[ \t])){0,200}/;

/** Returns all values of `data` and `stringData`, whatever their keys. Pure; takes linear time: no part is read twice. */
export function findKubernetesSecrets(text: string): readonly PrivateValue[] {
  const found: TextSpan[] = [];
  let done = 0;
  for (const { index, 1: kind } of text.includes('Secret') ? matchesIn(text, KIND) : []) {
    if (index >= done) {
      const open = openBrace(text, index, done);
      const [spans, end] =
        open < 0 ? inBlock(text, index, done, kind === 'SecretList') : inBraces(text, open, '', kind === 'SecretList');
      append(
        found,
        spans.filter(({ start, end: last }) => isValue(text.slice(start, last))),
      );
      done = Math.max(end, index);
    }
  }
  return found.map(({ start, end }) => {
    const key = text.slice(start, end);
    return { type: 'secret', label: 'SECRET', start, end, key, rule: 'Kubernetes secret' };
  });
}

function isValue(value: string): boolean {
  return value.length > 1 && !isPlaceholder(value) && !isEnvironment(value) && !/^(?:null|~|true|false)$/.test(value);
}

/** Returns the position of the brace that is open at a position; -1 if none is. */
function openBrace(text: string, at: number, least: number): number {
  let depth = 0;
  for (let index = at - 1; index >= Math.max(least, at - REACH); index -= 1) {
    const sign = text[index];
    depth += sign === '}' ? 1 : sign === '{' ? -1 : 0;
    if (depth < 0) {
      return index;
    }
  }
  return -1;
}

type Spans = readonly [spans: readonly TextSpan[], end: number];

/** A brace, a key with its colon, or a scalar. Quotes are escaped where JSON is part of a string. */
const TOKEN =
  /[{}]|"((?:[^"\\]|\\[\s\S])*)"|\\{1,3}"([^"]*?)\\{1,3}"|'((?:[^']|'')*)'|[^\s{}[\],:"'\\]+(?::[^\s{}[\],:"']+)*/y;

/** Reads an object in braces with a name. The values of `data` are secrets: at any depth, or in the object itself. */
function inBraces(text: string, open: number, name: string, isList: boolean): Spans {
  const found: TextSpan[] = [];
  const keys: string[] = [];
  const region = text.slice(open, open + 2 * REACH);
  let key = name;
  let at = 0;
  while (at < region.length && (at === 0 || keys.length > 0)) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(region);
    const [token = ' ', ...contents] = match ?? [];
    const content = contents.find((each) => each !== undefined) ?? token;
    const start = open + at + token.indexOf(content);
    at += token.length;
    if (token === '{') {
      keys.push(key);
    } else if (token === '}') {
      keys.pop();
    } else if (match !== null && /^\s{0,8}:(?!\/\/)/.test(region.slice(at, at + 12))) {
      key = content;
    } else if (match !== null && /^(?:data|stringData)$/.test(keys.at(-1) ?? '') && (keys.length === 2 || isList)) {
      found.push({ start, end: start + content.length });
    }
  }
  return [found, open + at];
}

interface Line {
  /** Position of the text after the indentation, and of the end of the line. */
  readonly start: number;
  readonly end: number;
  readonly column: number;
}

function lineAt(text: string, from: number): Line {
  const newline = text.indexOf('\n', from);
  const end = newline < 0 ? text.length : newline;
  const [indent = ''] = INDENT.exec(text.slice(from, Math.min(end, from + 400))) ?? [];
  return { start: from + indent.length, end, column: indent.length };
}

/** Reads the lines of an object in block style around its kind. */
function inBlock(text: string, at: number, least: number, isList: boolean): Spans {
  let from = text.lastIndexOf('\n', at) + 1;
  const { column } = lineAt(text, from);
  const isItem = (start: number, line: Line) =>
    line.column === column && /-[ \t]{1,8}$/.test(text.slice(start, line.start));
  // Up to the first line of the object, or of its list item.
  while (from > Math.max(least, at - REACH) && !isItem(from, lineAt(text, from))) {
    const before = from < 2 ? 0 : text.lastIndexOf('\n', from - 2) + 1;
    if (!belongs(text, lineAt(text, before), column)) {
      break;
    }
    from = before;
  }
  const lines: Line[] = [];
  let end = from;
  while (end < Math.min(text.length, at + REACH)) {
    const line = lineAt(text, end);
    if ((end > from && isItem(end, line)) || !belongs(text, line, column)) {
      break;
    }
    lines.push(line);
    end = line.end + 1;
  }
  const found: TextSpan[] = [];
  for (const [index, line] of lines.entries()) {
    const match =
      line.column === column || isList ? DATA.exec(text.slice(line.start, Math.min(line.end, line.start + 40))) : null;
    if (match !== null) {
      const rest = line.start + match[0].length;
      const brace = text.slice(rest, line.end).search(/\{/);
      append(found, brace < 0 ? entries(text, lines, index) : inBraces(text, rest + brace, 'data', true)[0]);
    }
  }
  return [found, end];
}

/** Reports whether a line is part of an object: deeper than its keys, empty, or one of its keys. */
function belongs(text: string, { start, end, column }: Line, of: number): boolean {
  const line = text.slice(start, Math.min(end, start + 200));
  return (
    line.trim() === '' ||
    (!/^(?:---|\.\.\.|```)/.test(line) &&
      (column > of || (column === of && /^(?:["']?[\w./-]{1,128}["']?[ \t]{0,8}:(?:\s|$)|#|[\]}])/.test(line))))
  );
}

/** Returns the values of the lines below `data:`; each is a scalar in one of the styles of YAML. */
function entries(text: string, lines: readonly Line[], data: number): readonly TextSpan[] {
  const found: { start: number; end: number }[] = [];
  const isEmpty = ({ start, end }: Line) => text.slice(start, end).trim() === '';
  const first = lines.slice(data + 1).find((line) => !isEmpty(line));
  const [base, column] = [lines[data]?.column ?? 0, first?.column ?? 0];
  for (const line of lines.slice(data + 1)) {
    if (isEmpty(line) || (text[line.start] === '#' && line.column <= column)) {
      continue;
    }
    if (line.column <= base) {
      break;
    }
    const content = text.slice(line.start, line.end).trimEnd();
    const end = line.start + content.length;
    const key =
      line.column > column
        ? null
        : /^(?:"[^"]{1,253}"|'[^']{1,253}'|[\w./-]{1,253})[ \t]{0,8}:(?:[ \t]{1,40}|$)/.exec(content);
    const last = found.at(-1);
    if (key !== null) {
      const value = content.slice(key[0].length).replace(/^(?:[|>][-+\d]{0,3}|[&!]\S{1,60})[ \t]{0,8}(?:#.*)?$/, '');
      const start = end - value.length;
      found.push({ start: value === '' ? -1 : start, end });
    } else if (last !== undefined) {
      last.start = last.start < 0 ? line.start : last.start;
      last.end = end;
    }
  }
  return found.filter(({ start }) => start >= 0).map((span) => inner(text, span));
}

/** Returns a scalar without its quotes, tag and comment. */
function inner(text: string, { start, end }: TextSpan): TextSpan {
  const [, tag = '', quote = '', value = ''] =
    /^((?:[&!]\S{1,60}[ \t]{1,8})?)(["']?)([\s\S]*?)\2(?:[ \t]{1,20}#[^\n]*)?$/.exec(text.slice(start, end)) ?? [];
  const from = start + tag.length + quote.length;
  return { start: from, end: from + value.length };
}
