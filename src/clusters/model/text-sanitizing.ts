/** Maximum length that is processed, in UTF-16 code units: longer than any valid text. */
const ENOUGH = 2_000;

/**
 * Converts text of the platform to one line. Line breaks, control characters, text-direction characters and runs of
 * white space become one space each; halves of surrogate pairs are replaced.
 */
export function oneLine(text: string): string {
  return text
    .slice(0, 10 * ENOUGH)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim();
}

/** Removes control and text-direction characters from text of the platform; its lines stay. */
export function stripControlCharacters(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

/**
 * Truncates a text to `most` UTF-16 code units, between characters as a reader sees them. A truncated text ends with
 * "…", which counts too. Where `words` is set, it is cut between words if one ends in the last third.
 */
export function cut(text: string, most: number, words = false): string {
  if (text.length <= most) {
    return text;
  }
  let kept = 0;
  let word = 0;
  // The slice may end inside a character, so it is longer than needed.
  for (const { segment, index } of new Intl.Segmenter().segment(text.slice(0, most + ENOUGH))) {
    if (index + segment.length > most - 1) {
      break;
    }
    kept = index + segment.length;
    word = /\s/u.test(segment) ? index : word;
  }
  const end = words && word > (most * 2) / 3 ? word : kept;
  return `${text.slice(0, end).trimEnd()}…`;
}

/**
 * Returns an address that a person can open; null for other schemes, and for addresses longer than the platform
 * accepts.
 */
export function webUrl(url: unknown): string | null {
  const isWeb = typeof url === 'string' && url.length <= 2_048 && /^https?:\/\//i.test(url) && URL.canParse(url);
  return isWeb ? url : null;
}
