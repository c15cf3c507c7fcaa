import { expect, test } from 'vitest';
import { problemsIn } from './problems.ts';

async function problemsOf(files: Record<string, string>): Promise<readonly string[]> {
  return (await problemsIn(files)).map(({ file, line, message }) => `${file}:${line} ${message}`);
}

test.each<[string, Readonly<Record<string, string>>, RegExp]>([
  ['text for an emoji', { 'a.yaml': 'spaces:\n  g: { title: G, emoji: zzz }\n' }, /^a\.yaml:2 emoji must be an emoji/],
  ['two emoji', { 'a.yaml': 'spaces:\n  g: { title: G, emoji: 📘📘 }\n' }, /^a\.yaml:2 emoji must be an emoji/],
  [
    'a title without two visible characters on a line',
    { 'a.yaml': 'organization:\n  title: "a\\nb"\n' },
    /^a\.yaml:2 /,
  ],
  [
    'an empty specification',
    { 'a.yaml': 'openapi:\n  petstore: { source: { file: p.json } }\n', 'p.json': '' },
    /^a\.yaml:2 p\.json is empty/,
  ],
  [
    'an unknown merge rule',
    { 'a.yaml': 'organization:\n  mergeRules: { type: rules, rules: [{ rule: require_luck }] }\n' },
    /^a\.yaml:2 /,
  ],
])('refuses %s before it sends anything', async (_what, files, problem) => {
  expect(await problemsOf(files)).toEqual([expect.stringMatching(problem)]);
});

test('leaves it to the platform whether an organization can inherit merge rules', async () => {
  expect(await problemsOf({ 'a.yaml': 'organization:\n  mergeRules: { type: inherit }\n' })).toEqual([]);
});

test('accepts values of later platform versions', async () => {
  const rules = '[{ rule: require_author_to_merge }, { rule: require_at_least_one_approved_review }]';
  const files = {
    'a.yaml': `organization: { mergeRules: { type: rules, rules: ${rules} } }
spaces: { g: { title: G, language: zh-tw, emoji: 📘 }, h: { title: H, emoji: 1f469-200d-1f4bb } }
translations: { g-tw: { space: h, from: en, to: zh-tw } }
`,
  };
  expect(await problemsOf(files)).toEqual([]);
});
