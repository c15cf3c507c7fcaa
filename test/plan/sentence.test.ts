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

  test('names one or two deletions, and counts more', async () => {
    expect(await sentence(['Docs'], [])).toBe('Deletes the space Docs');
    expect(await sentence(['A', 'B'], [])).toBe('Deletes the space A and the space B');
    expect(await sentence(['A', 'B', 'C'], [])).toBe('Deletes 3 spaces');
  });

  test('has deletions first, then what is created', async () => {
    expect(await sentence(['Docs'], ['Api', 'Help'])).toBe('Deletes the space Docs, creates 2 spaces');
  });

  const ofOrganization = { from: 'organization', to: 'organization' };
  const gains = { from: null, to: 'team/writers', role: 'member' };
  test.each<[says: string, access: readonly object[]]>([
    [
      'Makes Acme Team public, cy@acme.example gets the role admin',
      [
        { person: 'everyone on the internet', from: null, to: 'site/team', role: 'read' },
        { person: 'cy@acme.example', ...ofOrganization, role: 'read → admin' },
      ],
    ],
    ['Makes Acme Team private', [{ person: 'everyone on the internet', from: 'site/team', to: null, role: 'read' }]],
    [
      'Changes the role of 3 people',
      ['ana', 'bo', 'cy'].map((person) => ({ person, ...ofOrganization, role: 'read → edit' })),
    ],
    [
      'Gives ana and bo access, takes access from cy',
      [
        { person: 'ana', ...gains },
        { person: 'bo', ...gains },
        { person: 'cy', ...gains, from: gains.to, to: null },
      ],
    ],
    [
      'Gives 3 people and 2 groups of people access',
      [
        'ana@a.example',
        'bo@a.example',
        'cy@a.example',
        'ana@a.example',
        'the agent',
        'everyone in the organization',
      ].map((person) => ({ person, ...gains })),
    ],
    ['Gives 3 groups of people access', ['a', 'b', 'c'].map((person) => ({ person, ...gains }))],
    ['Changes access of \\u202ecy', [{ person: '\u202ecy', ...gains, from: 'team/readers' }]],
  ])('says who gets access: %s', (says, access) => {
    const change = { action: 'update', kind: 'site', address: 'site/team', fields: [], isReplacement: false };
    const plan = {
      changes: [{ ...change, actual: { title: 'Acme Team' } }],
      access: access.map((each) => ({ ...each, change: 'site/team' })),
    };
    expect(planSentence(plan as never)).toBe(says);
  });

  test('says what is replaced once, and what is moved last', () => {
    const change = { kind: 'space', fields: [], isReplacement: false, actual: {} };
    const changes = [
      { ...change, action: 'move', address: 'space/m', actual: { title: 'M\u001b[31m' } },
      { ...change, action: 'update', address: 'space/u' },
      ...['delete', 'create'].map((action) => ({ ...change, action, address: 'space/r', isReplacement: true })),
    ];
    expect(planSentence({ changes, access: [] } as never)).toBe(
      'Replaces the space r, updates the space u, moves the space M\\u001b[31m',
    );
  });

  test('shows no password of an address in a title or a role', () => {
    const change = { action: 'delete', kind: 'space', address: 'space/a', fields: [], isReplacement: false };
    const title = 'See https://ana:hunter2@example.com/';
    const access = [
      { person: title, from: 'organization', to: 'organization', role: `read → ${title}`, change: 'space/a' },
      { person: title, from: null, to: 'space/a', role: 'read', change: 'space/a' },
    ];
    const plan = { changes: [{ ...change, actual: { title } }], access };
    const text = planSentence(plan as never);
    expect(text).toContain('Deletes the space See https://');
    expect(text).not.toContain('hunter2');
  });
});
