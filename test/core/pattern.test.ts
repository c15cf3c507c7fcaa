import { describe, expect, test } from 'vitest';
import { compilePattern, patternProblem, redactionPatternProblem } from '../../src/core/text/pattern.ts';

describe('patternProblem', () => {
  test.each([
    'sso|saml',
    '^api\\b',
    '.*.*.*x',
    '\\p{L}+',
    '(a+)+$',
    '(a|a)*b',
    '(a?){30}a{30}',
    '((a?b?)?){20}c',
    '(?<name>a)',
    '\\x{1F600}',
  ])('accepts %s', (pattern) => {
    expect(patternProblem(pattern)).toBe(null);
  });

  test.each([
    ['(?!a)', 'lookaround such as (?! is not supported'],
    ['(?<=a)b', 'lookaround such as (?<= is not supported'],
    ['(a)\\1', 'backreferences such as \\1 are not supported'],
    ['(?<x>a)\\k<x>', 'backreferences such as \\k are not supported'],
    ['(a', 'missing closing ): (a'],
    ['a\\', 'trailing backslash at end of expression; RE2 supports'],
    ['('.repeat(2000) + ')'.repeat(2000), 'expression nests too deeply'],
  ])('refuses %s', (pattern, reason) => {
    expect(patternProblem(pattern)).toContain(`is not a regular expression that RE2 can run: ${reason}`);
  });

  test('refuses a redaction pattern that matches the empty text', () => {
    expect(['x*', '^$', 'x'].map(redactionPatternProblem)).toEqual([
      'matches the empty text, and so any text',
      'matches the empty text, and so any text',
      null,
    ]);
  });
});

describe('compilePattern', () => {
  test.each(['(a+)+$', '(a|a)*b', '(a?){30}a{30}!', '.*.*.*x', '(x+x+)+y'])(
    'runs %s on hostile text in time',
    (pattern) => {
      const compiled = compilePattern(pattern, 'i');
      for (const text of [`${'a'.repeat(100_000)}-`, `${'x'.repeat(100_000)}-`]) {
        const start = performance.now();
        compiled.test(text);
        expect(performance.now() - start).toBeLessThan(5_000);
      }
    },
  );

  test('matches anywhere and, with the flag i, in any case', () => {
    const pattern = compilePattern('sso', 'i');
    expect(['no SSO here', 'saml', `${'x'.repeat(200)}sso`].map((label) => pattern.test(label))).toEqual([
      true,
      false,
      true,
    ]);
    expect(compilePattern('sso').test('SSO')).toBe(false);
  });
});
