import { ConfigError } from '../../core/errors.ts';
import { costOf, PatternSyntaxError } from '../../core/text/pattern-cost.ts';
import type { Finder } from './model/found.ts';

/** A pattern of the user's: what it finds is replaced by `[NAME_1]`. */
export interface UserPattern {
  /** Letters, digits and `_`; it stands in the placeholder, in capitals. */
  readonly name: string;
  /** A regular expression of JavaScript. */
  readonly pattern: string;
  /** `i`, `m`, `s`, `u`; others are refused. */
  readonly flags?: string | undefined;
}

/** What one match can be long at most: the text is looked at in windows, each overlapping the next by this. */
const LONGEST_MATCH = 256;
const WINDOW = 4 * LONGEST_MATCH;
/** Ways to try a pattern at one place at most. A real one takes a few; this bounds what a bad one takes. */
const MOST_WAYS = 100_000;

/**
 * Finders for the user's patterns. Throws ConfigError for one that is not a regular expression, that matches nothing
 * at all, or that a text could keep busy: the time for a text is bounded by the pattern, whatever the text.
 */
export function patternFinders(patterns: readonly UserPattern[], taken: ReadonlySet<string>): readonly Finder[] {
  const seen = new Set<string>();
  return patterns.map((pattern) => {
    const label = pattern.name.toUpperCase().replaceAll('-', '_');
    if (!/^[A-Z][A-Z0-9_]{0,31}$/.test(label) || /_\d+$/.test(label)) {
      throw new ConfigError(
        `redaction pattern ${JSON.stringify(pattern.name)}: a name is 1 to 32 letters, digits and underscores, begins with a letter and ends with none such as _1`,
      );
    }
    if (taken.has(label) || seen.has(label)) {
      throw new ConfigError(`redaction pattern ${JSON.stringify(pattern.name)}: the name ${label} is taken`);
    }
    seen.add(label);
    return finderOf(compile(pattern), label);
  });
}

function compile({ name, pattern, flags = '' }: UserPattern): RegExp {
  const where = `redaction pattern ${JSON.stringify(name)}`;
  if (!/^[imsu]{0,4}$/.test(flags)) {
    throw new ConfigError(`${where}: only the flags i, m, s and u may be given`);
  }
  let compiled: RegExp;
  try {
    compiled = new RegExp(pattern, `g${flags}`);
  } catch (error) {
    throw new ConfigError(`${where}: not a regular expression`, { cause: error });
  }
  if (new RegExp(pattern, flags).test('')) {
    throw new ConfigError(`${where}: it matches an empty text, and so any text`);
  }
  if (waysOf(pattern, where) > MOST_WAYS) {
    throw new ConfigError(
      `${where}: a text could keep it busy for too long; give repeats a bound, such as \\d{1,20} for \\d+, and nest none`,
    );
  }
  return compiled;
}

function waysOf(pattern: string, where: string): number {
  try {
    return costOf(pattern, WINDOW);
  } catch (error) {
    if (error instanceof PatternSyntaxError) {
      throw new ConfigError(`${where}: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

function finderOf(pattern: RegExp, label: string): Finder {
  return (text) =>
    windowsOf(text).flatMap((from) =>
      [...text.slice(from, from + WINDOW).matchAll(pattern)]
        .filter(([value]) => value !== '')
        .map((match) => ({
          type: 'pattern' as const,
          label,
          start: from + match.index,
          end: from + match.index + match[0].length,
          key: match[0],
        })),
    );
}

/** Where the windows of a text begin. */
function windowsOf(text: string): readonly number[] {
  const step = WINDOW - LONGEST_MATCH;
  const count = Math.max(1, Math.ceil((text.length - LONGEST_MATCH) / step));
  return Array.from({ length: count }, (_, index) => index * step);
}
