import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { planToJson } from '../../src/plan/render/document.ts';
import { renderPlanMarkdown } from '../../src/plan/render/markdown.ts';
import { renderPlanText } from '../../src/plan/render/text.ts';
import { PLAIN } from '../../src/plan/render/text-layout.ts';
import { codePoint } from '../support/code-points.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { codeIn, markdownSkeleton } from '../support/markdown-skeleton.ts';
import { actual, type PlanCase, planOf } from '../support/planning.ts';

const EVERYTHING: PlanCase = {
  commit: '3f2a9c1aaaa',
  base: {
    'teams.yaml': 'teams:\n  writers: { title: Writers }\n  old: { title: Old }',
    'saml.yaml': 'saml: { okta: { label: Okta } }',
  },
  manifests: {
    'teams.yaml': `teams:
  writers:
    title: Docs writers
    members: { ana@acme.example: owner, bo@acme.example: member, dana@acme.example: member }
  readers: { title: Readers }`,
    'spaces.yaml': 'spaces:\n  guides: { title: Guides, emoji: null, paused: { reason: a freeze, until: 2026-07-01 } }',
    'openapi.yaml': 'openapi: { petstore: { source: { file: spec.json } } }',
    'spec.json': '{}',
  },
  actuals: [
    actual('team', 't1', { title: 'Writers', members: { 'ana@acme.example': 'owner', 'cy@acme.example': 'member' } }),
    actual('team', 't2', { title: 'Old', members: {} }, { facts: { members: 2 } }),
    actual('team', 't3', { title: 'Foreign' }),
    actual('saml', 'p1', { label: 'Okta' }),
    actual('space', 's1', { title: 'Guides', emoji: '1f4d8' }),
  ],
  policy: { requireApproval: ['saml'] },
};

/** A title that would have an effect if it were interpreted. */
const HOSTILE =
  'Bad```\n# Heading <img src=x onerror=alert(1)> | [x](http://e.example) \u001b[31mred\u001b[0m \u202egpj.exe @everyone &amp;';

describe('text', () => {
  test.each([120, 80, 50])('in %i columns', async (columns) => {
    const { plan } = await planOf(EVERYTHING);
    const text = renderPlanText(plan, { columns, paint: PLAIN });
    expect(text.replace(plan.checksum, 'sha256:CHECKSUM')).toMatchSnapshot();
    // Lines are broken where possible; a word that is longer than the line stays whole, so that it can be copied.
    const wide = text.split('\n').filter((line) => stringWidth(line) > columns && line.trim().includes(' '));
    expect(wide.filter((line) => !line.includes('sha256:') && !line.includes('approve with'))).toEqual([]);
  });

  test('shows that there are no changes', async () => {
    const { plan } = await planOf({
      manifests: 'teams: { a: { title: A } }',
      actuals: [actual('team', 't1', { title: 'A' })],
    });
    expect(renderPlanText(plan, { columns: 80, paint: PLAIN })).toMatchSnapshot();
  });

  test('shows the most damaging deletion first', async () => {
    const { plan } = await planOf({
      manifests: 'members: {}',
      base: 'teams: { a: { title: A }, b: { title: B } }\nspaces: { s: { title: S } }\nsites: { w: { title: Site }, v: { title: Draft } }',
      actuals: [
        actual('team', 't1', { title: 'A' }, { facts: { members: 1 } }),
        actual('team', 't2', { title: 'B' }, { facts: { members: 60 } }),
        actual('space', 's1', { title: 'S' }, { facts: { openChangeRequests: 7 } }),
        actual('site', 'w1', { title: 'Site', published: true }, { facts: { siteSpaces: 4 } }),
        actual('site', 'w2', { title: 'Draft', published: false }),
      ],
    });
    const lines = renderPlanText(plan, { columns: 120, paint: PLAIN })
      .split('\n')
      .filter((line) => line.startsWith('  -'));
    expect(lines.map((line) => line.trim().replace(/ {2,}/g, ' '))).toEqual([
      expect.stringContaining('- site/w "Site", published, 4 site spaces'),
      expect.stringContaining('- site/v'),
      expect.stringContaining('- team/b "B", 60 members'),
      expect.stringContaining('- space/s "S", 7 open change requests'),
      expect.stringContaining('- team/a "A", 1 member'),
    ]);
  });
});

describe('Markdown', () => {
  test('contains the same text inside a fence', async () => {
    const { plan } = await planOf(EVERYTHING);
    expect(renderPlanMarkdown(plan).replaceAll(plan.checksum, 'sha256:CHECKSUM')).toMatchSnapshot();
  });

  const withTitle = async (title: string) => {
    // A manifest has titles on one line only.
    const declared = [...title].slice(0, 40).join('').replaceAll(/\s+/gu, ' ').trim();
    const { plan } = await planOf({
      manifests: JSON.stringify({
        teams: { a: { title: `${declared} again`.trim() } },
        organization: { ai: true },
      }),
      base: 'teams: { b: { title: Gone } }',
      actuals: [
        actual('team', 't1', { title }),
        actual('team', 't2', { title: 'Gone' }),
        actual('organization', 'org_1', { title, ai: false }),
      ],
    });
    return renderPlanMarkdown(plan);
  };

  test.each(HOSTILE_TEXTS)('shows %j in a title as code', async (text) => {
    expect(markdownSkeleton(await withTitle(text))).toBe(markdownSkeleton(await withTitle('Acme')));
  });

  test('shows any title as code', async () => {
    const harmless = markdownSkeleton(await withTitle('Acme'));
    const part = fc.oneof(
      fc.constantFrom(...HOSTILE_TEXTS, '`', '``', '```', ' ', '~~~', '\n'),
      fc.string({ unit: codePoint }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 6 }), async (parts) => {
        expect(markdownSkeleton(await withTitle(parts.join('')))).toBe(harmless);
      }),
      { numRuns: 60 },
    );
  });

  test('contains no terminal codes and no direction marks', async () => {
    const shown = await withTitle(HOSTILE);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not occur
    expect(shown.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(codeIn(shown).join('\n')).toContain('\\u001b');
  });
});

test('JSON has the documented shape', async () => {
  const { plan } = await planOf(EVERYTHING);
  const json = JSON.parse(JSON.stringify(planToJson(plan)));
  expect(Object.keys(json)).toEqual(
    expect.arrayContaining([
      'format',
      'organization',
      'commit',
      'baseCommit',
      'checksum',
      'changes',
      'adopted',
      'unmanaged',
      'pending',
      'access',
      'summary',
      'requests',
      'estimatedSeconds',
    ]),
  );
  expect(json).toMatchObject({
    format: 'octavo.plan/2',
    organization: 'org_1',
    commit: '3f2a9c1aaaa',
    baseCommit: null,
  });
  expect(json.changes.find((each: { address: string }) => each.address === 'team/writers')).toEqual({
    action: 'update',
    address: 'team/writers',
    kind: 'team',
    id: 't1',
    fields: [
      { path: 'title', from: 'Writers', to: 'Docs writers' },
      {
        path: 'members',
        from: { 'ana@acme.example': 'owner', 'cy@acme.example': 'member' },
        to: { 'ana@acme.example': 'owner', 'bo@acme.example': 'member' },
      },
    ],
    source: { file: 'teams.yaml', line: 2, column: 3 },
    dependsOn: [],
    held: null,
    paused: null,
    isReplacement: false,
  });
  expect(json.summary).toEqual({
    create: 2,
    update: 1,
    move: 0,
    delete: 1,
    heldDeletions: 1,
    held: 1,
    paused: 1,
    unchanged: 0,
    unmanaged: 1,
  });
  expect(json.requests).toEqual({ reads: 2, writes: 3 });
  expect(json.unmanaged).toEqual([{ kind: 'team', id: 't3', title: 'Foreign' }]);
});
