import { beforeEach, expect, test } from 'vitest';
import { as, type Body, sharedFixture } from './fixture.ts';

/* Joining by a domain or an invite link, and the visits that it records. */

const made = await sharedFixture({
  tokens: {
    zoe: { user: 'Zoe.Doe@Docs.Example', permission: 'read' },
    eve: { user: 'eve@docs.example.evil.example', permission: 'admin' },
    cy: { user: 'cy@acme.example', permission: 'admin' },
  },
});
const { call, org, emulator } = made;
const empty = emulator.state();
const ORG = `/orgs/${emulator.organization}`;

beforeEach(() => emulator.restore(empty));

async function people(): Promise<Record<string, unknown>> {
  const { items } = await org('GET', '/members?order=asc');
  return Object.fromEntries(items.map((member: Body) => [member.user.email, member.role]));
}

test('a user of an allowed domain joins once, with the default role', async () => {
  await org('PATCH', '', { emailDomains: ['docs.example'], defaultRole: 'comment' });
  expect((await call('POST', `${ORG}/join`, undefined, as('zoe'))).status).toBe(204);
  expect((await call('POST', `${ORG}/join`, undefined, as('zoe'))).status).toBe(204);
  const { items } = await org('GET', '/members?search=zoe');
  expect(items).toMatchObject([
    {
      role: 'comment',
      sso: false,
      disabled: false,
      joinedAt: '2026-03-01T12:00:00.000Z',
      user: { displayName: 'Zoe.Doe' },
    },
  ]);
});

test('an invited user of any domain is listed after joining, with the role of the last invitation', async () => {
  await org('POST', '/invites', { emails: ['zoe.doe@docs.example'], role: 'edit' });
  await org('POST', '/invites', { emails: ['zoe.doe@docs.example'], role: 'review', sso: true });
  expect(await people()).not.toHaveProperty(['zoe.doe@docs.example']);
  expect((await call('POST', `${ORG}/join`, undefined, as('zoe'))).status).toBe(204);
  expect((await org('GET', '/members?search=zoe')).items).toMatchObject([{ role: 'review', sso: true }]);
});

test('a user joins as a guest without a default role', async () => {
  await org('PATCH', '', { emailDomains: ['DOCS.example'] });
  await call('POST', `${ORG}/join`, undefined, as('zoe'));
  expect(await people()).toMatchObject({ 'Zoe.Doe@Docs.Example': null });
});

test.each([
  ['no domain at all', [], 'zoe', 'docs.example'],
  ['another domain', ['acme.example'], 'zoe', 'docs.example'],
  ['a domain above it', ['example'], 'zoe', 'docs.example'],
  ['a domain that is only a prefix', ['docs.example'], 'eve', 'docs.example.evil.example'],
])('a user cannot join an organization that allows %s', async (_, emailDomains, token, domain) => {
  await org('PATCH', '', { emailDomains });
  const before = await people();
  const reply = await call('POST', `${ORG}/join`, undefined, as(token));
  expect(reply).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining(`"${domain}"`) } } });
  expect(await people()).toEqual(before);
});

test('an existing member of any domain stays unchanged', async () => {
  await org('PATCH', '', { defaultRole: 'admin' });
  expect((await call('POST', `${ORG}/join`, undefined, as('cy'))).status).toBe(204);
  expect(await people()).toMatchObject({ 'cy@acme.example': 'read' });
});

test('an invite link is redundant for a member with an equal or higher role', async () => {
  await org('PATCH', '', { inviteLinks: true });
  const redundant = async (role: string | null, token?: string) => {
    const { id } = await org('POST', '/link-invites', { role });
    return (await call('GET', `${ORG}/link-invites/${id}`, undefined, token === undefined ? {} : as(token))).body
      .redundant;
  };
  expect(await redundant('admin')).toBe(true);
  expect(await redundant(null, 'cy')).toBe(true);
  expect(await redundant('read', 'cy')).toBe(true);
  expect(await redundant('comment', 'cy')).toBe(false);
  expect(await redundant(null, 'eve')).toBe(false);
});

test('disabling invite links keeps existing ones and refuses new ones', async () => {
  await org('PATCH', '', { inviteLinks: true });
  const { id } = await org('POST', '/link-invites', { role: 'read' });
  await org('PATCH', '', { inviteLinks: false });
  expect((await call('POST', `${ORG}/link-invites`, { role: 'read' })).status).toBe(400);
  expect((await org('GET', '/link-invites')).items).toEqual([{ object: 'invite', id, role: 'read', redundant: true }]);
});

test('a visit returns readable claims of the visitor', async () => {
  const { serviceVisitorClaims } = await org('POST', '/ping');
  const [header, claims, signature] = serviceVisitorClaims.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const { items } = await org('GET', '/members?role=admin');
  expect([read(header), read(claims), signature]).toEqual([
    { alg: 'none', typ: 'JWT' },
    { sub: items[0].id, organization: emulator.organization },
    '',
  ]);
});

test('agent instructions are stored with their author', async () => {
  const { items } = await org('GET', '/members?search=cy');
  const instructions = { object: 'document', data: {}, nodes: [] };
  await call('PUT', `${ORG}/agent-instructions`, { instructions }, as('cy'));
  expect(await org('GET', '/agent-instructions')).toEqual({
    object: 'agent-instructions',
    instructions,
    updatedAt: '2026-03-01T12:00:00.000Z',
    updatedBy: items[0].id,
    urls: { location: `${emulator.url}/v1${ORG}/agent-instructions` },
  });
});
