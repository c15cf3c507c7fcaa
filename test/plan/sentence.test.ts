/** The sentence of a plan, as the page, comments and notifications show it. */
import { describe, expect, test } from 'vitest';
import { planSentence } from '../../src/plan/render/sentence.ts';
import { actual, planOf } from '../support/planning.ts';

const spaces = (...titles: readonly string[]) => ({
  'spaces.yaml': `spaces: { ${titles.map((title) => `${title.toLowerCase()}: { title: ${title} }`).join(', ')} }`,
});

/** Returns the sentence of the plan from some spaces to others. */
async function sentence(before: readonly string[], after: readonly string[]) {
  const keys = before.map((title) => title.toLowerCase());
  const { plan } = await planOf({
    base: spaces(...before),
    manifests: spaces(...after),
    ids: Object.fromEntries(keys.map((key) => [`space/${key}`, key])),
    actuals: before.map((title) => actual('space', title.toLowerCase(), { title })),
  });
  return planSentence(plan);
}

describe('the sentence of a plan', () => {
  test('is empty without changes', () => {
    expect(planSentence({ changes: [], access: [] })).toBe('');
  });

  test('names the only deletion, and counts several', async () => {
    expect(await sentence(['Docs'], [])).toBe('Deletes the space Docs');
    expect(await sentence(['A', 'B', 'C'], [])).toBe('Deletes 3 spaces');
  });

  test('has deletions first, then what is created', async () => {
    expect(await sentence(['Docs'], ['Api', 'Help'])).toBe('Deletes the space Docs, creates 2 spaces');
  });

  test('says what becomes public, and whose role changes', () => {
    const change = {
      action: 'update' as const,
      kind: 'site',
      fields: [],
      isReplacement: false,
      actual: { title: 'Acme Team' },
    };
    const access = [
      {
        person: 'everyone on the internet',
        from: null,
        to: 'site/team',
        role: 'read',
        change: 'site/team',
        field: 'x',
      },
      {
        person: 'cy@acme.example',
        from: 'organization',
        to: 'organization',
        role: 'read → admin',
        change: 'member/cy',
      },
    ];
    const plan = { changes: [{ ...change, address: 'site/team' }], access } as never as Parameters<
      typeof planSentence
    >[0];
    expect(planSentence(plan)).toBe('Makes Acme Team public, cy@acme.example becomes admin');
  });
});
