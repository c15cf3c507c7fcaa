/** A part of a text, in UTF-16 code units. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
  /** What recognized it, in words. */
  readonly rule?: string;
}

/** Returns the span of the first group of each match whose text passes the test. `pattern` has the flags `d` and `g`. */
export function matchSpans(
  pattern: RegExp,
  text: string,
  isSecret: (value: string) => boolean,
  rule?: string,
): readonly TextSpan[] {
  return [...text.matchAll(pattern)].flatMap(({ 1: value, indices }) => {
    const [start, end] = indices?.[1] ?? [0, 0];
    return value !== undefined && isSecret(value) ? [{ start, end, ...(rule === undefined ? {} : { rule }) }] : [];
  });
}
