import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openWorld, UNLIMITED, type World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.begin();
  world.emulator.requests.reset();
});

/** Requests of a plan, by operation. */
async function requestsOf(manifests: string, base?: null): Promise<Readonly<Record<string, number>>> {
  world.emulator.requests.reset();
  const { plan } = await world.plan(manifests, { policy: UNLIMITED, ...(base === undefined ? {} : { base }) });
  expect(plan.cost.requests.reads).toBe(world.emulator.requests.total);
  expect(world.emulator.requests.byMethod).toEqual({ GET: world.emulator.requests.total });
  return world.emulator.requests.byOperation;
}

const EVERYTHING = `organization: { title: Acme }
members: { ana@acme.example: { role: admin } }
teams:
  a: { title: A, members: { ana@acme.example: owner } }
  b: { title: B, members: {} }
  c: { title: C }
saml: { okta: { label: Okta } }
collections: { shelf: { title: Shelf } }
spaces: { one: { title: One, collection: shelf } }
openapi: { petstore: { source: { url: "https://a.example/x" } } }
translations: { fr: { space: one, from: en, to: fr } }
sites:
  plain: { title: Plain, visibility: public }
  help: { title: Help, adaptiveSchema: { type: object, properties: {}, additionalProperties: false }, structure: [{ key: one, space: one }] }
  docs: { title: Docs, structure: [{ section: s, title: Section, spaces: [{ key: one, space: one }] }] }
`;

describe('a plan without changes', () => {
  test('reads each kind once, the members of each team, the parts of each site, and one schema', async () => {
    await world.settle(EVERYTHING, { policy: UNLIMITED });
    expect(await requestsOf(EVERYTHING)).toEqual({
      getOrganization: 1,
      listMembers: 1,
      listTeams: 1,
      listTeamMembers: 2,
      listSamlProviders: 1,
      listCollections: 1,
      listSpaces: 1,
      listOpenApiSpecs: 1,
      listTranslations: 1,
      listSites: 1,
      getSiteStructure: 2,
      getAdaptiveSchema: 1,
    });
  });

  test.each([
    ['teams: { a: { title: A } }', { listTeams: 1 }],
    ['teams: { a: { title: A, members: { ana@acme.example: owner } } }', { listTeams: 1, listMembers: 1 }],
    ['spaces: { one: { title: One } }', { listSpaces: 1 }],
    ['sites: { help: { title: Help } }', { listSites: 1 }],
    ['organization: { title: Acme }', { getOrganization: 1 }],
    ['organization: { sso: true }', { getOrganization: 1, listSamlProviders: 1 }],
  ])('reads only the kinds that are mentioned: %s', async (manifests, expected) => {
    expect(await requestsOf(manifests, null)).toEqual(expected);
  });
});

describe('an apply', () => {
  const teams = (count: number) =>
    JSON.stringify({
      teams: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [
          `t${index}`,
          { title: `Team ${index}`, members: { 'ana@acme.example': 'owner', 'bo@acme.example': 'member' } },
        ]),
      ),
    });

  test('creates 500 teams with members with one creation and at most one write of members each, and reads nothing twice', async () => {
    const { results, planned } = await world.apply(teams(500), { policy: UNLIMITED });
    expect(results.filter((result) => result.status === 'applied')).toHaveLength(500);
    const { createTeam, updateTeamMembers, ...rest } = world.emulator.requests.byOperation;
    expect(createTeam).toBe(500);
    expect(updateTeamMembers).toBeLessThanOrEqual(500);
    expect(rest).toEqual({ listTeams: 1, listMembers: 1 });
    expect(planned.plan.cost.requests).toEqual({ reads: 2, writes: 1000 });
  });
});
