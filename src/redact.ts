/** Removes secrets from texts. */
import { maskUrls } from './core/text/safe-url.ts';

/** Replacement of a secret. */
export const SECRET = '[secret]';
const MIN_LENGTH = 4;

/**
 * Returns a function that replaces secrets in a text by `[secret]`: all known ones, also if they overlap, and those that are
 * recognized by their form, which are `Bearer …`, `Basic …`, and user info and tokens in URLs. Each long line of a multi-line
 * secret is a secret itself. A set of secrets may grow later.
 */
export function createRedactor(secrets: Iterable<string>): (text: string) => string {
  const sizeNow = () => (secrets instanceof Set ? secrets.size : 0);
  let size = sizeNow();
  let needles = needlesIn(secrets);
  return (text) => {
    if (sizeNow() !== size) {
      size = sizeNow();
      needles = needlesIn(secrets);
    }
    return maskUrls(
      blank(text, spansOf(text, needles)).replace(
        /\b(Bearer|Basic)\s+(?!token\b)[A-Za-z0-9._~+/=-]+/gi,
        `$1 ${SECRET}`,
      ),
      () => SECRET,
    );
  };
}

function needlesIn(secrets: Iterable<string>): readonly string[] {
  const known = [...secrets].flatMap((secret) => [secret, ...longLines(secret)]);
  return [...new Set(known)].filter((secret) => secret.length >= MIN_LENGTH);
}

function longLines(secret: string): readonly string[] {
  return secret.includes('\n') ? secret.split(/\r?\n/).filter((line) => line.length >= 16) : [];
}

type Span = readonly [start: number, end: number];

/** Returns the ranges of secrets in order, with overlapping ones merged. */
function spansOf(text: string, needles: readonly string[]): readonly Span[] {
  const found: Span[] = [];
  for (const needle of needles) {
    for (let start = text.indexOf(needle); start >= 0; start = text.indexOf(needle, start + 1)) {
      found.push([start, start + needle.length]);
    }
  }
  const merged: Span[] = [];
  for (const span of found.sort(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last !== undefined && span[0] < last[1]) {
      merged[merged.length - 1] = [last[0], Math.max(last[1], span[1])];
    } else {
      merged.push(span);
    }
  }
  return merged;
}

function blank(text: string, spans: readonly Span[]): string {
  let from = 0;
  let out = '';
  for (const [start, end] of spans) {
    out += text.slice(from, start) + SECRET;
    from = end;
  }
  return out + text.slice(from);
}
