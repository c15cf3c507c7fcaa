/** Length to which a text is cut before it is processed: longer than any valid one. */
const ENOUGH = 2_000;

/**
 * A text of the platform's as one line: line breaks, control characters, what turns the direction of a line around and
 * runs of space become one space, halves of characters are replaced.
 */
export function oneLine(text: string): string {
  return text
    .slice(0, 10 * ENOUGH)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim();
}

/** A text of the platform's without what moves a cursor or turns the direction of a line around; its lines stay. */
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
  // One more unit than a slice needs, so that no character is taken for whole that the slice has cut.
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

/** An address that a person can follow; null for anything else: other schemes, and more than the platform takes. */
export function webUrl(url: unknown): string | null {
  const isWeb = typeof url === 'string' && url.length <= 2_048 && /^https?:\/\//i.test(url) && URL.canParse(url);
  return isWeb ? url : null;
}
