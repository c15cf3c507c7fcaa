/** Reads tables in a text (Markdown, tab-, semicolon- and comma-separated), to find values by the heading of their column. */

/** Content of a table cell, without surrounding spaces and quotes. */
export interface TableCell {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Consecutive lines with the same number of cells. */
export interface TextTable {
  readonly rows: readonly (readonly TableCell[])[];
}

const SEPARATORS = ['|', '\t', ';', ','] as const;
/** Longest line that is read as a row, and longest heading, in characters. */
const MAX_ROW_LENGTH = 2000;
const MAX_HEADING_LENGTH = 40;
/** Maximum number of lines with the same number of cells before the headings. */
const LEADING_ROWS = 3;

/** Headings of tables that describe an interface, a type or memory, and contain no personal data. */
const TECHNICAL =
  /^(?:(?:data ?)?type|typ|tipo|default|required|path|method|endpoint|format|parameter|field|register|offset|size|bytes?|bits?|reset|protocol)$/i;

/** Reports whether the headings are those of a table that describes an interface, a type or memory. */
export function isTechnicalTable(headings: readonly string[]): boolean {
  return headings.some((heading) => TECHNICAL.test(heading));
}

/** Returns the cells below accepted headings. The first row with an accepted heading is the row of headings. */
export function cellsUnder(
  text: string,
  accepts: (heading: string, headings: readonly string[]) => boolean,
): readonly { readonly cell: TableCell; readonly heading: string }[] {
  return readTables(text).flatMap(({ rows }) => {
    for (const [index, row] of rows.slice(0, LEADING_ROWS).entries()) {
      const headings = row.map((cell) => cell.text);
      const columns = row.flatMap(({ text: heading }, column) =>
        heading !== '' && heading.length <= MAX_HEADING_LENGTH && accepts(heading, headings) ? [column] : [],
      );
      if (columns.length > 0) {
        return rows
          .slice(index + 1)
          .flatMap((cells) =>
            columns.map((column) => ({ cell: cells[column] as TableCell, heading: headings[column] as string })),
          );
      }
    }
    return [];
  });
}

/** Tables of the last text: several finders read the same one in turn. */
let last: { readonly text: string; readonly tables: readonly TextTable[] } = { text: '', tables: [] };

function readTables(text: string): readonly TextTable[] {
  if (last.text !== text) {
    last = { text, tables: tablesOf(text) };
  }
  return last.tables;
}

function tablesOf(text: string): readonly TextTable[] {
  if (!text.includes('\n')) {
    return [];
  }
  const tables: TextTable[] = [];
  let rows: (readonly TableCell[])[] = [];
  let separator = '';
  const close = () => {
    if (rows.length > 1) {
      tables.push({ rows });
    }
    rows = [];
  };
  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf('\n', from);
    const end = newline < 0 ? text.length : newline;
    const line = end - from > MAX_ROW_LENGTH ? '' : text.slice(from, end).trimEnd();
    const own = SEPARATORS.find((each) => line.includes(each)) ?? '';
    let cells = own === '' ? [] : cellsOf(line, rows.length > 0 && line.includes(separator) ? separator : own, from);
    if (rows.length > 0 && cells.length !== rows[0]?.length) {
      close();
      cells = own === '' ? [] : cellsOf(line, own, from);
    }
    if (cells.length > 1) {
      separator = rows.length === 0 ? own : separator;
      rows.push(cells);
    }
    from = end + 1;
  }
  close();
  return tables;
}

function cellsOf(line: string, separator: string, offset: number): readonly TableCell[] {
  const cells: TableCell[] = [];
  for (let start = 0; start <= line.length; ) {
    const end = endOfCell(line, start, separator);
    const part = line.slice(start, end);
    const [from, to] = bare(part);
    cells.push({ text: part.slice(from, to), start: offset + start + from, end: offset + start + to });
    start = end + 1;
  }
  // The borders of a Markdown table create empty cells at its ends.
  return separator === '|'
    ? cells.filter(({ text }, index) => text !== '' || (index > 0 && index < cells.length - 1))
    : cells;
}

const AROUND: ReadonlySet<string> = new Set(' \t\r\u00a0"\'*`');

/** Returns the bounds of a cell without the spaces and quotes around it. */
function bare(part: string): readonly [from: number, to: number] {
  let from = 0;
  let to = part.length;
  while (from < to && AROUND.has(part.charAt(from))) {
    from += 1;
  }
  while (to > from && AROUND.has(part.charAt(to - 1))) {
    to -= 1;
  }
  return [from, to];
}

/** Returns the end of a cell; a separator inside quotes is part of it. */
function endOfCell(line: string, start: number, separator: string): number {
  const quote = line[start] === '"' ? line.indexOf(`"${separator}`, start + 1) : -1;
  const end = quote >= 0 ? quote + 1 : line.indexOf(separator, start);
  const isLastQuoted = line[start] === '"' && quote < 0 && line.endsWith('"');
  return end < 0 || isLastQuoted ? line.length : end;
}
