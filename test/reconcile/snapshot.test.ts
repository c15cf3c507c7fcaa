import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/core/errors.ts';
import type { Base } from '../../src/core/resource.ts';
import type { EmulatorState } from '../../src/emulator/emulator.ts';
import { kinds } from '../../src/kinds/registry.ts';
import type { Policy } from '../../src/plan/guard.ts';
import { planToJson } from '../../src/plan/render/document.ts';
import { renderPlanText } from '../../src/plan/render/text.ts';
import { PLAIN } from '../../src/plan/render/text-layout.ts';
import { openReader, type Reader } from '../../src/platform/client.ts';
import type { Connection } from '../../src/platform/connection.ts';
import { platformSource } from '../../src/reconcile/observe.ts';
import { makePlan, type Planned, type PlanningInput } from '../../src/reconcile/planning.ts';
import { baseOfManifests, baseOfRecord } from '../../src/reconcile/record.ts';
import {
  estimateAtRate,
  MAX_SNAPSHOT_BYTES,
  readSnapshot,
  type Snapshot,
  SnapshotSource,
  takeSnapshot,
  writeSnapshot,
} from '../../src/reconcile/snapshot.ts';
import { twoModels } from '../support/arbitrary-manifests.ts';
import { ADDRESSES } from '../support/certificates.ts';
import { addForeign } from '../support/foreign.ts';
import { manifestsOf } from '../support/model.ts';
import { VirtualPlatform } from '../support/virtual-platform.ts';
import {
  connectTo,
  declare,
  type Manifests,
  openWorld,
  planningInput,
  UNLIMITED,
  type World,
} from '../support/world.ts';

const SEED = Number(process.env.OCTAVO_SEED ?? 20261121);
const RUNS = Number(process.env.OCTAVO_RUNS ?? 25);
/** Concurrent changes. */
const PARALLEL = 100;
const NOW = Date.parse('2026-06-01T00:00:00Z');

let world: World;
let start: EmulatorState;
let connection: Connection;

beforeAll(async () => {
  world = await openWorld();
  await addForeign(world);
  start = world.emulator.state();
  connection = connectTo(world.emulator.url, world.emulator);
});
afterAll(async () => {
  await connection.close();
  await world.close();
});

function readerOf(way: Connection): Reader {
  return openReader(way, { organization: world.emulator.organization, priority: 'person' });
}

/** Created, written, and read again. */
async function snapshotOf(way = connection): Promise<Snapshot> {
  const taken = await takeSnapshot(kinds, readerOf(way), NOW, () => way.queue.snapshot());
  return readSnapshot(writeSnapshot(taken), 'snapshot.json', kinds);
}

async function inputOf(manifests: Manifests, base: Base, policy: Partial<Policy>): Promise<PlanningInput> {
  // A snapshot cannot tell whose token it is, so it has to be configured.
  const all = { user: 'octavo@acme.example', ...policy };
  return planningInput(world.emulator.organization, await declare(manifests), base, all);
}

function replayed(input: PlanningInput, snapshot: Snapshot): Promise<Planned> {
  return makePlan(input, new SnapshotSource(snapshot));
}

/** All visible output of a plan, or its error. */
async function shown(planned: Promise<Planned>): Promise<string> {
  try {
    const made = await planned;
    const text = renderPlanText(made.plan, { columns: 100, paint: PLAIN });
    return `${JSON.stringify(planToJson(made.plan), null, 1)}\n${text}`;
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

describe('a plan over a snapshot is the plan over the platform, byte for byte', () => {
  test('for any two sets of manifests, without a base, with a git ref and with the record', async () => {
    await fc.assert(
      fc.asyncProperty(twoModels, fc.constantFrom('owned', 'all'), async ([a, b], prune) => {
        await world.begin(start);
        await world.settle(manifestsOf(a), { policy: UNLIMITED });
        const snapshot = await snapshotOf();
        const recorded = (await baseOfRecord(world.record)).base;
        for (const base of [null, baseOfManifests(kinds, await declare(manifestsOf(a))), recorded]) {
          const input = await inputOf(manifestsOf(b), base, { ...UNLIMITED, prune });
          expect(await shown(replayed(input, snapshot))).toBe(await shown(world.planOf(input)));
        }
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure: process.env.OCTAVO_SHRINK === undefined },
    );
  });

  test.each([
    ['organization: { sso: true }'],
    [
      'sites: { help: { title: Foreign site, adaptiveSchema: { type: object, properties: {}, additionalProperties: false } } }',
    ],
    ['sites: { help: { title: Foreign site, structure: [] } }'],
    ['teams: { a: { title: Foreign team, members: { stranger@acme.example: owner } } }'],
    [`saml: { a: { label: Foreign login, certificate: ${JSON.stringify(ADDRESSES.cert)} } }`],
    ['translations: { a: { space: b, from: en, to: sv } }\nspaces: { b: { title: Foreign space } }'],
    ['translations: { a: { space: b, from: en, to: sv } }\nspaces: { b: { id: none, title: Foreign space } }'],
    ['openapi: { foreign: { source: { url: "https://name:password@other.example/spec.json" } } }'],
    ['members: { bo@acme.example: { role: admin } }'],
  ])('with details: %s', async (manifests) => {
    await world.begin(start);
    const snapshot = await snapshotOf();
    const bases = [
      null,
      baseOfManifests(kinds, await declare(`${manifests}\ncollections: { gone: { title: Foreign shelf } }`)),
    ];
    for (const base of manifests.startsWith('openapi') ? [null] : bases) {
      const input = await inputOf(manifests, base, {});
      expect(await shown(replayed(input, snapshot))).toBe(await shown(world.planOf(input)));
    }
  });

  test('with as many requests as pages are read', async () => {
    const teams = Array.from({ length: 1001 }, (_, index) => ({
      id: `team_${index}`,
      seq: 1000 + index,
      organization: world.emulator.organization,
      title: `Team ${index}`,
      createdAt: '2026-01-01T00:00:00.000Z',
    }));
    world.emulator.restore({ ...start, sequence: 5000, teams });
    const input = await inputOf('teams: { a: { title: Team 7, members: {} } }', null, {});
    const planned = await replayed(input, await snapshotOf());
    expect(planned.plan.cost.requests.reads).toBe(3);
    expect(await shown(Promise.resolve(planned))).toBe(await shown(world.planOf(input)));
  });

  test.each([
    ['there are no rate limits', {}],
    ['the rate limits delay nothing', { all: { kind: 'fixed', limit: 1000, window: 60_000 } }],
  ] as const)('including its seconds, if %s', async (_when, limits) => {
    const platform = new VirtualPlatform({ rtt: 200, limits });
    const [way, other] = [platform.connect(), platform.connect('other token')];
    const read = await inputOf('teams: { a: { title: A }, b: { title: B } }\nsites: { c: { title: Site } }', null, {});
    const input = {
      ...read,
      organization: 'org_1',
      estimate: (work) => way.queue.estimate(work, PARALLEL),
    } satisfies PlanningInput;
    const made = await platform.clock.run(
      makePlan(
        input,
        platformSource(readerOf(way), () => 2),
      ),
    );
    const snapshot = await platform.clock.run(snapshotOf(other));
    const over = { ...input, estimate: estimateAtRate(snapshot.requestRate, 10, PARALLEL) };
    const replayedPlan = makePlan(over, new SnapshotSource(snapshot));
    expect(made.plan.cost.seconds).toBeGreaterThan(0.2);
    expect(await shown(replayedPlan)).toBe(await shown(Promise.resolve(made)));
  });

  test('estimates more seconds after a limit was reached', async () => {
    const platform = new VirtualPlatform({ rtt: 10, limits: { all: { kind: 'fixed', limit: 15, window: 60_000 } } });
    const { requestRate } = await platform.clock.run(snapshotOf(platform.connect()));
    const work = Array.from({ length: 40 }, () => ({ writes: 1, reads: 0, after: [] }));
    expect(estimateAtRate(requestRate, 10, PARALLEL)(work)).toBeGreaterThan(60);
    expect(estimateAtRate({ ...requestRate, budgets: [] }, 10, PARALLEL)(work)).toBeLessThan(1);
  });
});

describe('what a snapshot holds', () => {
  test('is the same for the same state, apart from the request rate', async () => {
    await world.begin(start);
    const [{ requestRate: _one, ...one }, { requestRate: _other, ...other }] = [await snapshotOf(), await snapshotOf()];
    expect(JSON.stringify(other)).toBe(JSON.stringify(one));
  });

  test('reports an unreadable kind only to plans that need it', async () => {
    await world.begin(start);
    world.emulator.setFaults([{ match: { operation: 'listSamlProviders' }, fault: { kind: 'status', status: 403 } }]);
    const snapshot = await snapshotOf();
    world.emulator.setFaults([]);
    const without = await inputOf('teams: { a: { title: Foreign team } }', null, {});
    expect((await replayed(without, snapshot)).plan.changes).toEqual([]);
    const needed = await inputOf('saml: { a: { label: Foreign login } }', null, {});
    expect(await shown(replayed(needed, snapshot))).toMatch(/^DependencyNotReadyError: saml could not be read/);
  });
});

describe('refuses a file that is not a snapshot', () => {
  let good: Record<string, unknown>;
  beforeAll(async () => {
    await world.begin(start);
    good = JSON.parse(writeSnapshot(await snapshotOf())) as typeof good;
  });

  const refusal = (text: string): string => {
    try {
      readSnapshot(text, 'snapshot.json', kinds);
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as Error).message;
    }
    throw new Error('it was read');
  };

  // biome-ignore lint/suspicious/noExplicitAny: files of every shape
  test.each<[string, (file: any) => unknown]>([
    ['with null', () => null],
    ['with a list', () => []],
    ['with another version', (file) => ({ ...file, format: 'octavo.snapshot/9' })],
    ['with an additional member', (file) => ({ ...file, more: 1 })],
    ['with an invalid time', (file) => ({ ...file, takenAt: 'yesterday' })],
    ['without a kind', (file) => ({ ...file, kinds: { ...file.kinds, team: undefined } })],
    ['with an unknown kind', (file) => ({ ...file, kinds: { ...file.kinds, more: { error: '' } } })],
    ['with __proto__ as a kind', (file) => ({ ...file, kinds: JSON.parse('{"__proto__":{"error":""}}') })],
    ['with a number for a kind', (file) => ({ ...file, kinds: { ...file.kinds, team: 7 } })],
    ['with a duplicate resource', (file) => withTeams(file, ([team]) => [team, team])],
    ['with a resource of another kind', (file) => withTeams(file, ([team]) => [within(team, { kind: 'space' })])],
    ['with an invalid title', (file) => withTeams(file, ([team]) => [within(team, { title: { $id: 'x' } })])],
    ['with a list of fields', (file) => withTeams(file, ([team]) => [within(team, { fields: [] })])],
    ['without the details of a resource', (file) => withTeams(file, ([team]) => [{ ...team, details: {} }])],
    [
      'with unknown details of a resource',
      (file) => withTeams(file, ([team]) => [{ ...team, details: { x: { requests: 1 } } }]),
    ],
    [
      'with parts of a resource that has none',
      (file) => withTeams(file, ([team]) => [{ ...team, details: { members: { requests: 1, parts: [team.actual] } } }]),
    ],
    [
      'with a negative number of requests',
      (file) => withTeams(file, ([team]) => [{ ...team, details: { members: { requests: -1 } } }]),
    ],
    ['with a negative request rate', (file) => ({ ...file, requestRate: { rtt: -1, budgets: [] } })],
  ])('%s', (_what, change) => {
    const message = refusal(JSON.stringify(change(structuredClone(good))));
    expect(message).toMatch(/^snapshot\.json cannot be used as a snapshot: .*; take one with octavo snapshot --out$/);
  });

  test.each([
    ['that is not JSON', '{'],
    ['with deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['with deep nesting inside a field', ''],
    ['with control characters', '{"format":"\u001b[2J"}'],
  ])('%s', (_what, text) => {
    const deep = `{"format":"octavo.snapshot/2","organization":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    expect(refusal(text === '' ? deep : text)).not.toContain('\u001b');
  });

  test('reads or refuses any change of any value, without a crash', async () => {
    // Something of every kind is declared, also inside a site, and all other resources are to be deleted.
    const everything = `organization: { title: Acme }
members: { ana@acme.example: { role: admin } }
teams: { a: { title: Foreign team, members: { ana@acme.example: owner } } }
saml: { a: { label: Foreign login, defaultTeam: a } }
collections: { a: { title: Foreign shelf } }
spaces: { a: { title: Foreign space, collection: a } }
openapi: { foreign: { source: { url: "https://foreign.example/other.json" } } }
translations: { b: { space: a, from: en, to: sv } }
sites:
  a:
    title: Foreign site
    adaptiveSchema: { type: object, properties: {}, additionalProperties: false }
    structure: [{ group: a, title: Foreign group, items: [{ section: a, title: Foreign section, spaces: [{ key: a, space: a }] }] }]`;
    const input = await inputOf(everything, null, { prune: 'all' });
    const paths = pathsOf(good);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.jsonValue(), async (path, value) => {
        let snapshot: Snapshot;
        try {
          snapshot = readSnapshot(JSON.stringify(replaced(good, path, value)), 'snapshot.json', kinds);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
          return;
        }
        expect(await shown(replayed(input, snapshot))).not.toMatch(/^(TypeError|RangeError)/);
      }),
      { seed: SEED, numRuns: Number(process.env.OCTAVO_RUNS ?? 300), endOnFailure: true },
    );
    expect(MAX_SNAPSHOT_BYTES).toBeGreaterThan(1e8);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: files of every shape
function withTeams(file: any, change: (teams: any[]) => unknown[]) {
  const { team } = file.kinds;
  return { ...file, kinds: { ...file.kinds, team: { ...team, resources: change(team.resources) } } };
}

// biome-ignore lint/suspicious/noExplicitAny: files of every shape
function within(resource: any, members: object) {
  return { ...resource, actual: { ...resource.actual, ...members } };
}

type Path = readonly string[];

function pathsOf(value: unknown, at: Path = []): readonly Path[] {
  const inside =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...at, key]))
      : [];
  return at.length === 0 ? inside : [at, ...inside];
}

// biome-ignore lint/suspicious/noExplicitAny: files of every shape
function replaced(file: any, path: Path, value: unknown): unknown {
  const copy = structuredClone(file);
  const holder = path.slice(0, -1).reduce((each, key) => each[key], copy);
  holder[path.at(-1) as string] = value;
  return copy;
}
