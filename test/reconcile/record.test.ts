import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FaultRule } from '../../src/emulator/emulator.ts';
import type { RecordEntry } from '../../src/store/record.ts';
import { NAMES } from '../support/certificates.ts';
import { openWorld, UNLIMITED, type World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.begin());

const policy = { policy: UNLIMITED };
const status = (code: number): FaultRule['fault'] => ({ kind: 'status', status: code });
/** Lets every request of an operation fail, by default with a refusal. */
const always = (operation: string, fault = status(400)) => world.emulator.setFaults([{ match: { operation }, fault }]);

async function recorded(): Promise<Readonly<Record<string, RecordEntry>>> {
  const { entries } = await world.record.read();
  return Object.fromEntries(entries.map((entry) => [entry.address, entry]));
}

async function statuses(manifests: string): Promise<string[]> {
  const { results } = await world.apply(manifests, policy);
  return results.map(({ action, address, status }) => `${status} ${action} ${address}`).sort();
}

describe('the record contains exactly what was confirmed', () => {
  test('does not record a failed creation, and skips the changes that require it', async () => {
    always('createCollection');
    expect(
      await statuses('collections: { c: { title: C } }\nspaces: { s: { title: S, collection: c }, t: { title: T } }'),
    ).toEqual(['applied create space/t', 'failed create collection/c', 'skipped create space/s']);
    expect(Object.keys(await recorded())).toEqual(['space/t']);
  });

  test('keeps the previous entry after a failed update', async () => {
    await world.settle('teams: { a: { title: A } }', policy);
    always('updateTeam');
    expect(await statuses('teams: { a: { title: B } }')).toEqual(['failed update team/a']);
    expect((await recorded())['team/a']?.fields).toEqual({ title: 'A' });
    world.emulator.setFaults([]);
    expect(await statuses('teams: { a: { title: B } }')).toEqual(['applied update team/a']);
    expect((await recorded())['team/a']?.fields).toEqual({ title: 'B' });
  });

  test('keeps owning a resource whose deletion failed, and tries again', async () => {
    await world.settle('teams: { a: { title: A }, b: { title: B } }', policy);
    always('deleteTeam');
    expect(await statuses('teams: { b: { title: B } }')).toEqual(['failed delete team/a']);
    expect(Object.keys(await recorded())).toEqual(['team/a', 'team/b']);
    world.emulator.setFaults([]);
    expect(await statuses('teams: { b: { title: B } }')).toEqual(['applied delete team/a']);
    expect(Object.keys(await recorded())).toEqual(['team/b']);
  });

  test('owns a partial creation, and finishes it in the next pass', async () => {
    const manifests = `spaces: { s: { title: S } }
sites: { w: { title: Site, structure: [{ section: x, title: Section, path: wanted, spaces: [{ key: e, space: s, path: shown }] }] } }`;
    always('updateSection');
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

  test('prunes a partial creation that is no longer declared', async () => {
    always('updateTeamMembers');
    await statuses('teams: { a: { title: A, members: { ana@acme.example: owner } } }');
    expect(world.emulator.state().teams).toHaveLength(1);
    world.emulator.setFaults([]);
    await world.settle('teams: {}', policy);
    expect(world.emulator.state().teams).toHaveLength(0);
  });

  test('keeps owning a resource whose deletion is held', async () => {
    await world.settle('saml: { okta: { label: Okta } }\nteams: { a: { title: A } }', policy);
    const { results } = await world.apply('teams: { a: { title: B } }', {});
    expect(results.map(({ status }) => status).sort()).toEqual(['applied', 'held']);
    expect(Object.keys(await recorded())).toEqual(['saml/okta', 'team/a']);
  });

  test('removes the entry of a resource that someone else deleted', async () => {
    await world.settle('teams: { a: { title: A }, b: { title: B } }', policy);
    await world.call('DELETE', `/teams/${(await recorded())['team/a']?.id}`);
    await world.settle('teams: { b: { title: B } }', policy);
    expect(Object.keys(await recorded())).toEqual(['team/b']);
  });

  test('removes the entries of the parts of a deleted resource', async () => {
    const space = 'spaces: { s: { title: S } }';
    await world.settle(
      `${space}\nsites: { w: { title: Site, structure: [{ section: x, title: Section, spaces: [{ key: e, space: s }] }] } }`,
      policy,
    );
    await world.settle(space, policy);
    expect(Object.keys(await recorded())).toEqual(['space/s']);
  });

  test('owns adopted and renamed resources under their current key', async () => {
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

  test('protects a resource until a commit that removes the protection is applied', async () => {
    await world.settle('teams: { a: { title: A, protect: true } }', policy);
    await world.settle('teams: { a: { title: A } }', policy);
    expect((await recorded())['team/a']?.protect).toBe(true);
    expect(await statuses('teams: {}')).toEqual(['held delete team/a']);
    expect((await recorded())['team/a']?.protect).toBe(true);
    await world.settle('teams: { a: { title: A, protect: false } }', policy);
    expect(await statuses('teams: {}')).toEqual(['applied delete team/a']);
  });

  test('compares the text of a file with what was applied', async () => {
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

  test('fails for a specification that the platform cannot process, with the line, and does not send it again', async () => {
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

  test('runs a translation again only when its source has changed', async () => {
    const manifests =
      'spaces: { s: { title: S } }\ntranslations: { fr: { space: s, from: en, to: fr, rerun: on-change } }';
    await world.settle(manifests, policy);
    // The revision of a space that was created in the same pass is seen in the next one.
    await world.settle(manifests, policy);
    expect((await world.plan(manifests, policy)).plan.changes).toEqual([]);
    world.emulator.reviseSpace((await recorded())['space/s']?.id ?? '');
    expect(await statuses(manifests)).toEqual(['applied update translation/fr']);
    expect(world.emulator.state().translations?.[0]?.stats.runs).toBe(2);
    expect((await world.plan(manifests, policy)).plan.changes).toEqual([]);
  });
});

describe('an intent', () => {
  const fail = (...faults: readonly [string, FaultRule['fault']][]) =>
    world.emulator.setFaults(faults.map(([operation, fault]) => ({ match: { operation }, times: 1, fault })));
  const begun = async () =>
    Object.values(await recorded())
      .filter(({ id, metadata }) => id === null && metadata.begun === true)
      .map(({ address }) => address);
  const nested = (items: string) =>
    `spaces: { s: { title: S } }\nsites: { w: { title: Site, structure: [{ section: x, title: Section, spaces: [{ key: e, space: s }] }, ${items}] } }`;
  const inside = nested('{ group: outer, title: Outer, items: [{ group: inner, title: Inner, items: [] }] }');
  const beside = nested('{ group: outer, title: Outer, items: [] }, { group: inner, title: Inner, items: [] }');
  const groups = () => (world.emulator.state().sectionGroups ?? []).map(({ title }) => title).sort();

  test.each([400, 401, 403, 404, 409, 422])(
    'is withdrawn by a refusal (%i), so that a manual creation is not owned',
    async (code) => {
      await world.settle('teams: { b: { title: B } }', policy);
      always('createTeam', status(code));
      expect(await statuses('teams: { a: { title: A }, b: { title: B } }')).toEqual(['failed create team/a']);
      expect(Object.keys(await recorded())).toEqual(['team/b']);
      world.emulator.setFaults([]);
      await world.call('PUT', '/teams', { title: 'A' });
      await world.settle('teams: {}', policy);
      expect(world.emulator.state().teams).toMatchObject([{ title: 'A' }]);
    },
  );

  test.each<[string, FaultRule['fault']]>([
    ['a server error', status(500)],
    ['a request timeout', status(408)],
    ['a connection reset', { kind: 'reset-before' }],
    ['an HTML page of an intermediary', { kind: 'html' }],
  ])('stays after %s', async (_name, fault) => {
    always('createTeam', fault);
    expect(await statuses('teams: { a: { title: A } }')).toEqual(['failed create team/a']);
    expect(await begun()).toEqual(['team/a']);
  });

  test.each([
    ['team/a', 'createTeam', 'teams: { a: { title: A } }'],
    // The queue itself retries this one.
    ['openapi/a', 'putOpenApiSpec', 'openapi: { a: { source: { url: "https://acme.example/a.json" } } }'],
  ])('of %s stays if an earlier response was lost', async (address, operation, manifests) => {
    fail([operation, { kind: 'reset-before' }], [operation, status(400)]);
    expect(await statuses(manifests)).toEqual([`failed create ${address}`]);
    expect(await begun()).toEqual([address]);
    // The next pass has looked for it, and it does not exist: the rejection is then final.
    always(operation);
    expect(await statuses(manifests)).toEqual([`failed create ${address}`]);
    expect(await recorded()).toEqual({});
  });

  test('is withdrawn after a rate limit and a refusal', async () => {
    fail(['createTeam', { kind: '429', retryAfter: 0 }], ['createTeam', status(400)]);
    expect(await statuses('teams: { a: { title: A } }')).toEqual(['failed create team/a']);
    expect(await recorded()).toEqual({});
  });

  test('of a section is withdrawn with that of its first space', async () => {
    const manifests = nested('{ group: outer, title: Outer, items: [] }');
    always('createSection');
    await statuses(manifests);
    expect(Object.keys(await recorded()).filter((address) => /^(section|site-space)\//.test(address))).toEqual([]);
    world.emulator.setFaults([]);
    await world.settle(manifests, policy);
    expect(Object.keys(await recorded())).toContain('site-space/w/x/e');
  });

  test('of a half-done replacement restores its predecessor if the new resource was deleted', async () => {
    await world.settle(inside, policy);
    const old = (await recorded())['section-group/w/inner']?.id;
    always('deleteSectionGroup');
    await statuses(beside);
    const made = (await recorded())['section-group/w/inner'];
    expect(made).toMatchObject({ metadata: { old } });
    const site = (await recorded())['site/w']?.id;
    world.emulator.setFaults([]);
    await world.call('DELETE', `/sites/${site}/section-groups/${made?.id}`);
    world.emulator.setFaults(
      ['createSectionGroup', 'deleteSectionGroup'].map((operation) => ({ match: { operation }, fault: status(400) })),
    );
    await statuses(beside);
    expect((await recorded())['section-group/w/inner']).toEqual(made);
    world.emulator.setFaults([]);
    await world.settle(nested('{ group: outer, title: Outer, items: [] }'), policy);
    expect(groups()).toEqual(['Outer']);
  });

  test('of a replacement that was not created keeps the old resource owned', async () => {
    await world.settle(inside, policy);
    always('createSectionGroup', status(500));
    await statuses(beside);
    expect(await begun()).toEqual(['section-group/w/inner']);
    always('createSectionGroup');
    await statuses(beside);
    expect(await begun()).toEqual([]);
    world.emulator.setFaults([]);
    await world.settle(nested('{ group: outer, title: Outer, items: [] }'), policy);
    expect(groups()).toEqual(['Outer']);
  });

  test('of a replacement that first deleted the old resource is withdrawn completely', async () => {
    const translation = (to: string) =>
      `spaces: { s: { title: S } }\ntranslations: { r: { space: s, from: en, to: ${to} } }`;
    await world.settle(translation('fr'), policy);
    always('createTranslation');
    await statuses(translation('it'));
    world.emulator.setFaults([]);
    await world.settle(translation('it'), policy);
    expect(world.emulator.state().translations).toMatchObject([{ language: 'it' }]);
    await world.settle('spaces: { s: { title: S } }', policy);
    expect(world.emulator.state().translations).toEqual([]);
  });
});

test('refuses to delete the last provider of enforced single sign-on when the organization is not declared', async () => {
  const okta = `saml: { okta: { label: Okta, entityID: "https://a.example/e", ssoURL: "https://a.example/s", certificate: ${JSON.stringify(NAMES.cert)} } }`;
  await world.settle(`${okta}\norganization: { sso: true }`, policy);
  await world.record.remove(['organization']);
  const { plan } = await world.plan('teams: {}', policy);
  expect(plan.verdict).toMatchObject({
    state: 'refused',
    reasons: [expect.stringMatching(/no working SAML provider/)],
  });
});
