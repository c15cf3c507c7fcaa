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
