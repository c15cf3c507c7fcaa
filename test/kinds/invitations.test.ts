import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { declare, openWorld, type PassOptions, planningInput, UNLIMITED, type World } from '../support/world.ts';

/* A declared person who is not a member is invited once, whatever becomes of the answer. */

let world: World;
beforeAll(async () => {
  world = await openWorld({ tokens: { dana: { user: 'dana@acme.example', permission: 'read' } } });
});
afterAll(() => world.close());

const DANA = 'member/dana@acme.example';
const KNOWN = 'members: { ana@acme.example: { role: admin }';
const ALONE = `${KNOWN} }`;
const WITH_DANA = `${KNOWN}, dana@acme.example: { role: edit, sso: true } }
teams: { writers: { title: Writers, members: { dana@acme.example: member, eve@acme.example: member } } }`;
const options: PassOptions = { policy: UNLIMITED };

beforeEach(async () => {
  await world.begin();
  world.emulator.requests.reset();
});

async function pending(manifests: string, base: PassOptions = options): Promise<Record<string, string>> {
  const { plan } = await world.plan(manifests, base);
  expect(plan.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([]);
  return Object.fromEntries(plan.pending.map(({ address, reason }) => [address, reason]));
}

function invitations(): readonly unknown[] {
  return world.emulator.state().invitations ?? [];
}

test.each([
  ['by the first apply', false],
  ['by a later one', true],
])('is invited %s, is pending until they join, and is not invited again', async (_when, isLater) => {
  await (isLater ? world.settle(ALONE, options) : null);
  const { planned, results } = await world.apply(WITH_DANA, options);
  expect(planned.plan.access).toContainEqual(
    expect.objectContaining({ person: 'dana@acme.example', from: null, role: 'edit', change: DANA }),
  );
  expect(planned.plan.pending).toEqual([
    { address: DANA, reason: 'invited by this plan; gets what names them when they have joined' },
    { address: 'member/eve@acme.example', reason: 'not a member of the organization yet' },
  ]);
  expect(results).toContainEqual(expect.objectContaining({ address: DANA, action: 'create', status: 'applied' }));
  expect(invitations()).toMatchObject([{ role: 'edit', sso: true }]);
  expect(await pending(WITH_DANA)).toMatchObject({ [DANA]: 'invited; has not joined yet' });
  await world.apply(WITH_DANA, options);
  expect(world.emulator.requests.count('inviteUsersToOrganization')).toBe(1);
});

test('gets the declared role and the teams after joining', async () => {
  await world.settle(ALONE, options);
  await world.apply(WITH_DANA, options);
  const { url, organization } = world.emulator;
  const joins = { method: 'POST', headers: { authorization: 'Bearer dana' } };
  expect((await fetch(`${url}/v1/orgs/${organization}/join`, joins)).status).toBe(204);
  const { planned } = await world.apply(WITH_DANA.replace('role: edit', 'role: review'), options);
  expect(planned.plan.changes.map(({ action, address }) => `${action} ${address}`).toSorted()).toEqual([
    `update ${DANA}`,
    'update team/writers',
  ]);
  // Somebody else removes them: that is not undone.
  const id = planned.plan.bindings.get(DANA);
  await world.call('DELETE', `/members/${id}`);
  expect(await pending(WITH_DANA)).toMatchObject({
    [DANA]: 'not a member of the organization yet; an invitation is sent only once',
  });
});

test.each([
  ['reset-before', 0],
  ['reset-after', 1],
] as const)('is not invited again after an answer was lost (%s)', async (kind, sent) => {
  await world.settle(ALONE, options);
  world.emulator.setFaults([{ match: { operation: 'inviteUsersToOrganization' }, times: 1, fault: { kind } }]);
  const { results } = await world.apply(WITH_DANA, options);
  expect(results.find(({ address }) => address === DANA)?.status).toBe('failed');
  world.emulator.setFaults([]);
  await world.apply(WITH_DANA, options);
  expect(invitations()).toHaveLength(sent);
  expect(await pending(WITH_DANA)).toMatchObject({
    [DANA]: 'not a member of the organization yet; the answer to the invitation was lost',
  });
});

test('is invited by a later apply if the platform refused it', async () => {
  await world.settle(ALONE, options);
  const fault = { kind: 'status', status: 400 } as const;
  world.emulator.setFaults([{ match: { operation: 'inviteUsersToOrganization' }, times: 1, fault }]);
  await world.apply(WITH_DANA, options);
  expect(invitations()).toHaveLength(0);
  world.emulator.setFaults([]);
  await world.apply(WITH_DANA, options);
  expect(invitations()).toHaveLength(1);
});

test('is not invited by an apply that records nothing', async () => {
  const declared = await declare(WITH_DANA);
  const input = { ...planningInput(world.emulator.organization, declared, null, UNLIMITED), isUnrecorded: true };
  expect((await world.planOf(input)).plan.pending).toContainEqual({
    address: DANA,
    reason: 'not a member of the organization yet; only an apply with --record invites',
  });
});

test('in a pipeline, is invited by the commit that declares them', async () => {
  await world.settle(ALONE, options);
  const since = (manifests: string): PassOptions => ({ ...options, base: { manifests } });
  expect((await world.plan(WITH_DANA, since(ALONE))).plan.changes).toContainEqual(
    expect.objectContaining({ address: DANA, action: 'create' }),
  );
  await world.apply(WITH_DANA, since(ALONE));
  expect(await pending(WITH_DANA, since(WITH_DANA))).toMatchObject({
    [DANA]: 'not a member of the organization yet; an invitation is sent only once',
  });
});
