import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { renderPlanMarkdown } from '../../src/plan/render/markdown.ts';
import { renderCompactPlan, renderPlanText } from '../../src/plan/render/text.ts';
import { PLAIN } from '../../src/plan/render/text-layout.ts';
import { shortApproval } from '../../src/plan/render/words.ts';
import { codePoint } from '../support/code-points.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { markdownSkeleton } from '../support/markdown-skeleton.ts';
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

describe('text', () => {
  test.each([120, 80, 50])('in %i columns', async (columns) => {
    const { plan } = await planOf(EVERYTHING);
    const text = renderPlanText(plan, { columns, paint: PLAIN, hasSentence: true });
    expect(text.replace(shortApproval(plan.checksum), 'CHECKSUM')).toMatchSnapshot();
    // Lines are broken where possible; a word that is longer than the line stays whole, so that it can be copied.
    const wide = text.split('\n').filter((line) => stringWidth(line) > columns && line.trim().includes(' '));
    expect(wide.filter((line) => !line.includes('--approve'))).toEqual([]);
  });

  test.each([80, 50])('in one line a change, in %i columns', async (columns) => {
    const { plan } = await planOf(EVERYTHING);
    const text = renderCompactPlan(plan, { columns, paint: PLAIN });
    expect(text.replace(shortApproval(plan.checksum), 'CHECKSUM')).toMatchSnapshot();
    const lines = text.split('\n').filter((line) => /^ {2}[-+~→] |^.\/. /.test(line));
    expect(lines).toHaveLength(plan.changes.length);
    expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(columns);
  });

  test('is inert in one line a change, whatever the titles are', async () => {
    for (const title of HOSTILE_TEXTS) {
      const actuals = [actual('team', 't1', { title })];
      const { plan } = await planOf({ manifests: 'teams: { a: { id: t1, title: New } }', actuals });
      const text = renderCompactPlan(plan, { columns: 80, paint: PLAIN });
      expect(text).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]|##\w*\[|^\s*::/mu);
      expect(text.match(/^ {2}~ .* team\/a$/gm)).toHaveLength(1);
    }
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
  test('shows deletions and access first, then a diff of each group', async () => {
    const { plan } = await planOf(EVERYTHING);
    expect(renderPlanMarkdown(plan).replaceAll(shortApproval(plan.checksum), 'CHECKSUM')).toMatchSnapshot();
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

  test('shows any title as code, without terminal codes and direction marks', async () => {
    const harmless = markdownSkeleton(await withTitle('Acme'));
    const part = fc.oneof(
      fc.constantFrom(...HOSTILE_TEXTS, '`', '``', '```', ' ', '~~~', '\n'),
      fc.string({ unit: codePoint }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 6 }), async (parts) => {
        const shown = await withTitle(parts.join(''));
        expect(markdownSkeleton(shown)).toBe(harmless);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not occur
        expect(shown.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      }),
      { numRuns: 60 },
    );
  });
});
