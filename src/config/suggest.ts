import { closest, distance } from 'fastest-levenshtein';

/** `; did you mean "x"?` where a known word is near enough, else nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  if (known.length === 0) {
    return '';
  }
  const near = closest(word.toLowerCase(), [...known]);
  const caseOnly = known.find((candidate) => candidate.toLowerCase() === word.toLowerCase());
  // Two letters swapped count as two edits.
  const allowed = Math.max(word.length < 4 ? 1 : 2, Math.floor(word.length / 3));
  const best = caseOnly ?? (distance(word, near) <= allowed ? near : undefined);
  return best === undefined ? '' : `; did you mean "${best}"?`;
}
