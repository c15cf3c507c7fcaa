/** Searches with patterns that copy neither the pattern nor the text. */

/**
 * Returns the matches of a pattern with the flag `g`, by position. `matchAll` copies the pattern with each call, which
 * takes longer than the search of a short text.
 */
export function matchesIn(text: string, pattern: RegExp): readonly RegExpExecArray[] {
  const matches: RegExpExecArray[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    matches.push(match);
    if (match[0] === '') {
      // Half of a surrogate pair would be the same position again.
      pattern.lastIndex += (text.codePointAt(match.index) ?? 0) > 0xffff ? 2 : 1;
    }
  }
  return matches;
}

/**
 * Returns a pattern for the text that ends at a position, for `isBefore`. It is read from its end to its start, and most
 * texts differ in the last character. Every repeat must have a bound.
 */
export function ending(pattern: RegExp): RegExp {
  return new RegExp(`(?<=${pattern.source})`, `${pattern.flags}y`);
}

/** Reports whether the text before a position ends with a pattern made by `ending`. */
export function isBefore(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
