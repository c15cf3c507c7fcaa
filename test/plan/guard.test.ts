import { describe, expect, test } from 'vitest';
import type { Actual } from '../../src/core/resource.ts';
import { idRef } from '../../src/core/resource.ts';
import { approvalsOf, DEFAULT_POLICY } from '../../src/plan/guard.ts';
import { NAMES } from '../support/certificates.ts';
import { actual, type PlanCase, planOf, short } from '../support/planning.ts';

/** Default policy of an organization. */
const GUARDED = { requireApproval: null, limits: DEFAULT_POLICY.limits };

function teams(count: number, title = (index: number) => `Team ${index}`): string {
  const entries = Array.from({ length: count }, (_, index) => `t${index}: { title: ${title(index)} }`);
  return `teams: { ${entries.join(', ')} }`;
}
const actualTeams = (count: number): readonly Actual[] =>
  Array.from({ length: count }, (_, index) => actual('team', `id${index}`, { title: `Team ${index}` }));
const deleting = (count: number, of: number): PlanCase => ({
  manifests: `teams: { ${Array.from({ length: of - count }, (_, index) => `t${index}: { title: Team ${index} }`).join(', ')} }`,
  base: teams(of),
  actuals: actualTeams(of),
  policy: GUARDED,
});
const renaming = (count: number, of: number): PlanCase => ({
  manifests: teams(of, (index) => (index < count ? `Renamed ${index}` : `Team ${index}`)),
  base: teams(of),
  actuals: actualTeams(of),
  policy: GUARDED,
});

describe('limits', () => {
  test.each<[string, PlanCase, string, string[]]>([
    ['allows a plan with five deletions', deleting(5, 40), 'ready', []],
    [
      'holds a plan with more than five deletions',
      deleting(6, 40),
      'held',
      ['6 deletions are more than the limit of 5'],
    ],
    ['ignores the percentage limit below ten owned resources', renaming(3, 9), 'ready', []],
    ['allows a plan that changes 30 % of ten owned resources', renaming(3, 10), 'ready', []],
    [
      '4 of 10 owned are more',
      renaming(4, 10),
      'held',
      ['4 resources would be updated or deleted, more than the limit of 30 % of the 10 owned resources'],
    ],
    [
      'does not count creations',
      { manifests: teams(40), base: teams(10), actuals: actualTeams(10), policy: GUARDED },
      'ready',
      [],
    ],
    [
      'holds a plan with one deletion more than --allow-deletes sets',
      { ...deleting(12, 20), policy: { ...GUARDED, allowDeletes: 11 } },
      'held',
      [
        '12 deletions are more than the limit of 5',
        '12 resources would be updated or deleted, more than the limit of 30 % of the 20 owned resources',
      ],
    ],
  ])('%s', async (_name, input, state, reasons) => {
    const { plan } = await planOf(input);
    expect(plan.verdict).toEqual({ state, reasons });
  });

  test('allows exactly the plan whose checksum is approved', async () => {
    const { plan } = await planOf(deleting(6, 40));
    const policy = { ...GUARDED, approved: [plan.checksum] };
    expect((await planOf({ ...deleting(6, 40), policy })).plan.verdict.state).toBe('ready');
    expect((await planOf({ ...deleting(7, 40), policy })).plan.verdict.state).toBe('held');
  });
});

const SAML = 'saml: { okta: { label: Okta }, entra: { label: Entra } }';
const okta = (id: string, label: string) =>
  actual('saml', id, { label, entityID: 'https://a.example/e', ssoURL: 'https://a.example/s', certificate: 'PEM' });

describe('what waits for a person', () => {
  test.each<[string, PlanCase, string[]]>([
    [
      'holds the deletion of a kind that needs approval',
      { manifests: 'saml: {}', base: SAML, actuals: [okta('p1', 'Okta')], policy: GUARDED },
      ['delete saml/okta held'],
    ],
    [
      'does not hold the deletion of another kind',
      { manifests: 'teams: {}', base: teams(1), actuals: actualTeams(1), policy: GUARDED },
      ['delete team/t0'],
    ],
    [
      'holds kinds that need approval even with --allow-deletes',
      { manifests: 'saml: {}', base: SAML, actuals: [okta('p1', 'Okta')], policy: { ...GUARDED, allowDeletes: 9 } },
      ['delete saml/okta held'],
    ],
    [
      'holds the deletion of a collection that contains an undeclared space',
      {
        manifests: 'spaces: {}',
        base: 'collections: { c: { title: C } }',
        actuals: [
          actual('collection', 'c1', { title: 'C', parent: null }),
          actual('space', 's1', { title: 'Foreign', collection: idRef('c1', 'collection') }),
        ],
      },
      ['delete collection/c held'],
    ],
    [
      'holds the deletion of a collection that contains a space without a declared collection',
      {
        manifests: 'spaces: { s: { title: Guides } }',
        base: 'collections: { c: { title: C } }\nspaces: { s: { title: Guides, collection: c } }',
        actuals: [
          actual('collection', 'c1', { title: 'C', parent: null }),
          actual('space', 's1', { title: 'Guides', collection: idRef('c1', 'collection') }),
        ],
      },
      ['delete collection/c held'],
    ],
    [
      'does not hold the deletion of a collection whose spaces are moved or deleted too',
      {
        manifests: 'spaces: { s: { title: Guides, collection: null } }',
        base: 'collections: { c: { title: C } }\nspaces: { s: { title: Guides, collection: c }, t: { title: Old, collection: c } }',
        actuals: [
          actual('collection', 'c1', { title: 'C', parent: null }),
          actual('space', 's1', { title: 'Guides', collection: idRef('c1', 'collection') }),
          actual('space', 's2', { title: 'Old', collection: idRef('c1', 'collection') }),
        ],
      },
      ['move space/s collection', 'delete space/t', 'delete collection/c'],
    ],
  ])('%s', async (_name, input, expected) => {
    expect(short(await planOf(input))).toEqual(expected);
  });

  const mixed: PlanCase = {
    manifests: 'saml: { okta: { label: Okta } }\nteams: { a: { title: A } }',
    base: SAML,
    actuals: [okta('p1', 'Okta'), okta('p2', 'Entra')],
    policy: GUARDED,
  };

  test('applies the other changes meanwhile, and releases held ones when the whole plan or the rest is approved', async () => {
    const { plan } = await planOf(mixed);
    expect(short(await planOf(mixed))).toEqual(['create team/a', 'delete saml/entra held']);
    expect(plan.verdict.state).toBe('ready');
    expect(plan.summary).toMatchObject({ create: 1, delete: 0, held: 1 });
    expect(plan.heldChecksum).not.toBe(plan.checksum);
    for (const checksum of [plan.checksum, plan.heldChecksum ?? '']) {
      const approved = await planOf({ ...mixed, policy: { ...GUARDED, approved: [checksum] } });
      expect(short(approved)).toEqual(['create team/a', 'delete saml/entra']);
    }
    // Once the rest has been applied, the held changes keep their checksum, which differs from that of any plan.
    const rest = await planOf({ ...mixed, actuals: [...(mixed.actuals ?? []), actual('team', 't1', { title: 'A' })] });
    expect(rest.plan.heldChecksum).toBe(plan.heldChecksum);
    expect(rest.plan.checksum).not.toBe(plan.heldChecksum);
    expect(approvalsOf(plan, plan.checksum)).toEqual([plan.checksum, rest.plan.checksum]);
    expect(approvalsOf(plan, plan.heldChecksum ?? '')).toEqual([plan.heldChecksum]);
  });

  test('does not approve a larger plan, but releases approved held changes in any plan', async () => {
    const rest = { ...mixed, manifests: 'saml: { okta: { label: Okta } }' };
    const { plan } = await planOf(rest);
    expect(short(await planOf(rest))).toEqual(['delete saml/entra held']);
    const larger = (checksum: string) => planOf({ ...mixed, policy: { ...GUARDED, approved: [checksum] } });
    expect(short(await larger(plan.checksum))).toEqual(['create team/a', 'delete saml/entra held']);
    expect(short(await larger(plan.heldChecksum ?? ''))).toEqual(['create team/a', 'delete saml/entra']);
  });

  test('does not approve a plan with other content', async () => {
    const { plan } = await planOf(mixed);
    const other = await planOf({ ...mixed, manifests: 'saml: {}', policy: { ...GUARDED, approved: [plan.checksum] } });
    expect(short(other)).toEqual(['delete saml/entra held', 'delete saml/okta held']);
  });
});

const person = (name: string, role: string) =>
  actual('member', `usr_${name}`, { role, sso: false }, { title: `${name}@acme.example` });
const roles = (ana: string, bo: string) =>
  `members: { ana@acme.example: { role: ${ana} }, bo@acme.example: { role: ${bo} } }`;
const enforced = actual('organization', 'org_1', { title: 'Acme', sso: true });
const lax = actual('organization', 'org_1', { title: 'Acme', sso: false });
const complete = `{ label: Okta, entityID: "https://a.example/e", ssoURL: "https://a.example/s", certificate: ${JSON.stringify(NAMES.cert)} }`;

describe('a plan that would lock people out is refused even if it is approved', () => {
  const people = [person('ana', 'admin'), person('bo', 'edit')];

  test.each<[string, PlanCase, RegExp | null]>([
    ['refuses to leave no admin', { manifests: roles('edit', 'edit'), actuals: people }, /without an admin/],
    [
      'allows a demotion when another person becomes admin',
      { manifests: roles('edit', 'admin'), actuals: people },
      null,
    ],
    [
      'refuses to remove the last admin',
      { manifests: 'members: { bo@acme.example: { role: edit } }', base: roles('admin', 'edit'), actuals: people },
      /without an admin/,
    ],
    [
      'does not count a paused demotion',
      { manifests: 'members: { ana@acme.example: { role: edit, paused: { reason: x } } }', actuals: people },
      null,
    ],
    [
      'refuses single sign-on without a provider',
      { manifests: 'organization: { sso: true }', actuals: [lax] },
      /no working SAML provider/,
    ],
    [
      'refuses single sign-on with an incomplete provider',
      { manifests: 'organization: { sso: true }', actuals: [lax, actual('saml', 'p1', { label: 'Okta' })] },
      /no working SAML provider/,
    ],
    [
      'allows single sign-on with a complete provider',
      { manifests: 'organization: { sso: true }', actuals: [lax, okta('p1', 'Okta')] },
      null,
    ],
    [
      'allows single sign-on with a provider that is created in the same plan',
      { manifests: `organization: { sso: true }\nsaml: { okta: ${complete} }`, actuals: [lax] },
      null,
    ],
    [
      'refuses to delete the last provider while single sign-on is enforced',
      { manifests: 'teams: {}', base: 'saml: { okta: { label: Okta } }', actuals: [enforced, okta('p1', 'Okta')] },
      /no working SAML provider/,
    ],
    [
      'allows to delete the last provider when single sign-on is no longer enforced',
      {
        manifests: 'organization: { sso: false }',
        base: 'saml: { okta: { label: Okta } }',
        actuals: [enforced, okta('p1', 'Okta')],
      },
      null,
    ],
  ])('%s', async (_name, input, reason) => {
    const { plan } = await planOf(input);
    expect(plan.verdict.state).toBe(reason === null ? 'ready' : 'refused');
    if (reason !== null) {
      expect(plan.verdict.reasons.join()).toMatch(reason);
      const approved = await planOf({
        ...input,
        policy: { ...input.policy, approved: [plan.checksum], allowDeletes: 9 },
      });
      expect(approved.plan.verdict.state).toBe('refused');
    }
  });
});
