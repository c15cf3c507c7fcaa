import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChangeResult } from '../../src/core/change.ts';
import type { RateLimits } from '../../src/emulator/emulator.ts';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { kinds } from '../../src/kinds/registry.ts';
import type { Policy } from '../../src/plan/guard.ts';
import { openReader, openWriter } from '../../src/platform/client.ts';
import type { Connection } from '../../src/platform/connection.ts';
import { operations } from '../../src/platform/operations/index.ts';
import type { Work } from '../../src/queue/estimate.ts';
import { apply } from '../../src/reconcile/apply.ts';
import { platformSource } from '../../src/reconcile/observe.ts';
import { makePlan, type Planned } from '../../src/reconcile/planning.ts';
import { baseOfRecord } from '../../src/reconcile/record.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { twoModels } from '../support/arbitrary-manifests.ts';
import { samples } from '../support/kind-samples.ts';
import { manifestsOf } from '../support/model.ts';
import { VirtualPlatform, type VirtualPlatformOptions } from '../support/virtual-platform.ts';
import { declare, type Manifests, planningInput, UNLIMITED } from '../support/world.ts';

/** Estimated cost of an apply in the plan, and its actual cost. */
interface Account {
  readonly planned: Planned;
  readonly results: readonly ChangeResult[];
  readonly estimated: { readonly writes: number; readonly seconds: number };
  readonly actual: { readonly writes: number; readonly seconds: number };
}

/** Plans and applies in virtual time, with one queue for both, like `octavo apply`. */
class Site {
  readonly platform: VirtualPlatform;
  readonly connection: Connection;
  parallel = 100;
  readonly #record = openMemoryStore().organization('test');

  constructor(options: VirtualPlatformOptions = {}) {
    this.platform = new VirtualPlatform(options);
    this.connection = this.platform.connect();
  }

  /** Writes without effect, so that the limit is known and partly used. */
  async use(calls: number): Promise<void> {
    const writer = openWriter(this.connection, { organization: 'org_acme', priority: 'apply' });
    const sent = Array.from({ length: calls }, () =>
      writer.send(operations.updateOrganization, { body: { title: 'Acme' } }),
    );
    await this.platform.clock.run(Promise.all(sent));
  }

  async run(manifests: Manifests, policy: Partial<Policy> = UNLIMITED): Promise<Account> {
    const { platform, connection } = this;
    const { clock } = platform;
    const organization = 'org_acme';
    const parallel = this.parallel;
    const signal = new AbortController().signal;
    let reads = 0;
    const onRequest = () => {
      reads += 1;
    };
    const { base } = await baseOfRecord(this.#record);
    const input = {
      ...planningInput(organization, await declare(manifests), base, { now: clock.now(), ...policy }),
      estimate: (work: readonly Work[]) => connection.queue.estimate(work, parallel),
    };
    const reader = openReader(connection, { organization, priority: 'person', onRequest });
    const planned = await clock.run(
      makePlan(
        input,
        platformSource(reader, () => reads),
      ),
    );
    const { cost } = planned.plan;
    platform.requests.reset();
    const began = clock.monotonic();
    const writer = openWriter(connection, { organization, priority: 'apply' });
    const options = { writer, clock, parallel, signal, abort: signal, record: this.#record };
    const { results } = await clock.run(apply(input, planned, options));
    // Requests that were rejected by the rate limit (429) are not counted.
    const made = platform.requests.entries.filter(({ method, status }) => method !== 'GET' && status !== 429);
    return {
      planned,
      results,
      estimated: { writes: cost.requests.writes, seconds: cost.seconds },
      actual: { writes: made.length, seconds: (clock.monotonic() - began) / 1000 },
    };
  }
}

const many = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join('\n');
const teams = (count: number, name = 'Team') =>
  `teams:\n${many(count, (index) => `  t${index}: { title: ${name} ${index} }`)}\n`;
const PEOPLE = '{ ana@acme.example: owner, bo@acme.example: member }';
const peopled = (count: number) =>
  `teams:\n${many(count, (index) => `  t${index}: { title: Team ${index}, members: ${PEOPLE} }`)}\n`;
/** Each section depends on its space and on the previous section, and the site's default is set last. */
const sections = (count: number) => `
spaces:
${many(count, (index) => `  s${index}: { title: Space ${index} }`)}
sites:
  help:
    title: Help
    default: sec${count - 1}
    structure:
${many(
  count,
  (index) =>
    `      - { section: sec${index}, title: Section ${index}, path: p${index}, spaces: [{ key: k${index}, space: s${index}, path: q${index} }] }`,
)}
`;
const EVERYTHING = `organization: { title: Acme Docs }
members: { ana@acme.example: { role: admin }, bo@acme.example: { role: read } }
${peopled(20)}
saml: { okta: { label: Okta, defaultTeam: t0 } }
collections: { top: { title: Top }, shelf: { title: Shelf, parent: top } }
openapi: { petstore: { source: { url: "https://a.example/x" } } }
translations: { fr: { space: s0, from: en, to: fr } }
${sections(6)}`;

interface Shape {
  readonly name: string;
  readonly before?: string;
  readonly after: string;
}

const SHAPES: readonly Shape[] = [
  { name: '500 teams from nothing', after: teams(500) },
  { name: 'teams with members', after: peopled(80) },
  { name: 'a site with sections and a late write', after: sections(25) },
  { name: 'updates only', before: teams(150), after: teams(150, 'Group') },
  { name: 'updates, deletes and a site', before: teams(100), after: `${teams(40, 'Group')}${sections(8)}` },
  { name: 'every kind', after: EVERYTHING },
];

const MINUTE = 60_000;
const LIMITS: readonly (readonly [string, RateLimits])[] = [
  ['60 per minute', { all: { kind: 'fixed', limit: 60, window: MINUTE } }],
  ['1000 per minute', { all: { kind: 'fixed', limit: 1000, window: MINUTE } }],
  ['windows from the first call', { all: { kind: 'first-call', limit: 100, window: 20_000 } }],
  ['a bucket of 50, filled by 10 a second', { all: { kind: 'bucket', perSecond: 10, burst: 50 } }],
  ['no limit', {}],
  [
    'limits by class',
    { read: { kind: 'fixed', limit: 100, window: MINUTE }, write: { kind: 'fixed', limit: 50, window: 10_000 } },
  ],
];

function expectRight(account: Account): void {
  expect(account.results.filter((result) => result.status !== 'applied')).toEqual([]);
  expect(account.actual.writes).toBe(account.estimated.writes);
  expectSeconds(account);
}

function expectSeconds({ estimated, actual }: Account): void {
  expect(estimated.seconds / actual.seconds).toBeGreaterThan(0.9);
  expect(estimated.seconds / actual.seconds).toBeLessThan(1.1);
}

describe('the seconds of a plan are within 10 % of what its apply takes', () => {
  const cases = LIMITS.flatMap(([limit, limits]) => SHAPES.map((shape) => ({ ...shape, limit, limits })));

  test.each(cases)('$name, $limit, in the middle of a window', async ({ before, after, limits }) => {
    const site = new Site({ limits });
    if (before !== undefined) {
      await site.run(before);
    }
    await site.use(75);
    await site.platform.clock.advance(7500);
    expectRight(await site.run(after));
  });

  // A bucket's refill rate cannot be derived from a few answers; its resets are in whole seconds.
  const windows = cases.filter(({ limit, before }) => !limit.includes('bucket') && !limit.includes('class') && !before);
  test.each(windows)('$name, $limit, first observed by the reads of the plan', async (each) => {
    const site = new Site({ limits: each.limits });
    await site.platform.clock.advance(12_345);
    expectRight(await site.run(each.after));
  });

  test.each(SHAPES)('$name, by a daemon, which works on fewer changes at a time', async ({ before, after }) => {
    const site = new Site({ limits: { all: { kind: 'fixed', limit: 60, window: MINUTE } }, rtt: 400 });
    site.parallel = 20;
    if (before !== undefined) {
      await site.run(before);
    }
    await site.use(50);
    expectRight(await site.run(after));
  });

  test('background work of the platform is polled in parallel with other writes', async () => {
    const site = new Site({ processing: 300 });
    expectSeconds(await site.run(EVERYTHING));
  });
});

describe('the writes of a plan are exactly those of its apply', () => {
  const cases = samples.flatMap(({ kind, version, steps }) =>
    (['created', 'updated', 'cleared', 'gone'] as const).flatMap((step) =>
      steps[step] === undefined ? [] : [{ kind, step, steps, version }],
    ),
  );

  test.each(cases)('$kind, $step', async ({ kind, step, steps, version }) => {
    const manifest = steps[step] ?? '';
    const site = new Site({ features: getFeatures(version) });
    if (step !== 'created') {
      expectWrites(await site.run(steps.created ?? ''));
    }
    if (step === 'cleared') {
      expectWrites(await site.run(steps.updated ?? ''));
    }
    const account = await site.run(manifest);
    expectWrites(account);
    if (step !== 'gone' || kinds.some(({ name, deletable }) => name === kind && deletable)) {
      expect(account.estimated.writes).toBeGreaterThan(0);
    }
    // And one more pass, if the platform has to finish first, or to confirm that nothing is left to do.
    expectWrites(await site.run(manifest));
  });

  test('between any two sets of manifests', async () => {
    await fc.assert(
      fc.asyncProperty(twoModels, async ([a, b]) => {
        const site = new Site({ processing: 300 });
        for (const model of [a, b, a]) {
          expectWrites(await site.run(manifestsOf(model)));
        }
      }),
      { seed: 20260601, numRuns: 20, endOnFailure: true },
    );
  });

  test('held and paused changes, and those that require them, make no requests', async () => {
    const site = new Site();
    const shelf = 'collections: { shelf: { title: Shelf } }\nspaces: { a: { title: A, collection: shelf } }\n';
    await site.run(`${shelf}teams: { x: { title: X } }`);
    // The collection cannot be deleted before the space, whose deletion requires approval.
    const account = await site.run('teams: { x: { title: Y }, z: { title: Z } }', {
      ...UNLIMITED,
      requireApproval: ['space'],
    });
    expect(account.results.map(({ address, status }) => `${address} ${status}`).sort()).toEqual([
      'collection/shelf skipped',
      'space/a held',
      'team/x applied',
      'team/z applied',
    ]);
    expectWrites(account);
    expect(account.estimated.writes).toBe(2);
  });
});

/** Whatever the result of the changes is. */
function expectWrites({ estimated, actual, results }: Account): void {
  expect(results.filter((result) => result.status === 'failed')).toEqual([]);
  expect(actual.writes).toBe(estimated.writes);
}
