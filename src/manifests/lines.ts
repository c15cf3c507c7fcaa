/** A place in a text. Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Where a file begins. */
export const START: Position = { line: 1, column: 1 };

/** Turns offsets in a text into lines and columns. The lines are counted when the first offset is asked for. */
export class Lines {
  private readonly text: string;
  private starts: number[] | null = null;

  constructor(text: string) {
    this.text = text;
  }

  positionOf(offset: number): Position {
    this.starts ??= lineStarts(this.text);
    const starts = this.starts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}
