import { describe, expect, test } from 'vitest';
import { DesiredStateError, StoreError } from '../../src/core/errors.ts';
import { createState, emptyOrganization } from '../../src/emulator/emulator.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { createManifestLoader } from '../../src/manifests/loader.ts';
import { openReader, openWriter } from '../../src/platform/client.ts';
import type { Connection } from '../../src/platform/connection.ts';
import { FlappingFields } from '../../src/reconcile/daemon/flapping-fields.ts';
import { OrganizationReconciler } from '../../src/reconcile/daemon/organization.ts';
import type { PassEnd } from '../../src/reconcile/daemon/pass.ts';
import type { DesiredSource } from '../../src/reconcile/daemon/source.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { metricEvents, queueObservation } from '../../src/server/pass-events.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { OrganizationRecord } from '../../src/store/store.ts';
import { organizationConfig } from '../soak/organization-config.ts';
import { memoryTree } from '../support/memory-tree.ts';
import { type Malady, type Seen, VirtualPlatform } from '../support/virtual-platform.ts';

const TEAMS = ['A', 'B', 'C', 'D', 'E', 'F'];
const MANIFEST = [
  'members: { bo@acme.example: { role: read } }',
  'teams:',
  ...TEAMS.map((title) => `  ${title.toLowerCase()}: { title: ${title}, members: { ana@acme.example: owner } }`),
  'collections: { shelf: { title: Shelf } }',
  'spaces: { guides: { title: Guides, collection: shelf }, api: { title: API } }',
].join('\n');

const ANA = { email: 'ana@acme.example', role: 'admin' as const };
const BO = { email: 'bo@acme.example', role: 'edit' as const };

/** Fault of the second organization. */
interface Trouble {
  readonly malady?: (seen: Seen) => Malady | null;
  readonly source?: () => Error;
  readonly record?: (record: OrganizationRecord) => OrganizationRecord;
}

interface Party {
  readonly reconciler: OrganizationReconciler;
  readonly connection: Connection;
  readonly requests: () => number;
}

/** Two organizations on one platform: the first is healthy, the second is failing. */
class Neighbours {
  readonly platform: VirtualPlatform;
  readonly metrics = createMetrics();
  readonly well: Party;
  readonly ill: Party;
  readonly #stop = new AbortController();

  constructor(tokens: 'own' | 'one', trouble: Trouble = {}) {
    const organizations = ['org_well', 'org_ill'].map((id) => emptyOrganization({ id, title: id, members: [ANA, BO] }));
    this.platform = new VirtualPlatform({ state: createState({ organizations }) });
    this.platform.malady = trouble.malady ?? (() => null);
    const first = this.platform.connect('token of org_well');
    const second = tokens === 'one' ? first : this.platform.connect('token of org_ill');
    this.well = this.#party('org_well', first, {});
    this.ill = this.#party('org_ill', second, trouble);
  }

  #party(id: string, connection: Connection, { source, record = (each) => each }: Trouble): Party {
    const store = openMemoryStore();
    let requests = 0;
    const client = (priority: Parameters<typeof openReader>[1]['priority'], count: (method: string) => void) => ({
      organization: id,
      priority,
      onRequest: ({ method }: { readonly method: string }) => {
        requests += 1;
        count(method);
      },
    });
    const reconciler = new OrganizationReconciler({
      config: organizationConfig(id, false),
      user: null,
      kinds,
      source: sourceOf(source),
      record: record(store.organization(id)),
      flappingFields: new FlappingFields(store.note('flapping')),
      clock: this.platform.clock,
      openReader: (priority, count) => openReader(connection, client(priority, count)),
      openWriter: (priority, count) => openWriter(connection, client(priority, count)),
      estimate: (work) => connection.queue.estimate(work, 20),
      parallel: 20,
      signal: this.#stop.signal,
      abort: this.#stop.signal,
      events: metricEvents(id, this.metrics),
    });
    return { reconciler, connection, requests: () => requests };
  }

  /** Runs a pass of both at once; resolves when the first has ended. */
  async passOfTheWell(): Promise<PassEnd> {
    void this.ill.reconciler.trigger('start').catch(() => undefined);
    await this.platform.clock.run(this.well.reconciler.trigger('start'));
    return ended(this.well);
  }

  /** Waits until the pass of the second has ended too. */
  async passOfTheIll(): Promise<PassEnd> {
    await this.platform.clock.run(this.ill.reconciler.idle());
    return ended(this.ill);
  }

  /** Resources of an organization on the platform. */
  titles(organization: string): readonly string[] {
    const { teams = [], collections = [], spaces = [] } = this.platform.state();
    return [...teams, ...collections, ...spaces]
      .filter((each) => each.organization === organization)
      .map((each) => each.title)
      .sort();
  }

  /** Lines of the metrics with this prefix. */
  async told(begins: string): Promise<readonly string[]> {
    for (const { reconciler, connection } of [this.well, this.ill]) {
      this.metrics.queue(queueObservation(reconciler.id, connection.queue.snapshot()));
    }
    return (await this.metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(begins));
  }
}

function ended({ reconciler }: Party): PassEnd {
  const { lastEnd } = reconciler;
  if (lastEnd === null) {
    throw new Error(`no pass of ${reconciler.id} has ended`);
  }
  return lastEnd;
}

function sourceOf(trouble: (() => Error) | undefined): DesiredSource {
  return {
    read: async () => {
      if (trouble !== undefined) {
        throw trouble();
      }
      const state = await createManifestLoader(kinds).load(memoryTree({ 'octavo.yaml': MANIFEST }));
      return { state, commit: 'c1', subject: '', forced: false };
    },
    peek: async () => {
      throw new Error('nobody peeks here');
    },
    hasMoved: async () => false,
    watch: async () => undefined,
    scope: '.',
    applied: null,
    poll: null,
    close: async () => undefined,
  };
}

const ALL = [...TEAMS, 'API', 'Guides', 'Shelf'].sort();
const isOfTheIll = ({ path, token }: Seen) => path.includes('/orgs/org_ill') || token === 'token of org_ill';
const whenIll = (malady: Malady) => (seen: Seen) => (isOfTheIll(seen) ? malady : null);
const broken = async (): Promise<never> => {
  throw new StoreError('the disk is full');
};

const TROUBLES: readonly (readonly [string, Trouble, reason: string])[] = [
  ['its token is refused', { malady: whenIll(401) }, 'unauthorized'],
  ['its platform is down', { malady: whenIll(503) }, 'unreachable'],
  ['its platform never responds', { malady: whenIll('silence') }, 'unreachable'],
  ['its manifests are invalid', { source: () => new DesiredStateError([]) }, 'invalid_manifests'],
  ['its record cannot be read', { record: (record) => ({ ...record, read: broken }) }, 'state'],
  ['its record cannot be written', { record: (record) => ({ ...record, put: broken }) }, 'state'],
];

describe.each(['own', 'one'] as const)('with %s token', (tokens) => {
  test.each(TROUBLES)('an organization does not affect others when %s', async (_, trouble, reason) => {
    const usual = new Neighbours(tokens);
    await usual.passOfTheWell();
    await usual.passOfTheIll();
    const both = new Neighbours(tokens, trouble);
    const end = await both.passOfTheWell();
    expect(end).toMatchObject({ outcome: 'done', error: null });
    expect(both.titles('org_well')).toEqual(ALL);
    expect(both.well.requests()).toBe(usual.well.requests());
    expect(await both.passOfTheIll()).toMatchObject({ outcome: 'failed' });
    expect(await both.told('octavo_organization_failing{')).toEqual([
      `octavo_organization_failing{organization="org_ill",reason="${reason}"} 1`,
    ]);
    // And it continues as soon as it can.
    both.platform.malady = () => null;
    if (trouble.malady !== undefined) {
      await both.platform.clock.advance(120_000);
      void both.ill.reconciler.trigger('retry');
      expect(await both.passOfTheIll()).toMatchObject({ outcome: 'done' });
      expect(await both.told('octavo_organization_failing{')).toEqual([]);
    }
  });

  test.each<Malady>([500, 422, 'silence'])('a resource whose writes get %s does not affect others', async (malady) => {
    const both = new Neighbours(tokens);
    const usual = new Neighbours(tokens);
    await usual.passOfTheWell();
    const isPoisoned = ({ body }: Seen) => body.includes('"Shelf"');
    both.platform.malady = (seen) => (seen.path.includes('org_ill') && isPoisoned(seen) ? malady : null);
    expect(await both.passOfTheWell()).toMatchObject({ outcome: 'done' });
    expect(both.well.requests()).toBe(usual.well.requests());
    const { outcome, results } = await both.passOfTheIll();
    expect(outcome).toBe('failed');
    expect(results.filter(({ status }) => status !== 'applied')).toMatchObject([
      {
        address: 'collection/shelf',
        action: 'create',
        status: 'failed',
        error: expect.stringContaining(malady === 'silence' ? 'no answer' : `${malady}`),
      },
      { address: 'space/guides', status: 'skipped', error: expect.stringContaining('collection/shelf') },
    ]);
    expect(both.titles('org_ill')).toEqual(ALL.filter((title) => title !== 'Shelf' && title !== 'Guides'));
    expect(await both.told('octavo_change_failing{')).toEqual([
      'octavo_change_failing{organization="org_ill",kind="collection",address="collection/shelf"} 1',
    ]);
    both.platform.malady = () => null;
    await both.platform.clock.advance(120_000);
    void both.ill.reconciler.trigger('retry');
    expect(await both.passOfTheIll()).toMatchObject({ outcome: 'done' });
    expect(both.titles('org_ill')).toEqual(ALL);
    expect(await both.told('octavo_change_failing{')).toEqual([]);
  });
});

test('rate-limited writes delay neither reads nor another token', async () => {
  const both = new Neighbours('own');
  both.platform.malady = (seen) => (isOfTheIll(seen) && seen.method !== 'GET' ? 429 : null);
  expect(await both.passOfTheWell()).toMatchObject({ outcome: 'done' });
  await both.platform.clock.advance(60_000);
  // It has read, planned, and waits.
  expect(both.ill.reconciler.lastPlan?.summary.create).toBe(ALL.length);
  expect(both.ill.reconciler.lastEnd).toBe(null);
  const closed = await both.told('octavo_budget_cooldown_seconds{');
  expect(closed.filter((line) => !line.endsWith(' 0'))).toEqual([
    expect.stringMatching(/queue="org_ill",class="write"\} [1-9]/),
  ]);
  expect(await both.told('octavo_queue_waiting{queue="org_ill",priority="apply"}')).toEqual([
    expect.stringMatching(/ [1-9]\d*$/),
  ]);
  // Nothing waits forever.
  const { outcome, results } = await both.passOfTheIll();
  expect(outcome).toBe('failed');
  expect(results.find(({ status }) => status === 'failed')?.error).toContain('429');
});

test('reports a failing member without the email address', async () => {
  const both = new Neighbours('own');
  both.platform.malady = (seen) => (isOfTheIll(seen) && seen.operation === 'updateMember' ? 422 : null);
  await both.passOfTheWell();
  expect((await both.passOfTheIll()).results.filter(({ status }) => status === 'failed')).toMatchObject([
    { address: 'member/bo@acme.example' },
  ]);
  expect(await both.told('octavo_change_failing{')).toEqual([
    expect.stringMatching(/kind="member",address="member\/[^"@]+"\} 1$/),
  ]);
  expect(await both.metrics.registry.metrics()).not.toContain('@');
});

test('reports a platform that is down for one token, and pauses only that token', async () => {
  const both = new Neighbours('own', { malady: whenIll(503) });
  await both.passOfTheWell();
  await both.passOfTheIll();
  expect(await both.told('octavo_queue_circuit_breaker_open{')).toEqual([
    'octavo_queue_circuit_breaker_open{queue="org_well"} 0',
    'octavo_queue_circuit_breaker_open{queue="org_ill"} 1',
  ]);
});
