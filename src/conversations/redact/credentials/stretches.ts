/** Stretches of a text that the first group of a pattern matches. */
import type { Stretch } from './key-shapes.ts';

/** `pattern` has the flags `d` and `g`. Returns the first group of each match whose text passes the test. */
export function stretchesOf(pattern: RegExp, text: string, isSecret: (value: string) => boolean): readonly Stretch[] {
  const found: Stretch[] = [];
  for (const { 1: value, indices } of text.matchAll(pattern)) {
    const [start, end] = indices?.[1] ?? [0, 0];
    if (value !== undefined && isSecret(value)) {
      found.push({ start, end });
    }
  }
  return found;
}
