/** Lists of values for statements that write many rows. */
import type { SqlValue } from './database.ts';

/** Part of the rows, as the text that follows VALUES, and its values. */
export interface RowBatch {
  /** Such as `(?, ?), (?, ?)`. */
  readonly list: string;
  readonly values: readonly SqlValue[];
}

const MAX_VALUES = 500;
/** Length of the texts of a batch, in UTF-16 units; a row with a longer one is written alone. */
const MAX_LENGTH = 1024 * 1024;
/** Sizes of batches with more rows are multiples of this, so that few different statements are prepared. */
const STEP = 8;

/** Divides rows into batches. `row` is the text of one row, such as `(?, ?)`. */
export function* rowBatches(row: string, rows: readonly (readonly SqlValue[])[]): Generator<RowBatch> {
  const most = Math.max(1, Math.floor(MAX_VALUES / (rows[0]?.length ?? 1)));
  let start = 0;
  while (start < rows.length) {
    const fitting = countFitting(rows, start, most);
    const size = fitting > STEP ? fitting - (fitting % STEP) : fitting;
    const batch = rows.slice(start, start + size);
    yield { list: batch.map(() => row).join(', '), values: batch.flat() };
    start += size;
  }
}

function countFitting(rows: readonly (readonly SqlValue[])[], start: number, most: number): number {
  const end = Math.min(rows.length, start + most);
  let length = 0;
  for (let index = start; index < end; index += 1) {
    for (const value of rows[index] ?? []) {
      length += typeof value === 'string' ? value.length : 0;
    }
    if (length > MAX_LENGTH && index > start) {
      return index - start;
    }
  }
  return end - start;
}
