import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { oneLine } from '../../src/clusters/cluster.ts';
import { buildSubject, describeTrend, templateValues } from '../../src/clusters/description.ts';
import { codePoint } from '../support/code-points.ts';
import { NO_REDACTION } from './run-daemon.ts';
import { someCluster } from './samples.ts';

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

test.each<[readonly number[], string]>([
  [[], 'unknown'],
  [[4], 'rising: 4 in the last week, █'],
  [[0, 0, 1, 3, 5, 9], 'rising: 3, 5, 9 in the last three weeks, ▁▁▂▃▅█'],
  [[9, 9, 9, 1, 1, 1], 'falling: 1, 1, 1 in the last three weeks, ███▂▂▂'],
  [[2, 2, 2, 2, 2, 2], 'steady: 2, 2, 2 in the last three weeks, ██████'],
  [[5, 0, 0, 0], 'quiet: 0, 0, 0 in the last three weeks, █▁▁▁'],
  [[0, 0], 'quiet: 0, 0 in the last two weeks, ▁▁'],
])('describes the trend of %j', (pulse, text) => {
  expect(describeTrend(pulse)).toBe(text);
});
