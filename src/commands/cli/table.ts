/** Columns and ages in the output of commands. */
import { largest } from '../../core/lists.ts';
import { textWidth } from '../../plan/render/text-layout.ts';
import { printable } from '../../plan/render/words.ts';

type Cell = string | number | null | undefined;

/**
 * Aligns rows below their headings; a column that is empty in every row is left out. Returns a line for the headings and one
 * for each row. Control characters are escaped, because names come from outside.
 */
export function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const shown = rows.map((row) => headings.map((_, column) => printable(String(row[column] ?? ''))));
  const columns = headings.map((_, column) => column).filter((column) => shown.some((row) => row[column] !== ''));
  const lines = [headings, ...shown].map((row) => columns.map((column) => row[column] ?? ''));
  const widths = columns.map((_, column) => largest(lines.map((line) => textWidth(line[column] ?? ''))));
  return lines.map((line) =>
    line
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - textWidth(cell)))
      .join('  ')
      .trimEnd(),
  );
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
