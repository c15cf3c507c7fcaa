/** Redirects in a CSV file: a header, then one redirect in each row. */
import { CsvError, parse } from 'csv-parse/sync';
import type { FileContent, FileLine } from '../model/manifest.ts';

/** Greatest number of redirects of a site that one list or file can have. */
export const MAX_REDIRECTS = 10_000;

/** Longest row, in bytes. */
const MAX_ROW = 8192;

const TEXTS = ['from', 'to'];
const SWITCHES = ['permanent', 'captureWildcard', 'draft'];
const COLUMNS = [...TEXTS, ...SWITCHES];

/** A row, as an entry of the list would be written. */
interface Row {
  readonly value: Readonly<Record<string, unknown>>;
  readonly at: FileLine;
}

/** Reads the rows of a file. `report` gets what is wrong with it, with its line. */
export function readRows(file: FileContent, report: (message: string, at: FileLine) => void): readonly Row[] {
  const wrong = (line: number, message: string) => report(message, { file, line });
  let lines: readonly { readonly record: readonly string[]; readonly info: { readonly lines: number } }[];
  try {
    lines = parse(file.text, {
      bom: true,
      info: true,
      max_record_size: MAX_ROW,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as typeof lines;
  } catch (error) {
    if (!(error instanceof CsvError)) {
      throw error;
    }
    // The message of the parser quotes the row.
    const isLong = error.code === 'CSV_MAX_RECORD_SIZE';
    wrong(
      Number(error.lines ?? 1),
      isLong ? 'is too long, or has a quote that is not closed' : 'is not CSV (RFC 4180)',
    );
    return [];
  }
  const [header, ...rows] = lines;
  const names = header?.record ?? [];
  const unknown = names.filter((name, index) => !COLUMNS.includes(name) || names.indexOf(name) !== index);
  if (unknown.length > 0 || !TEXTS.every((name) => names.includes(name))) {
    wrong(1, `must name the columns: from and to and, if needed, ${SWITCHES.join(', ')}`);
    return [];
  }
  if (rows.length > MAX_REDIRECTS) {
    wrong(rows[MAX_REDIRECTS]?.info.lines ?? 1, `has ${rows.length} redirects, must have at most ${MAX_REDIRECTS}`);
    return [];
  }
  return rows.flatMap(({ record, info }): readonly Row[] => {
    const at = { file, line: info.lines };
    if (record.length > names.length) {
      report(`has ${record.length} values, and the header names ${names.length}`, at);
      return [];
    }
    const cells = names.flatMap((name, index) => {
      const cell = record[index] ?? '';
      return cell === '' ? [] : [[name, readCell(name, cell)] as const];
    });
    return [{ value: Object.fromEntries(cells), at }];
  });
}

function readCell(name: string, cell: string): unknown {
  if (SWITCHES.includes(name)) {
    return cell === 'true' ? true : cell === 'false' ? false : cell;
  }
  return name === 'to' ? readTarget(cell) : cell;
}

/** Reads `section:KEY`, `siteSpace:KEY` or `siteSpace:KEY#PAGE`; anything else is an address. */
function readTarget(cell: string): unknown {
  const [, kind = '', key, page] = /^(section|siteSpace):([^#]*)(?:#(.*))?$/.exec(cell) ?? [];
  return key === undefined ? cell : { [kind]: key, ...(page === undefined ? {} : { page }) };
}
