/** Suggestions for misspelled words. */
import { distance } from 'fastest-levenshtein';

/**
 * Longest word with suggestions, because comparing two words takes time proportional to the product of their lengths.
 */
const MAX_LENGTH = 300;

/** Suggestions for the first mistakes of a pass. Each mistake is compared with every candidate, so there is a limit. */
export class Suggestions {
  #left = 50;

  /** Works like {@link nearest}, and also returns null once the limit is reached. */
  nearest(word: string, candidates: ReadonlyMap<string, unknown>): string | null {
    this.#left -= 1;
    return this.#left < 0 ? null : nearest(word, candidates.keys());
  }
}

/** Returns the candidate that was probably meant; null if none is similar. Ties are broken alphabetically. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > MAX_LENGTH) {
    return null;
  }
  const allowed = Math.min(3, Math.max(1, Math.floor(word.length / 4)));
  const lower = word.toLowerCase();
  let best: string | null = null;
  let bestDistance = allowed + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > allowed || candidate === word) {
      continue;
    }
    const away = differences(lower, candidate.toLowerCase());
    if (away < bestDistance || (away === bestDistance && best !== null && candidate < best)) {
      best = candidate;
      bestDistance = away;
    }
  }
  return best;
}

/** Returns the edit distance; a permutation of the same letters, such as "titel", counts as one edit. */
function differences(a: string, b: string): number {
  return a.length === b.length && a !== b && letters(a) === letters(b) ? 1 : distance(a, b);
}

function letters(word: string): string {
  return [...word].sort().join('');
}

/** Returns `; did you mean "title"?`, or `otherwise` if no candidate is similar. */
export function didYouMean(word: string, candidates: readonly string[], otherwise = ''): string {
  const near = nearest(word, candidates);
  return near === null ? otherwise : `; did you mean ${quote(near)}?`;
}

/** Quotes a word, with invisible characters escaped. */
export function quote(word: string): string {
  // Shortened first, because many messages may quote the same long word.
  const text = JSON.stringify(word.length > 200 ? word.slice(0, 200) : word);
  return text.length > 120 ? `${text.slice(0, 117)}…"` : text;
}
