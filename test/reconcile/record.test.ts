import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RecordEntry } from '../../src/store/store.ts';
import { openWorld, UNLIMITED, type World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.begin());

const policy = { policy: UNLIMITED };
const refuse = (operation: string, times = 99) =>
  world.emulator.setFaults([{ match: { operation }, times, fault: { kind: 'status', status: 400, message: 'no' } }]);

async function recorded(): Promise<Readonly<Record<string, RecordEntry>>> {
  const { entries } = await world.record.read();
  return Object.fromEntries(entries.map((entry) => [entry.address, entry]));
}

async function statuses(manifests: string): Promise<string[]> {
  const { results } = await world.apply(manifests, policy);
  return results.map(({ action, address, status }) => `${status} ${action} ${address}`).sort();
}

describe('the record moves with what was confirmed, and no further', () => {
  test('a creation that failed is not there, and what stands on it is skipped', async () => {
    refuse('createCollection');
    expect(
      await statuses('collections: { c: { title: C } }\nspaces: { s: { title: S, collection: c }, t: { title: T } }'),
    ).toEqual(['applied create space/t', 'failed create collection/c', 'skipped create space/s']);
    const { 'collection/c': begun, ...rest } = await recorded();
    expect(Object.keys(rest)).toEqual(['space/t']);
    // Only that it was begun is written down: what answers to it later was made here.
    expect(begun).toMatchObject({ id: null, marks: { begun: true } });
  });

  test('an update that failed leaves what was applied before', async () => {
    await world.settle('teams: { a: { title: A } }', policy);
    refuse('updateTeam');
    expect(await statuses('teams: { a: { title: B } }')).toEqual(['failed update team/a']);
    expect((await recorded())['team/a']?.fields).toEqual({ title: 'A' });
    world.emulator.setFaults([]);
    expect(await statuses('teams: { a: { title: B } }')).toEqual(['applied update team/a']);
    expect((await recorded())['team/a']?.fields).toEqual({ title: 'B' });
  });

  test('a deletion that failed stays owned, and is tried again', async () => {
    await world.settle('teams: { a: { title: A }, b: { title: B } }', policy);
    refuse('deleteTeam');
    expect(await statuses('teams: { b: { title: B } }')).toEqual(['failed delete team/a']);
    expect(Object.keys(await recorded())).toEqual(['team/a', 'team/b']);
    world.emulator.setFaults([]);
    expect(await statuses('teams: { b: { title: B } }')).toEqual(['applied delete team/a']);
    expect(Object.keys(await recorded())).toEqual(['team/b']);
  });

  test('a creation that got half way is owned, and finished by the next pass', async () => {
    const manifests = `spaces: { s: { title: S } }
sites: { w: { title: Site, structure: [{ section: x, title: Section, path: wanted, spaces: [{ key: e, space: s, path: shown }] }] } }`;
    refuse('updateSection');
    const first = await statuses(manifests);
    expect(first).toContain('failed create section/w/x');
    const before = await recorded();
    expect(before['section/w/x']?.id).toBe(world.emulator.state().sections?.[0]?.id);
    world.emulator.setFaults([]);
    await world.settle(manifests, policy);
    expect(world.emulator.state().sections).toMatchObject([{ path: 'wanted' }]);
    expect(world.emulator.state().siteSpaces).toMatchObject([{ path: 'shown' }]);
    expect((await recorded())['section/w/x']?.id).toBe(before['section/w/x']?.id);
  });

  test('a half creation that is given up is pruned', async () => {
    refuse('updateTeamMembers');
    await statuses('teams: { a: { title: A, members: { ana@acme.example: owner } } }');
    expect(world.emulator.state().teams).toHaveLength(1);
    world.emulator.setFaults([]);
    await world.settle('teams: {}', policy);
    expect(world.emulator.state().teams).toHaveLength(0);
  });

  test('what is held stays owned', async () => {
    await world.settle('saml: { okta: { label: Okta } }\nteams: { a: { title: A } }', policy);
    const { results } = await world.apply('teams: { a: { title: B } }', {});
    expect(results.map(({ status }) => status).sort()).toEqual(['applied', 'held']);
    expect(Object.keys(await recorded())).toEqual(['saml/okta', 'team/a']);
  });

  test('what somebody else deleted is forgotten', async () => {
    await world.settle('teams: { a: { title: A }, b: { title: B } }', policy);
    await world.call('DELETE', `/teams/${(await recorded())['team/a']?.id}`);
    await world.settle('teams: { b: { title: B } }', policy);
    expect(Object.keys(await recorded())).toEqual(['team/b']);
  });

  test('the parts of what is deleted are forgotten with it', async () => {
    const space = 'spaces: { s: { title: S } }';
    await world.settle(
      `${space}\nsites: { w: { title: Site, structure: [{ section: x, title: Section, spaces: [{ key: e, space: s }] }] } }`,
      policy,
    );
    await world.settle(space, policy);
    expect(Object.keys(await recorded())).toEqual(['space/s']);
  });

  test('what was adopted, and what a key was renamed to, is owned under its key', async () => {
    await world.call('PUT', '/teams', { title: 'A' });
    await world.settle('teams: { a: { title: A } }', policy);
    const id = (await recorded())['team/a']?.id;
    expect(id).toBe(world.emulator.state().teams?.[0]?.id);
    await world.settle('teams: { renamed: { title: A } }', policy);
    expect(Object.entries(await recorded()).map(([address, entry]) => [address, entry.id])).toEqual([
      ['team/renamed', id],
    ]);
    expect(world.emulator.state().teams).toHaveLength(1);
  });

  test('protection holds until a commit has taken it back and been applied', async () => {
    await world.settle('teams: { a: { title: A, protect: true } }', policy);
    await world.settle('teams: { a: { title: A } }', policy);
    expect((await recorded())['team/a']?.protect).toBe(true);
    expect(await statuses('teams: {}')).toEqual(['held delete team/a']);
    expect((await recorded())['team/a']?.protect).toBe(true);
    await world.settle('teams: { a: { title: A, protect: false } }', policy);
    expect(await statuses('teams: {}')).toEqual(['applied delete team/a']);
  });

  test('the text of a file is compared with what was applied', async () => {
    const files = (text: string) => ({
      'octavo.yaml': 'openapi: { api: { source: { file: api.json } } }',
      'api.json': text,
    });
    const text = '{"openapi":"3.1.0","info":{"title":"A","version":"1"},"paths":{}}';
    await world.settle(files(text), policy);
    expect((await world.plan(files(text), policy)).plan.changes).toEqual([]);
    const other = text.replace('"1"', '"2"');
    expect((await world.plan(files(other), policy)).plan.changes).toHaveLength(1);
    const blind = (await world.plan(files(other), { ...policy, base: null })).plan;
    expect(blind.changes).toEqual([]);
    expect(blind.notes.map((note) => note.text).join()).toMatch(/content was not compared/);
  });

  test('a specification that the platform cannot process fails with its line, and is not sent again', async () => {
    const files = {
      'octavo.yaml': 'openapi: { api: { source: { file: api.yaml } } }',
      'api.yaml': 'openapi: 3.1.0\ninfo: {\n',
    };
    const { results } = await world.apply(files, policy);
    expect(results).toMatchObject([
      { status: 'failed', error: expect.stringMatching(/api\.yaml:3: .*PARSE_ERROR|PARSE_ERROR.*api\.yaml:\d+/) },
    ]);
    const again = (await world.plan(files, policy)).plan;
    expect(again.changes).toEqual([]);
    expect(again.notes.map((note) => note.text).join()).toMatch(/could not process it: PARSE_ERROR/);
  });

  test('a translation runs again when its source has changed, and only then', async () => {
    const manifests =
      'spaces: { s: { title: S } }\ntranslations: { fr: { space: s, from: en, to: fr, rerun: on-change } }';
    await world.settle(manifests, policy);
    // The revision of a space that was made in the same pass is seen in the next one.
    await world.settle(manifests, policy);
    expect((await world.plan(manifests, policy)).plan.changes).toEqual([]);
    world.emulator.reviseSpace((await recorded())['space/s']?.id ?? '');
    expect(await statuses(manifests)).toEqual(['applied update translation/fr']);
    expect(world.emulator.state().translations?.[0]?.stats.runs).toBe(2);
    expect((await world.plan(manifests, policy)).plan.changes).toEqual([]);
  });
});

test('the last provider of enforced single sign-on does not go, though nothing declares the organization', async () => {
  const okta =
    'saml: { okta: { label: Okta, entityID: "https://a.example/e", ssoURL: "https://a.example/s", certificate: PEM } }';
  await world.settle(`${okta}\norganization: { sso: true }`, policy);
  await world.record.remove(['organization']);
  const { plan } = await world.plan('teams: {}', policy);
  expect(plan.verdict).toMatchObject({
    state: 'refused',
    reasons: [expect.stringMatching(/no working SAML provider/)],
  });
});
