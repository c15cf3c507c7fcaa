/** Position in a text. Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Start of a file. */
export const START: Position = { line: 1, column: 1 };

/** Converts offsets in a text to lines and columns. The lines are indexed at the first call. */
export class Lines {
  private readonly text: string;
  private starts: number[] | null = null;

  constructor(text: string) {
    this.text = text;
  }

  positionOf(offset: number): Position {
    this.starts ??= lineStarts(this.text);
    const line = Math.max(
      0,
      lastAtMost(this.starts, offset, (start) => start),
    );
    return { line: line + 1, column: offset - (this.starts[line] ?? 0) + 1 };
  }
}

/** Returns the index of the last item whose number is at most `limit`, or -1. The items are sorted by that number. */
export function lastAtMost<Item>(sorted: readonly Item[], limit: number, by: (item: Item) => number): number {
  let low = -1;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (by(sorted[middle] as Item) <= limit) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}
