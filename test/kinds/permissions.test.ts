import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AuthError } from '../../src/core/errors.ts';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { readAll } from '../../src/import/import.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { filesAfter, importOf } from '../import/importing.ts';
import { openWorld, type PassOptions, UNLIMITED, type World } from '../support/world.ts';
import { problemsIn } from './problems.ts';

/* Roles of teams and people in spaces, collections and sites. */

let world: World;
beforeAll(async () => {
  world = await openWorld({ platform: '0.202' });
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.begin();
  world.emulator.setFeatures(getFeatures('0.202'));
});

const TEAMS = 'teams: { writers: { title: Writers }, support: { title: Support } }\n';
const spaceOf = (permissions: string) => `${TEAMS}spaces: { one: { title: One, permissions: ${permissions} } }`;
const ROLES = spaceOf(
  '{ teams: { writers: edit, support: edit }, members: { ana@acme.example: admin, bo@acme.example: read } }',
);
const approved: PassOptions = { policy: UNLIMITED };

/** Requests that wrote permissions in one pass, in their order. */
async function writesOf(manifests: string): Promise<readonly string[]> {
  world.emulator.requests.reset();
  await world.apply(manifests, approved);
  return world.emulator.requests.entries
    .filter(({ method, operation }) => method !== 'GET' && /Permission|invite|From(?:Space|Site|Coll)/.test(operation))
    .map(({ operation }) => operation);
}

/** Roles on the platform, by the title of the team or the email address. */
async function rolesAt(path: string): Promise<Record<string, string>> {
  const lists = await Promise.all(['teams', 'users'].map((of) => world.call('GET', `${path}/permissions/${of}`)));
  return Object.fromEntries(
    lists.flatMap(({ items }) =>
      (items as { permission: string; team?: { title: string }; user?: { email: string } }[]).map((item) => [
        item.team?.title ?? item.user?.email ?? '',
        item.permission,
      ]),
    ),
  );
}

async function idOf(address: string): Promise<string> {
  return (await world.record.read()).entries.find((entry) => entry.address === address)?.id ?? '';
}

const oneSpace = async () => `/v1/spaces/${await idOf('space/one')}`;

describe('requests', () => {
  test('one for each role that is new, each role that changes, and each that is lost; gains come first', async () => {
    expect(await writesOf(ROLES)).toEqual(['inviteToSpace', 'inviteToSpace', 'inviteToSpace']);
    expect(await rolesAt(await oneSpace())).toEqual({
      Writers: 'edit',
      Support: 'edit',
      'ana@acme.example': 'admin',
      'bo@acme.example': 'read',
    });
    const changed = '{ teams: { writers: review }, members: { bo@acme.example: edit, cy@acme.example: admin } }';
    expect(await writesOf(spaceOf(changed))).toEqual([
      'inviteToSpace',
      'updateTeamPermissionInSpace',
      'updateUserPermissionInSpace',
      'removeTeamFromSpace',
      'removeUserFromSpace',
    ]);
    expect(await rolesAt(await oneSpace())).toEqual({
      Writers: 'review',
      'bo@acme.example': 'edit',
      'cy@acme.example': 'admin',
    });
  });

  test('of a plan without changes: one list for teams and one for people, only where they are declared', async () => {
    const others = ', two: { title: Two }, three: { title: Three, permissions: { teams: {} } } }\n';
    const sites = 'sites: { help: { title: Help, defaultLevel: read, permissions: { members: {} } } }';
    const all = `${ROLES.replace(/ }$/, others)}${sites}`;
    await world.settle(all, approved);
    world.emulator.requests.reset();
    expect((await world.plan(all, approved)).plan.changes).toEqual([]);
    expect(world.emulator.requests.byOperation).toEqual({
      listMembers: 1,
      listTeams: 1,
      listSpaces: 1,
      listSites: 1,
      listTeamPermissionsInSpace: 2,
      listUserPermissionsInSpace: 1,
      listUserPermissionsInSite: 1,
    });
  });

  test.each(['reset-before', 'reset-after'] as const)(
    'are repeated until they are known to be done: %s',
    async (kind) => {
      world.emulator.setFaults([
        { match: { operation: 'inviteToSpace' }, times: 2, fault: { kind } },
        { match: { operation: 'removeTeamFromSpace' }, times: 1, fault: { kind } },
      ]);
      await world.settle(ROLES, approved);
      await world.settle(spaceOf('{ teams: { support: admin }, members: {} }'), approved);
      expect(await rolesAt(await oneSpace())).toEqual({ Support: 'admin' });
    },
  );
});

test('a role in what is not declared stays, and so do teams and people beyond additive permissions', async () => {
  await world.settle(ROLES, approved);
  await world.settle(spaceOf('{ membership: additive, teams: { writers: admin } }'), approved);
  expect(await rolesAt(await oneSpace())).toMatchObject({
    Writers: 'admin',
    Support: 'edit',
    'ana@acme.example': 'admin',
  });
  await world.settle('spaces: { one: { title: One, permissions: { members: { bo@acme.example: read } } } }', {
    policy: { ...UNLIMITED, prune: 'never' },
  });
  expect(await rolesAt(await oneSpace())).toEqual({ Writers: 'admin', Support: 'edit', 'bo@acme.example': 'read' });
});

test('a deleted team loses its roles first, and the next plan is empty', async () => {
  await world.settle(ROLES, approved);
  const left =
    'teams: { support: { title: Support } }\nspaces: { one: { title: One, permissions: { teams: { support: edit } } } }';
  const { planned, results } = await world.apply(left, approved);
  expect(planned.plan.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
    'update space/one',
    'delete team/writers',
  ]);
  expect(results.map(({ status }) => status)).toEqual(['applied', 'applied']);
  expect((await world.plan(left, approved)).plan.changes).toEqual([]);
});

test('a person who has not joined is pending, and gets the role later', async () => {
  const manifests = spaceOf('{ members: { dana@acme.example: edit, bo@acme.example: read } }');
  const { planned } = await world.settle(manifests, approved);
  expect(planned.plan.pending).toEqual([
    { address: 'member/dana@acme.example', reason: 'not a member of the organization yet' },
  ]);
  expect(await rolesAt(await oneSpace())).toEqual({ 'bo@acme.example': 'read' });
});

describe('a platform without permissions of sites', () => {
  const site = `${TEAMS}sites: { help: { title: Help, defaultLevel: read, permissions: { teams: { writers: edit }, members: {} } } }`;

  test.each([
    ['0.146', ['defaultLevel', 'permissions.teams', 'permissions.members']],
    ['0.167', ['defaultLevel']],
    ['0.181', []],
  ] as const)('%s: the site is created, and the plan says what was not compared', async (version, missing) => {
    world.emulator.setFeatures(getFeatures(version));
    const { results } = await world.apply(site, approved);
    expect(results.map(({ status }) => status)).toEqual(['applied', 'applied', 'applied']);
    const { plan } = await world.plan(site, approved);
    expect(plan.changes).toEqual([]);
    expect(plan.notes.map(({ text }) => text.split(' ')[0])).toEqual(missing);
  });

  test('an unknown team is an error, not a missing operation', async () => {
    const address = 'sites: { help: { title: Help, permissions: { teams: {} } } }';
    await world.settle(address, approved);
    world.emulator.setFaults([{ match: { operation: 'inviteToSite' }, fault: { kind: 'status', status: 404 } }]);
    const { results } = await world.apply(`${TEAMS}${address.replace('{} }', '{ writers: read } }')}`, approved);
    expect(results.find((result) => result.address === 'site/help')?.status).toBe('failed');
  });
});

describe('guards', () => {
  test('hold the loss of the last admin', async () => {
    await world.settle(ROLES, approved);
    const { plan } = await world.plan(ROLES.replace('ana@acme.example: admin, ', ''));
    expect(plan.verdict).toEqual({
      state: 'held',
      reasons: ['space/one: no team and no person would have the role admin in it, only admins of the organization'],
    });
    const { verdict } = (
      await world.plan(ROLES.replace('ana@acme.example: admin, ', ''), { policy: { approved: [plan.checksum] } })
    ).plan;
    expect(verdict.state).toBe('ready');
    const another = await world.plan(ROLES.replace('ana@acme.example: admin', 'cy@acme.example: admin'));
    expect(another.plan.verdict.state).toBe('ready');
  });

  test('refuse to take the role of the token from its user, unless the user is an admin of the organization', async () => {
    const two = ROLES.replace('bo@acme.example: read', 'bo@acme.example: admin');
    await world.settle(two, approved);
    const without = (email: string) => two.replace(new RegExp(`(, )?${email}: admin(, )?`), '');
    const verdict = async (email: string) =>
      (await world.plan(without(email), { policy: { ...UNLIMITED, user: email } })).plan.verdict;
    expect(await verdict('bo@acme.example')).toEqual({
      state: 'refused',
      reasons: ['it would take the role admin in space/one from bo@acme.example, whose token Octavo uses'],
    });
    expect((await verdict('ana@acme.example')).state).toBe('ready');
  });

  test('ask whose token it is only if a person loses the role of an admin', async () => {
    await world.settle(ROLES, approved);
    for (const [manifests, asked] of [
      [ROLES.replace('bo@acme.example: read', 'bo@acme.example: edit'), 0],
      [ROLES.replace('ana@acme.example: admin', 'ana@acme.example: read'), 1],
    ] as const) {
      world.emulator.requests.reset();
      await world.plan(manifests, approved);
      expect(world.emulator.requests.count('getAuthenticatedUser')).toBe(asked);
    }
  });
});

test('an import writes roles, and what it cannot declare stays', async () => {
  await world.settle(
    `${ROLES}\ncollections: { shelf: { title: Shelf, permissions: { members: { bo@acme.example: review } } } }\nsites: { help: { title: Help, permissions: { teams: { support: comment } } } }`,
    approved,
  );
  const { observation } = await readAll(kinds, [], world.reader());
  const files = filesAfter(await importOf(observation));
  const text = Object.values(files).join('\n');
  expect(text).toMatch(/permissions:\s+teams:\s*\{?\s*support: edit,?\s+writers: edit/);
  expect(text).toMatch(/bo@acme\.example: review/);
  expect(text).toMatch(/support: comment/);
  expect((await world.plan(files, { base: null })).plan.changes).toEqual([]);
});

async function problemLines(manifests: string): Promise<readonly string[]> {
  return (await problemsIn(manifests)).map(({ line, address, message }) => `${line} ${address}: ${message}`);
}

test('problems of permissions name their line', async () => {
  const manifest = `${TEAMS}spaces:
  one:
    title: One
    permissions:
      membership: some
      teams:
        writer: edit
        support: owner
        "not a key!": read
      members:
        ana: read
        bo@acme.example: null
        Cy@acme.example: read
        cy@acme.example: admin
      groups: {}
`;
  expect(await problemLines(manifest)).toMatchInlineSnapshot(`
    [
      "6 space/one: permissions.membership must be one of exact, additive, not "some"",
      "9 space/one: permissions.teams.support must be one of admin, create, review, edit, comment, read, not "owner"",
      "10 space/one: "not a key!" in permissions.teams: is not a key (letters, digits, ".", "_" and "-", beginning with a letter or a digit, at most 100)",
      "12 space/one: "ana" in permissions.members: is not an email address",
      "13 space/one: permissions.members["bo@acme.example"] cannot be cleared: null is not allowed here; leave the field out if it should not be managed",
      "16 space/one: unknown field "groups" in permissions; valid fields: membership, teams, members",
    ]
  `);
  expect(
    await problemLines(
      `${TEAMS}spaces:\n  one:\n    title: One\n    permissions:\n      teams:\n        writer: edit\n`,
    ),
  ).toMatchInlineSnapshot(`
    [
      "7 space/one: no team "writer"; did you mean "writers" (octavo.yaml:1)?",
    ]
  `);
});

test('a token that may not read roles still imports and saves the rest', async () => {
  await world.settle(ROLES, approved);
  world.emulator.setFaults([
    { match: { operation: 'listTeamPermissionsInSpace' }, fault: { kind: 'status', status: 403 } },
  ]);
  const { observation, unread } = await readAll(kinds, [], world.reader());
  expect(unread).toEqual([{ kind: 'team permissions of space', reason: expect.stringContaining('403') }]);
  const files = filesAfter(await importOf(observation));
  expect(Object.values(files).join('\n')).toMatch(/one:\s+title: One\s+editMode: live\s+permissions: \{ members: /);
  // A plan does not guess.
  await expect(world.plan(ROLES)).rejects.toThrow(AuthError);
});

test('a person who is written twice is a problem', async () => {
  const twice = '{ Cy@acme.example: read, cy@acme.example: admin }';
  expect(await problemLines(spaceOf(`{ members: ${twice} }`))).toEqual([
    '2 space/one: permissions.members["cy@acme.example"] names the same person as "Cy@acme.example", because email addresses are compared in lower case; keep one of them',
  ]);
});

test('roles of a space that is renamed in the same commit are compared in the first pass', async () => {
  await world.settle(`${TEAMS}spaces: { one: { title: One } }`, approved);
  const id = await idOf('space/one');
  const { items } = await world.call('GET', '/members?limit=100');
  const [first] = items as { readonly id: string }[];
  await world.call('POST', `/v1/spaces/${id}/permissions`, { users: [first?.id], role: 'edit' });
  await world.apply(
    spaceOf('{ members: { bo@acme.example: read } }').replace('title: One', 'title: Renamed'),
    approved,
  );
  expect(await rolesAt(`/v1/spaces/${id}`)).toEqual({ 'bo@acme.example': 'read' });
});
