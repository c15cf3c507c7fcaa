import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createState, type EmulatorState, emptyOrganization } from '../../src/emulator/emulator.ts';
import { type Body, type Fixture, fixture, memberId } from './fixture.ts';

/* Members, teams and SAML: counts, roles, bulk updates, and effects of deleting one on the others. */

let made: Fixture;
let fresh: EmulatorState;
let ana: string;
let bo: string;
let cy: string;
let team: string;

beforeAll(async () => {
  made = await fixture();
  ana = await memberId(made, 'ana@acme.example');
  bo = await memberId(made, 'bo@acme.example');
  cy = await memberId(made, 'cy@acme.example');
  team = (await made.org('PUT', '/teams', { title: 'Writers' })).id;
  fresh = made.emulator.state();
});
afterAll(() => made.emulator.close());
beforeEach(() => made.emulator.restore(fresh));

async function roles(): Promise<Record<string, string>> {
  const { items } = await made.org('GET', `/teams/${team}/members`);
  return Object.fromEntries(items.map((item: Body) => [item.organization.user.email.split('@')[0], item.team.role]));
}

test('a bulk update adds people by id or email, and sets roles', async () => {
  await made.org('PUT', `/teams/${team}/members`, {
    add: [ana, 'BO@acme.example'],
    memberships: { [ana]: { role: 'owner' }, 'cy@acme.example': { role: 'member' } },
  });
  expect(await roles()).toEqual({ ana: 'owner', bo: 'member', cy: 'member' });
  await made.org('PUT', `/teams/${team}/members`, { memberships: { [bo]: { role: 'owner' } }, add: [ana] });
  expect(await roles()).toEqual({ ana: 'owner', bo: 'owner', cy: 'member' });
});

test('a person to be added and removed is removed', async () => {
  await made.org('PUT', `/teams/${team}/members`, { add: [ana, bo], remove: ['ana@acme.example'] });
  expect(await roles()).toEqual({ bo: 'member' });
  await made.org('PUT', `/teams/${team}/members`, {
    remove: [bo, cy],
    memberships: { 'bo@acme.example': { role: 'owner' } },
  });
  expect(await roles()).toEqual({});
});

test('a bulk update with an unknown person changes nothing', async () => {
  const body = { add: [ana], remove: ['zoe@acme.example'] };
  const reply = await made.call('PUT', `/orgs/org_acme/teams/${team}/members`, body);
  expect(reply).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('body.remove.0') } } });
  expect(await roles()).toEqual({});
});

test('the numbers of team members, and of teams and spaces of a member, are updated', async () => {
  await made.org('PUT', `/teams/${team}/members/${bo}`, { role: 'owner' });
  await made.org('POST', '/spaces', {});
  expect(await made.org('GET', `/teams/${team}`)).toMatchObject({ members: 1 });
  expect(await made.org('GET', `/members/${bo}`)).toMatchObject({ teams: 1, spaces: 1 });
  expect((await made.org('GET', `/teams?owner=${bo}`)).count).toBe(1);
  await made.org('PUT', `/teams/${team}/members/${bo}`, { role: 'member' });
  expect((await made.org('GET', `/teams?owner=${bo}`)).count).toBe(0);
});

test('removing a member takes them out of their teams', async () => {
  await made.org('PUT', `/teams/${team}/members`, { add: [bo, cy] });
  await made.call('DELETE', `/orgs/org_acme/members/${bo}`);
  expect(await roles()).toEqual({ cy: 'member' });
  expect(await made.org('GET', `/teams/${team}`)).toMatchObject({ members: 1 });
});

test('the last admin cannot be removed, but one of two can', async () => {
  expect((await made.call('PATCH', `/orgs/org_acme/members/${ana}`, { role: null })).status).toBe(400);
  expect((await made.call('DELETE', `/orgs/org_acme/members/${ana}`)).status).toBe(400);
  await made.org('PATCH', `/members/${ana}`, { role: 'admin' });
  await made.org('PATCH', `/members/${bo}`, { role: 'admin' });
  await made.org('PATCH', `/members/${ana}`, { role: 'read' });
  expect((await made.call('DELETE', `/orgs/org_acme/members/${bo}`)).status).toBe(400);
});

test('members are listed by name', async () => {
  const members = ['zoe', 'ana', 'bo'].map((name) => ({ email: `${name}@docs.example`, role: 'admin' as const }));
  const seed = createState({ organizations: [emptyOrganization({ id: 'org_names', title: 'Names', members })] });
  const { call, emulator } = await fixture({ seed, platform: '0.201' });
  const names = async (query: string) =>
    (await call('GET', `/orgs/org_names/members?sort=name${query}`)).body.items.map(
      (item: Body) => item.user.displayName,
    );
  expect(await names('')).toEqual(['Zoe', 'Bo', 'Ana']);
  expect(await names('&order=asc')).toEqual(['Ana', 'Bo', 'Zoe']);
  await emulator.close();
});

test('members are listed newest first by default', async () => {
  const ids = async (query: string) => (await made.org('GET', `/members${query}`)).items.map((item: Body) => item.id);
  expect(await ids('')).toEqual([cy, bo, ana]);
  expect(await ids('?order=asc')).toEqual([ana, bo, cy]);
  expect(await ids('?search=b')).toEqual([bo]);
});

test('a SAML provider is active once it has all three settings', async () => {
  const { id } = await made.org('POST', '/saml', { label: 'Okta', entityID: 'e', certificate: 'c' });
  expect(await made.org('GET', '/sso')).toEqual({ items: [] });
  const updated = await made.org('PATCH', `/saml/${id}`, { ssoURL: 'https://okta.example/sso' });
  expect(updated).toMatchObject({ status: 'active', service: { acsURL: expect.any(String) } });
  expect(await made.org('GET', '/sso')).toEqual({ items: [{ id, label: 'Okta', startURL: updated.service.startURL }] });
});

test('deleting a team removes it from SAML providers', async () => {
  const { id } = await made.org('POST', '/saml', { label: 'Okta', defaultTeam: team });
  await made.org('DELETE', `/teams/${team}`);
  expect(await made.org('GET', `/saml/${id}`)).not.toHaveProperty('defaultTeam');
  expect((await made.org('GET', `/members/${bo}/teams`)).count).toBe(0);
});

test('a visit of a user who is not a member contains no membership', async () => {
  const stranger = await fixture({ tokens: { x: { user: 'zoe@acme.example', permission: 'admin' } } });
  const reply = await stranger.call('POST', '/orgs/org_acme/ping', undefined, { Authorization: 'Bearer x' });
  expect(reply).toMatchObject({ status: 200, body: {} });
  expect(reply.body).toEqual({});
  await stranger.emulator.close();
});

/** Roles in effect in a space, by the first part of the email address. */
async function rolesInEffect(space: string): Promise<Record<string, string>> {
  const { items } = (await made.call('GET', `/spaces/${space}/permissions/aggregate`)).body;
  return Object.fromEntries(items.map((item: Body) => [item.user.email.split('@')[0], item.permission]));
}

test('the role in effect is that of the person, of a team, of the default level, or of what is above', async () => {
  const shelf = (await made.org('POST', '/collections', { title: 'Shelf' })).id;
  const space = (await made.org('POST', '/spaces', { title: 'One', parent: shelf })).id;
  const set = (path: string, body: object) => made.call('PATCH', path, body);
  const give = (path: string, body: object) => made.call('POST', `${path}/permissions`, body);
  // A new space is for admins of the organization only.
  expect(await rolesInEffect(space)).toEqual({ ana: 'admin' });
  await set(`/spaces/${space}`, { defaultLevel: 'comment' });
  expect(await rolesInEffect(space)).toEqual({ ana: 'admin', bo: 'comment', cy: 'comment' });
  await set(`/spaces/${space}`, { defaultLevel: 'inherit' });
  await give(`/collections/${shelf}`, { users: [bo], role: 'review' });
  expect(await rolesInEffect(space)).toEqual({ ana: 'admin', bo: 'review' });
  await set(`/collections/${shelf}`, { defaultLevel: 'inherit' });
  expect(await rolesInEffect(space)).toEqual({ ana: 'admin', bo: 'review', cy: 'read' });
  await made.org('PUT', `/teams/${team}/members`, { add: [bo, cy] });
  await give(`/spaces/${space}`, { teams: [team], role: 'edit' });
  await give(`/spaces/${space}`, { users: [cy, ana], role: 'read' });
  expect(await rolesInEffect(space)).toEqual({ ana: 'admin', bo: 'edit', cy: 'read' });
  expect(await made.org('GET', `/teams/${team}`)).toMatchObject({ spaces: 1 });
  await made.org('DELETE', `/teams/${team}`);
  await made.org('DELETE', `/members/${cy}`);
  expect(await rolesInEffect(space)).toEqual({ ana: 'admin', bo: 'review' });
  expect(made.emulator.state().permissions?.map(({ holder }) => holder)).toEqual([bo, ana]);
});
