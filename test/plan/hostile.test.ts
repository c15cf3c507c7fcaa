import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Json, shownJson } from '../../src/core/json.ts';
import { planToJson } from '../../src/plan/render/document.ts';
import { renderPlanText } from '../../src/plan/render/text.ts';
import { PLAIN } from '../../src/plan/render/text-layout.ts';
import { printable, printableLines } from '../../src/plan/render/words.ts';
import { codePoint } from '../support/code-points.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { actual, planOf } from '../support/planning.ts';

/** Text that affects a terminal, changes the reading direction, or is a command to the runner of a CI job. */
const ACTIVE = /[\p{Cs}\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u2028\u2029\ufeff]|[^\P{Cc}\n]|##\w*\[|^\s*::/mu;

test.each(HOSTILE_TEXTS)(
  '%j in titles, ids, files, members and reasons of a plan is shown, and not obeyed',
  async (text) => {
    const { plan } = await planOf({
      manifests: {
        [`${text.replaceAll('/', '_')}.yaml`]: JSON.stringify({
          teams: { a: { title: 'A', members: { 'ana@acme.example': 'owner' } } },
          spaces: {
            s: { id: 's1', title: 'S', paused: { reason: `long enough to be broken at every width ${text}` } },
          },
        }),
      },
      base: 'teams: { a: { title: A }, gone: { title: Gone } }',
      actuals: [
        actual('team', 't1', { title: 'A', members: { [`${text}@acme.example`]: 'owner' } }),
        actual('team', `t2${text}`, { title: 'Gone' }),
        actual('team', `t3${text}`, { title: text }),
        actual('space', 's1', { title: `words before it, many of them, so that it is broken ${text} ${text}` }),
      ],
    });
    expect(shownJson(planToJson(plan))).not.toMatch(ACTIVE);
    for (const columns of [120, 60, 30]) {
      expect(renderPlanText(plan, { columns, paint: PLAIN })).not.toMatch(ACTIVE);
    }
  },
);

test('shows any JSON unchanged, without control characters', () => {
  const text = fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: codePoint }));
  fc.assert(
    fc.property(fc.dictionary(text, fc.array(text), { noNullPrototype: true }), (value) => {
      const shown = shownJson(value);
      expect(shown).not.toMatch(ACTIVE);
      expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test.each([
  ['Ad\u200bmin', 'Ad\\u200bmin'],
  ['Ad\u2060min\u00ad', 'Ad\\u2060min\\u00ad'],
  ['\u3164', '\\u3164'],
  ['a\u200db', 'a\\u200db'],
  ['a\u{e0041}', 'a\\u{e0041}'],
  ['👩‍💻 می‌خواهم 1️⃣ ❤️', '👩‍💻 می‌خواهم 1️⃣ ❤️'],
])('escapes invisible characters, and keeps those that form letters or emoji: %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test('keeps the number of lines, all of them printable', () => {
  const line = fc.array(fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: codePoint })));
  fc.assert(
    fc.property(line, (parts) => {
      const text = parts.join(' ');
      const shown = printableLines(text);
      expect(shown).not.toMatch(ACTIVE);
      expect(shown.split('\n')).toHaveLength(text.split('\n').length);
    }),
  );
});

test('treats a JSON Schema with an $id as a value and not as a reference', async () => {
  const schema = { type: 'object', properties: {}, additionalProperties: false };
  const planOver = (adaptiveSchema: Json) =>
    planOf({
      manifests: JSON.stringify({ sites: { help: { title: 'Help', adaptiveSchema: schema } } }),
      actuals: [actual('site', 's1', { title: 'Help', adaptiveSchema })],
    });
  expect((await planOver(schema)).plan.changes).toEqual([]);
  const changes = (await planOver({ ...schema, $id: 'https://acme.example/other.json', kinds: ['site'] })).plan.changes;
  expect(changes.map(({ fields }) => fields.map(({ path }) => path))).toEqual([['adaptiveSchema']]);
});
