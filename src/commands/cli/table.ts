/** Columns and ages in the output of commands. */
import { largest } from '../../core/lists.ts';
import { textWidth, wrap } from '../../plan/render/text-layout.ts';
import { printable } from '../../plan/render/words.ts';
import type { Terminal } from './context.ts';

type Cell = string | number | null | undefined;

/** Spaces before what continues a row on the next line. */
const INDENT = 4;
/** Columns that a text needs to be read. */
const LEAST_TEXT = 24;

/**
 * Aligns rows below their headings; a column that is empty in every row is left out. Returns a text for the headings and one
 * for each row. Control characters are escaped, because names come from outside. On a terminal that is too narrow, the last
 * columns continue below; elsewhere a row is always one line.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  { isOutTerminal, columns: room }: Pick<Terminal, 'isOutTerminal' | 'columns'>,
): string[] {
  const shown = rows.map((row) => headings.map((_, column) => printable(String(row[column] ?? ''))));
  const columns = headings.map((_, column) => column).filter((column) => shown.some((row) => row[column] !== ''));
  const lines = [headings, ...shown].map((row) => columns.map((column) => row[column] ?? ''));
  const widths = columns.map((_, column) => largest(lines.map((line) => textWidth(line[column] ?? ''))));
  const aligned = (line: readonly string[]) =>
    line.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - textWidth(cell))).join('  ');
  const widthOf = (count: number) => widths.slice(0, count).reduce((sum, width) => sum + width + 2, 0);
  if (!isOutTerminal || widthOf(widths.length) - 2 <= room) {
    return lines.map((line) => aligned(line).trimEnd());
  }
  const last = widths.length - 1;
  if (widthOf(last) + LEAST_TEXT <= room) {
    return lines.map((line) => {
      const lead = `${aligned(line.slice(0, last))}  `;
      return wrap(lead, line[last] ?? '', room, widthOf(last)).trimEnd();
    });
  }
  const fitting = Math.max(1, widths.filter((_, column) => widthOf(column + 1) - 2 <= room).length);
  return lines.map((line) => {
    const rest = line.slice(fitting).filter((cell) => cell !== '');
    const below = rest.length === 0 ? '' : `\n${wrap(' '.repeat(INDENT), rest.join('  '), room, INDENT)}`;
    return aligned(line.slice(0, fitting)).trimEnd() + below;
  });
}

/** Formats a span as `40s`, `5m`, `3h` or `2d`; `-` for null. */
export function shortAge(milliseconds: number | null): string {
  if (milliseconds === null) {
    return '-';
  }
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 2) {
    return `${Math.max(0, Math.floor(milliseconds / 1000))}s`;
  }
  return minutes < 120
    ? `${minutes}m`
    : minutes < 2880
      ? `${Math.floor(minutes / 60)}h`
      : `${Math.floor(minutes / 1440)}d`;
}
