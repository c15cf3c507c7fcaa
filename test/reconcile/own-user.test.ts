import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makePlan } from '../../src/reconcile/planning.ts';
import { actual } from '../support/planning.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { declare, planningInput, UNLIMITED } from '../support/world.ts';

const ADMINS = 'members:\n  ana@acme.example: { role: admin }\n  bo@acme.example: { role: admin }\n';

describe('the user whose token is used', () => {
  let space: Workspace;

  beforeEach(async () => {
    space = await openWorkspace();
    space.repository.commit('Two admins', { 'people.yaml': ADMINS });
    expect((await space.inside(['apply', '.', '--yes', '--record'])).code).toBe(0);
    space.emulator.requests.reset();
  });
  afterEach(() => space[Symbol.asyncDispose]());

  async function planWith(manifest: string, env: Readonly<Record<string, string>> = {}) {
    space.repository.commit('Change people', { 'people.yaml': manifest });
    const { stdout } = await space.inside(['plan', '.', '--base', 'applied', '--format', 'json'], env);
    const plan = JSON.parse(stdout) as { verdict: { state: string; reasons: string[] }; requests: { reads: number } };
    const { requests } = space.emulator;
    expect(plan.requests.reads).toBe(requests.byMethod.GET);
    return { ...plan.verdict, asked: requests.count('getAuthenticatedUser') };
  }

  test.each([
    ['removed', 'members:\n  bo@acme.example: { role: admin }\n', /would remove ana@acme\.example/],
    ['demoted', ADMINS.replace('role: admin', 'role: edit'), /would demote ana@acme\.example/],
  ])('is not %s, although no configuration names it', async (_what, manifest, reason) => {
    expect(await planWith(manifest)).toEqual({ state: 'refused', reasons: [expect.stringMatching(reason)], asked: 1 });
  });

  test('is read once, and others can be demoted', async () => {
    const manifest = 'members:\n  ana@acme.example: { role: admin }\n  bo@acme.example: { role: edit }\n';
    expect(await planWith(manifest)).toEqual({ state: 'ready', reasons: [], asked: 1 });
  });

  test.each([
    ['no member changes', `${ADMINS}teams:\n  writers: { title: Writers }\n`],
    ['a member becomes an admin', `${ADMINS}  cy@acme.example: { role: admin }\n`],
    ['a change is paused', ADMINS.replace('{ role: admin }', '{ role: edit, paused: { reason: later } }')],
  ])('is not read if %s', async (_what, manifest) => {
    expect(await planWith(manifest)).toMatchObject({ state: 'ready', asked: 0 });
  });

  test.each([403, 404, 405])('is not protected if the platform responds %i', async (status) => {
    space.emulator.setFaults([{ match: { operation: 'getAuthenticatedUser' }, fault: { kind: 'status', status } }]);
    expect(await planWith(ADMINS.replace('role: admin', 'role: edit'))).toMatchObject({ state: 'ready', asked: 1 });
  });

  test('doctor reports whose token it is', async () => {
    const { stdout } = await space.inside(['doctor']);
    expect(stdout).toMatch(/ok +Own user +ana@acme\.example, admin/);
  });
});

test('a user whose answer took no request is protected as well', async () => {
  const members = ['ana', 'bo'].map((name) =>
    actual('member', `usr_${name}`, { role: 'admin', sso: false }, { title: `${name}@acme.example` }),
  );
  const declared = await declare(ADMINS.replace('role: admin', 'role: edit'));
  const { plan } = await makePlan(planningInput('org_1', declared, null, UNLIMITED), {
    read: async (asked) => ({
      actuals: members.filter(({ kind }) => asked.some(({ name }) => name === kind)),
      people: [
        ['ana@acme.example', 'usr_ana'],
        ['bo@acme.example', 'usr_bo'],
      ],
    }),
    requests: () => 0,
    ownUser: async () => 'ana@acme.example',
  });
  expect(plan.verdict).toMatchObject({
    state: 'refused',
    reasons: [expect.stringMatching(/demote ana@acme\.example/)],
  });
});
