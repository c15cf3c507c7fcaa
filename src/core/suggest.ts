import { distance } from 'fastest-levenshtein';

/** The candidate that was probably meant, or null when none is near. Between equals the first in the alphabet wins. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
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
  const text = JSON.stringify(word);
  return text.length > 120 ? `${text.slice(0, 117)}…"` : text;
}
