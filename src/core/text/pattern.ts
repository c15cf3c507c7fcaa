/** Regular expressions in RE2 syntax. */
import { createRequire } from 'node:module';
import type { RE2JS, RE2JSException } from 're2js';

const require = createRequire(import.meta.url);
/** Loads the engine with the first pattern: it has 260 kB, and most configurations have no pattern. */
const re2 = () => require('re2js') as typeof import('re2js');

/** A regular expression in RE2 syntax. No text makes one search take more than linear time. */
export type Pattern = Pick<RE2JS, 'test' | 'matchAll' | 'matcher'>;

/** Meaning of each flag of a pattern. Patterns always read Unicode characters, so `u` changes nothing. */
const FLAGS = { i: 'CASE_INSENSITIVE', m: 'MULTILINE', s: 'DOTALL' } as const;

const SUPPORTED =
  'RE2 supports characters, classes, groups, alternatives, repeats up to {1000}, ^, $, \\b and \\p{L}; see https://github.com/google/re2/wiki/Syntax';

/** Compiles a pattern that was checked with `patternProblem`; throws for an invalid one. */
export function compilePattern(pattern: string, flags = ''): Pattern {
  const { RE2JS } = re2();
  const known = Object.entries(FLAGS).filter(([flag]) => flags.includes(flag));
  return RE2JS.compile(
    pattern,
    known.reduce((all, [, name]) => all | RE2JS[name], 0),
  );
}

/** Reason why a pattern cannot be used, worded to follow the quoted pattern; null for a valid one. */
export function patternProblem(pattern: string): string | null {
  try {
    compilePattern(pattern);
    return null;
  } catch (error) {
    if (error instanceof re2().RE2JSException) {
      return `is not a regular expression that RE2 can run: ${reasonOf(error)}; ${SUPPORTED}`;
    }
    throw error;
  }
}

/** As `patternProblem`, for a pattern whose matches are removed: it must not match the empty text. */
export function redactionPatternProblem(pattern: string): string | null {
  return (
    patternProblem(pattern) ?? (compilePattern(pattern).test('') ? 'matches the empty text, and so any text' : null)
  );
}

function reasonOf(error: RE2JSException): string {
  if (!(error instanceof re2().RE2JSSyntaxException)) {
    return error.message;
  }
  const { error: reason, input } = error;
  const [lookaround] = /^\(\?<?[=!]/.exec(input ?? '') ?? [];
  if (lookaround !== undefined) {
    return `lookaround such as ${lookaround} is not supported`;
  }
  if (/^\\[1-9k]/.test(input ?? '')) {
    return `backreferences such as ${input} are not supported`;
  }
  return input ? `${reason}: ${input}` : reason;
}
