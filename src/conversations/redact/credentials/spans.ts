/** A part of a text, in UTF-16 code units. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** Returns the span of the first group of each match whose text passes the test. `pattern` has the flags `d` and `g`. */
export function matchSpans(pattern: RegExp, text: string, isSecret: (value: string) => boolean): readonly TextSpan[] {
  const found: TextSpan[] = [];
  for (const { 1: value, indices } of text.matchAll(pattern)) {
    const [start, end] = indices?.[1] ?? [0, 0];
    if (value !== undefined && isSecret(value)) {
      found.push({ start, end });
    }
  }
  return found;
}
