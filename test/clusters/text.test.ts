import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeTrend, oneLine, pickExamples, trendOf } from '../../src/clusters/cluster.ts';
import { buildSubject, templateValues } from '../../src/clusters/description.ts';
import { codePoint } from '../support/code-points.ts';
import { NO_REDACTION } from './run-daemon.ts';
import { someCluster, someIssue } from './samples.ts';

const subject = (template: string, over: Parameters<typeof someCluster>[0] = {}) =>
  buildSubject(template, templateValues(someCluster(over)), NO_REDACTION);
const graphemes = (text: string) => [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);

describe('buildSubject', () => {
  test.each<[string, object, string]>([
    ['Docs gap: {{label}}', {}, 'Docs gap: Login with SSO fails'],
    ['{{id}} {{ impact }}: {{issues}}/{{conversations}}', {}, 'c_1 high: 7/6'],
    ['{{label}}', { label: ' a\r\n\tb\u2028c\u0000d ' }, 'a b c d'],
    ['{{label}}', { label: '{{id}} $& <b>' }, '{{id}} $& <b>'],
    ['{{label}}', { label: '' }, 'c_1'],
    ['{{url}}', {}, 'Issue cluster c_1'],
    ['Two\nlines {{label}}', { label: 'x' }, 'Two lines x'],
    ['{{label}}', { label: 'x'.repeat(100) }, 'x'.repeat(100)],
    ['{{label}}', { label: 'x'.repeat(101) }, `${'x'.repeat(99)}…`],
    ['{{label}}', { label: `${'x'.repeat(98)}👩‍👩‍👧 y` }, `${'x'.repeat(98)}…`],
    ['Gap: {{label}}', { label: `x${'\u0301'.repeat(500)}` }, 'Gap:…'],
    ['{{label}}', { label: 'a\ud800b' }, 'a\ufffdb'],
    ['{{label}}', { label: 'a \u202egnp.exe \u2066b\u2069 \u001b[2J' }, 'a gnp.exe b [2J'],
    // It was not superseded, whatever the label says.
    ['{{label}}', { label: '\u202eGiven up: x' }, 'Docs gap: Given up: x'],
  ])('renders %j with %j', (template, over, expected) => {
    expect(subject(template, over)).toBe(expected);
  });

  test('returns 1 to 100 characters and no partial grapheme for any label', () => {
    const odd = fc.constantFrom(
      ...[
        '👩‍👩‍👧',
        'e\u0301',
        '🇩🇪',
        '🇩',
        '\u200d',
        '\r\n',
        'क्षि',
        '\ud800',
        '한',
        'x',
        ' ',
        '{{',
        '\u0600',
        '\u202e',
        'שלום',
      ],
    );
    const label = fc.oneof(
      fc.string({ maxLength: 300, unit: codePoint }),
      fc.array(odd, { maxLength: 300 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(
        label,
        fc.constantFrom('{{label}}', 'Docs gap: {{label}} ({{id}})', `${'x'.repeat(95)}{{label}}`),
        (text, template) => {
          const made = subject(template, { label: text });
          expect(made.length).toBeGreaterThan(0);
          expect(made.length).toBeLessThanOrEqual(100);
          expect(made.isWellFormed()).toBe(true);
          expect(made).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
          const whole = oneLine(
            template
              .replace('{{label}}', () => templateValues(someCluster({ label: text })).label)
              .replace('{{id}}', 'c_1'),
          );
          if (made !== whole && whole !== '') {
            const kept = made.slice(0, -1);
            const pieces = graphemes(whole);
            const starts = pieces.map((_, index) => pieces.slice(0, index).join('').trimEnd());
            expect(starts).toContain(kept);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

// Weeks are oldest first. The newest one may only have begun, so a low number in it alone does not mean a fall.
test.each<[readonly number[], string, string]>([
  [[], 'unclear', 'no numbers by week'],
  [[0], 'unclear', 'none this week'],
  [[4], 'unclear', '4 this week'],
  [[0, 0], 'quiet', 'quiet for 2 weeks'],
  [[5, 0, 0, 0], 'quiet', 'quiet for 3 weeks'],
  [[5, 0], 'unclear', 'none this week, 5 last week'],
  [[0, 3], 'rising', 'rising: 3 this week, none last week'],
  [[0, 0, 0, 3], 'rising', 'rising: 3 this week, none in the 3 weeks before'],
  [[2, 4], 'rising', 'rising: 4 this week, 2 last week'],
  [[4, 2], 'unclear', '2 this week, 4 last week'],
  [[0, 0, 1, 3, 4, 12], 'rising', 'rising: 12 this week, 4 last week'],
  [[9, 8, 9, 1, 2], 'unclear', '2 this week, 1 last week'],
  [[1, 10, 3], 'unclear', '3 this week, 10 last week'],
  [[4, 4, 4, 1], 'unclear', '1 this week, 4 last week'],
  [[4, 4, 2, 1], 'falling', 'falling: 1 this week, 2 last week, 4 the week before'],
  [[4, 2, 0], 'falling', 'falling: none this week, 2 last week, 4 the week before'],
  [[9, 9, 9, 1, 1, 1], 'steady', 'steady: 1 this week, 1 last week'],
  [[1000, 2000], 'rising', 'rising: 2,000 this week, 1,000 last week'],
  [[-5, Number.NaN, 2], 'rising', 'rising: 2 this week, none in the 2 weeks before'],
])('the trend of %j is %s', (pulse, direction, words) => {
  expect(trendOf(pulse)).toEqual({ direction, words });
});

test('a description has the trend with a bar for each week', () => {
  expect(describeTrend([0, 0, 1, 3, 5, 9])).toBe('rising: 9 this week, 5 last week, ▁▁▂▃▅█');
  expect(describeTrend([])).toBe('unknown');
});

test('examples say more than the label, once each, and the longest is cut', () => {
  const titles = [
    'Login with SSO fails',
    'LOGIN WITH SSO FAILS',
    '',
    'Loops\nforever',
    'loops forever',
    'x'.repeat(500),
    'Third',
  ];
  const issues = titles.map((title, index) =>
    someIssue({ id: `i_${index}`, title, createdAt: -index, conversation: null }),
  );
  const examples = pickExamples(someCluster(), issues);
  expect(examples).toEqual(['Loops forever', `${'x'.repeat(119)}…`]);
  expect(pickExamples(someCluster(), [someIssue({ id: 'i_1', title: 'i_1' })])).toEqual([]);
});
