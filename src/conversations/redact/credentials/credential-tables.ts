/** Finds credentials in the column of a table whose heading names them: Markdown, tab-separated and comma-separated. */
import { append } from '../../../core/lists.ts';
import { type Folded, fold } from '../model/fold.ts';
import { CREDENTIAL_NAMES, type NameKind } from './credential-names.ts';
import { isSecretValue } from './credential-values.ts';
import type { TextSpan } from './spans.ts';

const KINDS: ReadonlyMap<string, NameKind> = new Map(
  CREDENTIAL_NAMES.filter(({ isStem }) => !isStem).map(({ name, kind }) => [fold(name).text, kind]),
);
/** A heading in a row of at least two cells. */
const HEADING = new RegExp(
  `[|\\t;,\\n][ *_\`"']{0,4}(?:${[...KINDS.keys()].map((name) => name.replaceAll(/[.'-]/g, '\\$&')).join('|')})s?[ *_\`"']{0,4}(?=[|\\t;,\\r\\n])`,
);
/** Longest line that is read as a row, in characters. */
const MAX_ROW_LENGTH = 2000;

interface Cell extends TextSpan {
  readonly text: string;
}

interface Table {
  readonly separator: string;
  readonly columns: ReadonlyMap<number, NameKind>;
  readonly width: number;
}

/** Finds the credentials. Pure; takes linear time, because each line is split at most twice. */
export function findTableSecrets(text: string, view: Folded): readonly TextSpan[] {
  if (!text.includes('\n') || !HEADING.test(`\n${view.text}`)) {
    return [];
  }
  const found: TextSpan[] = [];
  let table: Table | undefined;
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf('\n', from);
    const until = end < 0 ? text.length : end;
    const line = text.slice(from, Math.min(until, from + MAX_ROW_LENGTH));
    const rows: Table | undefined = table;
    const cells: readonly Cell[] | undefined = rows === undefined ? undefined : cellsOf(line, rows.separator, from);
    if (rows !== undefined && cells?.length === rows.width) {
      append(found, secretsIn(cells, rows.columns));
    } else {
      table = headingOf(line, from);
    }
    from = until + 1;
  }
  return found;
}

function headingOf(line: string, from: number): Table | undefined {
  const separator = ['|', '\t', ';', ','].find((each) => line.includes(each));
  if (separator === undefined) {
    return undefined;
  }
  const cells = cellsOf(line, separator, from);
  const columns = new Map<number, NameKind>();
  for (const [index, { text }] of cells.entries()) {
    const kind = text.length > 40 || text === '' ? undefined : kindOf(text);
    if (kind !== undefined) {
      columns.set(index, kind);
    }
  }
  return columns.size === 0 || cells.length < 2 ? undefined : { separator, columns, width: cells.length };
}

/** Returns the kind of credential that a heading names, ignoring emphasis and quotes. */
function kindOf(heading: string): NameKind | undefined {
  const name = fold(heading.replaceAll(/^[*_`"']{1,3}|[*_`"']{1,3}$/g, '')).text;
  return KINDS.get(name) ?? (name.endsWith('s') ? KINDS.get(name.slice(0, -1)) : undefined);
}

function cellsOf(line: string, separator: string, from: number): readonly Cell[] {
  const cells: Cell[] = [];
  let start = 0;
  for (const part of line.split(separator)) {
    const text = part.trim();
    const at = from + start + (part.length - part.trimStart().length);
    cells.push({ text, start: at, end: at + text.length });
    start += part.length + separator.length;
  }
  // The borders of a Markdown table create empty cells at its ends.
  return separator === '|'
    ? cells.filter(({ text }, index) => text !== '' || (index > 0 && index < cells.length - 1))
    : cells;
}

function secretsIn(cells: readonly Cell[], columns: ReadonlyMap<number, NameKind>): readonly TextSpan[] {
  return [...columns].flatMap(([index, kind]) => {
    const cell = cells[index];
    if (cell === undefined || /\s/.test(cell.text)) {
      return [];
    }
    const [quotes = ''] = /^[`"'*]{1,3}/.exec(cell.text) ?? [];
    const value = cell.text.slice(quotes.length, quotes.length === 0 ? undefined : -quotes.length);
    const isSecret = isSecretValue({ kind, isPlural: false, value, isQuoted: false, link: 'cell', rest: '' });
    return isSecret && value.length >= 4
      ? [{ start: cell.start + quotes.length, end: cell.start + quotes.length + value.length }]
      : [];
  });
}
