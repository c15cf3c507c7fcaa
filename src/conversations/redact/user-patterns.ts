// Finders for the patterns in the user's settings.

import { ConfigError } from '../../core/errors.ts';
import { compilePattern, type Pattern, redactionPatternProblem } from '../../core/text/pattern.ts';
import type { Finder } from './model/found.ts';

/** A pattern of the user's settings. Matches are replaced by `[NAME_1]`. */
export interface UserPattern {
  /** Letters, digits and `_`; used in the placeholder, in capitals. */
  readonly name: string;
  /** A regular expression in RE2 syntax. */
  readonly pattern: string;
  /** Any of `i`, `m`, `s` and `u`. */
  readonly flags?: string | undefined;
}

/** Longest match, in UTF-16 units. A text is searched in windows that overlap by this length. */
const MAX_MATCH_LENGTH = 256;
const WINDOW = 4 * MAX_MATCH_LENGTH;

/**
 * Creates finders for the user's patterns. One search with RE2 takes linear time, but finding all matches of a pattern
 * such as `a(.*b)?` can take quadratic time. Therefore a text is searched in windows: each takes bounded time, so the
 * total is linear in the length of the text. Throws ConfigError for a pattern that RE2 does not support or that matches
 * the empty text.
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

function compile({ name, pattern, flags = '' }: UserPattern): Pattern {
  const where = `redaction pattern ${JSON.stringify(name)}`;
  if (!/^(?!.*(.).*\1)[imsu]*$/.test(flags)) {
    throw new ConfigError(`${where}: only the flags i, m, s and u can be set, each at most once`);
  }
  const problem = redactionPatternProblem(pattern);
  if (problem !== null) {
    throw new ConfigError(`${where}: ${JSON.stringify(pattern)} ${problem}`);
  }
  return compilePattern(pattern, flags);
}

function finderOf(pattern: Pattern, label: string): Finder {
  return ({ text }) =>
    windowsOf(text).flatMap((from) =>
      [...pattern.matchAll(text.slice(from, from + WINDOW))]
        .filter(([value]) => value !== '')
        .map(({ index = 0, 0: value }) => ({
          type: 'pattern' as const,
          label,
          start: from + index,
          end: from + index + value.length,
          key: value,
        })),
    );
}

/** Returns the start positions of the windows of a text. */
function windowsOf(text: string): readonly number[] {
  const step = WINDOW - MAX_MATCH_LENGTH;
  const count = Math.max(1, Math.ceil((text.length - MAX_MATCH_LENGTH) / step));
  return Array.from({ length: count }, (_, index) => index * step);
}
