import { distance } from 'fastest-levenshtein';

/** Longer words have no suggestion: comparing two words takes time in proportion to the product of their lengths. */
const LONGEST = 300;

/** Suggestions for the mistakes of one pass: for the first of them only, as each is compared with every candidate. */
export class Suggestions {
  #left: number;

  constructor(most = 50) {
    this.#left = most;
  }

  /** Like {@link nearest}; null also where the limit is reached. */
  nearest(word: string, candidates: ReadonlyMap<string, unknown>): string | null {
    this.#left -= 1;
    return this.#left < 0 ? null : nearest(word, candidates.keys());
  }
}

/** The candidate that was probably meant, or null when none is near. Between equals the first in the alphabet wins. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > LONGEST) {
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

/** Edits from one word to the other; letters that only changed places, as in "titel", count as one. */
function differences(a: string, b: string): number {
  return a.length === b.length && a !== b && letters(a) === letters(b) ? 1 : distance(a, b);
}

function letters(word: string): string {
  return [...word].sort().join('');
}

/** `; did you mean "title"?`, or what follows when nothing is near. */
export function didYouMean(word: string, candidates: readonly string[], otherwise = ''): string {
  const near = nearest(word, candidates);
  return near === null ? otherwise : `; did you mean ${quote(near)}?`;
}

/** A word in quotes, with what would not show made visible. */
export function quote(word: string): string {
  // Cut first: the same long word may be named by many messages.
  const text = JSON.stringify(word.length > 200 ? word.slice(0, 200) : word);
  return text.length > 120 ? `${text.slice(0, 117)}…"` : text;
}
