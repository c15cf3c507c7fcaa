import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';

/** A regular expression in RE2 syntax. No text makes one search take more than linear time. */
export type Pattern = Pick<RE2JS, 'test' | 'matchAll'>;

/** Meaning of each flag of a pattern. Patterns always read Unicode characters, so `u` changes nothing. */
const FLAGS: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
  u: 0,
};

const SUPPORTED =
  'RE2 supports characters, classes, groups, alternatives, repeats up to {1000}, ^, $, \\b and \\p{L}; see https://github.com/google/re2/wiki/Syntax';

/** Compiles a pattern that was checked with `patternProblem`; throws for an invalid one. */
export function compilePattern(pattern: string, flags = ''): Pattern {
  return RE2JS.compile(
    pattern,
    [...flags].reduce((all, flag) => all | (FLAGS[flag] ?? 0), 0),
  );
}

/** Reason why a pattern cannot be used, worded to follow the quoted pattern; null for a valid one. */
export function patternProblem(pattern: string): string | null {
  try {
    compilePattern(pattern);
    return null;
  } catch (error) {
    if (error instanceof RE2JSException) {
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
  if (!(error instanceof RE2JSSyntaxException)) {
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
