import { describe, expect, test } from 'vitest';
import { DesiredStateError, StoreError } from '../../src/core/errors.ts';
import { createState, emptyOrganization } from '../../src/emulator/emulator.ts';
import { openReader, openWriter } from '../../src/platform/client.ts';
import type { Connection } from '../../src/platform/connection.ts';
import { OrganizationReconciler } from '../../src/reconcile/organization.ts';
import type { PassEnd } from '../../src/reconcile/pass.ts';
import { createMetrics } from '../../src/server/metrics.ts';

import { openMemoryStore } from '../../src/store/memory.ts';
import type { OrganizationRecord } from '../../src/store/record.ts';
import { organizationConfig } from '../soak/organization-config.ts';
import { type Fault, type Seen, VirtualPlatform } from '../support/virtual-platform.ts';
import { reconcilerOptions, sourceOf } from './reconciler-options.ts';

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
  readonly fault?: (seen: Seen) => Fault | null;
  readonly source?: () => Error;
  readonly record?: (record: OrganizationRecord) => OrganizationRecord;
}

interface Party {
  readonly reconciler: OrganizationReconciler;
  readonly connection: Connection;
  readonly requests: () => number;
}

/** Two organizations on one platform: the first is healthy, the second is failing. */
class OrganizationPair {
  readonly platform: VirtualPlatform;
  readonly metrics = createMetrics();
  readonly healthy: Party;
  readonly failing: Party;
  readonly #stop = new AbortController();

  constructor(tokens: 'own' | 'one', trouble: Trouble = {}) {
    const organizations = ['org_healthy', 'org_failing'].map((id) =>
      emptyOrganization({ id, title: id, members: [ANA, BO] }),
    );
    this.platform = new VirtualPlatform({ state: createState({ organizations }) });
    this.platform.fault = trouble.fault ?? (() => null);
    const first = this.platform.connect('token of org_healthy');
    const second = tokens === 'one' ? first : this.platform.connect('token of org_failing');
    this.healthy = this.#party('org_healthy', first, {});
    this.failing = this.#party('org_failing', second, trouble);
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
      ...reconcilerOptions(id, store, this.#stop.signal),
      config: organizationConfig(id, false),
      source: sourceOf(() => {
        if (source !== undefined) {
          throw source();
        }
        return MANIFEST;
      }),
      record: record(store.organization(id)),
      clock: this.platform.clock,
      openReader: (priority, count) => openReader(connection, client(priority, count)),
      openWriter: (priority, count) => openWriter(connection, client(priority, count)),
      estimate: (work) => connection.queue.estimate(work, 20),
      parallel: 20,
      events: this.metrics.passes(id),
    });
    return { reconciler, connection, requests: () => requests };
  }

  /** Runs a pass of both at once; resolves when the first has ended. */
  async passOfHealthy(): Promise<PassEnd> {
    void this.failing.reconciler.trigger('start').catch(() => undefined);
    await this.platform.clock.run(this.healthy.reconciler.trigger('start'));
    return ended(this.healthy);
  }

  /** Waits until the pass of the second has ended too. */
  async passOfFailing(): Promise<PassEnd> {
    await this.platform.clock.run(this.failing.reconciler.idle());
    return ended(this.failing);
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
  async metricLines(prefix: string): Promise<readonly string[]> {
    for (const { reconciler, connection } of [this.healthy, this.failing]) {
      this.metrics.queue(reconciler.id, connection.queue.snapshot());
    }
    return (await this.metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(prefix));
  }
}

function ended({ reconciler }: Party): PassEnd {
  const { lastEnd } = reconciler;
  if (lastEnd === null) {
    throw new Error(`no pass of ${reconciler.id} has ended`);
  }
  return lastEnd;
}

const ALL = [...TEAMS, 'API', 'Guides', 'Shelf'].sort();
const isFailing = ({ path, token }: Seen) => path.includes('/orgs/org_failing') || token === 'token of org_failing';
const whenFailing = (fault: Fault) => (seen: Seen) => (isFailing(seen) ? fault : null);
const broken = async (): Promise<never> => {
  throw new StoreError('the disk is full');
};

const TROUBLES: readonly (readonly [string, Trouble, reason: string])[] = [
  ['its token is refused', { fault: whenFailing(401) }, 'unauthorized'],
  ['its platform is down', { fault: whenFailing(503) }, 'unreachable'],
  ['its platform never responds', { fault: whenFailing('silence') }, 'unreachable'],
  ['its manifests are invalid', { source: () => new DesiredStateError([]) }, 'invalid_manifests'],
  ['its record cannot be read', { record: (record) => ({ ...record, read: broken }) }, 'state'],
  ['its record cannot be written', { record: (record) => ({ ...record, put: broken }) }, 'state'],
];

describe.each(['own', 'one'] as const)('with %s token', (tokens) => {
  test.each(TROUBLES)('an organization does not affect others when %s', async (_, trouble, reason) => {
    const usual = new OrganizationPair(tokens);
    await usual.passOfHealthy();
    await usual.passOfFailing();
    const both = new OrganizationPair(tokens, trouble);
    const end = await both.passOfHealthy();
    expect(end).toMatchObject({ outcome: 'done', error: null });
    expect(both.titles('org_healthy')).toEqual(ALL);
    expect(both.healthy.requests()).toBe(usual.healthy.requests());
    expect(await both.passOfFailing()).toMatchObject({ outcome: 'failed' });
    expect(await both.metricLines('octavo_organization_failing{')).toEqual([
      `octavo_organization_failing{organization="org_failing",reason="${reason}"} 1`,
    ]);
    // And it continues as soon as it can.
    both.platform.fault = () => null;
    if (trouble.fault !== undefined) {
      await both.platform.clock.advance(120_000);
      void both.failing.reconciler.trigger('retry');
      expect(await both.passOfFailing()).toMatchObject({ outcome: 'done' });
      expect(await both.metricLines('octavo_organization_failing{')).toEqual([]);
    }
  });

  test.each<Fault>([500, 422, 'silence'])('a resource whose writes get %s does not affect others', async (fault) => {
    const both = new OrganizationPair(tokens);
    const usual = new OrganizationPair(tokens);
    await usual.passOfHealthy();
    const isPoisoned = ({ body }: Seen) => body.includes('"Shelf"');
    both.platform.fault = (seen) => (seen.path.includes('org_failing') && isPoisoned(seen) ? fault : null);
    expect(await both.passOfHealthy()).toMatchObject({ outcome: 'done' });
    expect(both.healthy.requests()).toBe(usual.healthy.requests());
    const { outcome, results } = await both.passOfFailing();
    expect(outcome).toBe('failed');
    expect(results.filter(({ status }) => status !== 'applied')).toMatchObject([
      {
        address: 'collection/shelf',
        action: 'create',
        status: 'failed',
        error: expect.stringContaining(fault === 'silence' ? 'no answer' : `${fault}`),
      },
      { address: 'space/guides', status: 'skipped', error: expect.stringContaining('collection/shelf') },
    ]);
    expect(both.titles('org_failing')).toEqual(ALL.filter((title) => title !== 'Shelf' && title !== 'Guides'));
    expect(await both.metricLines('octavo_change_failing{')).toEqual([
      'octavo_change_failing{organization="org_failing",kind="collection",address="collection/shelf"} 1',
    ]);
    both.platform.fault = () => null;
    await both.platform.clock.advance(120_000);
    void both.failing.reconciler.trigger('retry');
    expect(await both.passOfFailing()).toMatchObject({ outcome: 'done' });
    expect(both.titles('org_failing')).toEqual(ALL);
    expect(await both.metricLines('octavo_change_failing{')).toEqual([]);
  });
});

test('rate-limited writes delay neither reads nor another token', async () => {
  const both = new OrganizationPair('own');
  both.platform.fault = (seen) => (isFailing(seen) && seen.method !== 'GET' ? 429 : null);
  expect(await both.passOfHealthy()).toMatchObject({ outcome: 'done' });
  await both.platform.clock.advance(60_000);
  // It has read, planned, and waits.
  expect(both.failing.reconciler.lastPlan?.summary.create).toBe(ALL.length);
  expect(both.failing.reconciler.lastEnd).toBe(null);
  const closed = await both.metricLines('octavo_budget_cooldown_seconds{');
  expect(closed.filter((line) => !line.endsWith(' 0'))).toEqual([
    expect.stringMatching(/queue="org_failing",class="write"\} [1-9]/),
  ]);
  expect(await both.metricLines('octavo_queue_waiting{queue="org_failing",priority="apply"}')).toEqual([
    expect.stringMatching(/ [1-9]\d*$/),
  ]);
  // Nothing waits forever.
  const { outcome, results } = await both.passOfFailing();
  expect(outcome).toBe('failed');
  expect(results.find(({ status }) => status === 'failed')?.error).toContain('429');
});

test('reports a failing member without the email address', async () => {
  const both = new OrganizationPair('own');
  both.platform.fault = (seen) => (isFailing(seen) && seen.operation === 'updateMember' ? 422 : null);
  await both.passOfHealthy();
  expect((await both.passOfFailing()).results.filter(({ status }) => status === 'failed')).toMatchObject([
    { address: 'member/bo@acme.example' },
  ]);
  expect(await both.metricLines('octavo_change_failing{')).toEqual([
    expect.stringMatching(/kind="member",address="member\/[^"@]+"\} 1$/),
  ]);
  expect(await both.metrics.registry.metrics()).not.toContain('@');
});

test('reports a platform that is down for one token, and pauses only that token', async () => {
  const both = new OrganizationPair('own', { fault: whenFailing(503) });
  await both.passOfHealthy();
  await both.passOfFailing();
  expect(await both.metricLines('octavo_queue_circuit_breaker_open{')).toEqual([
    'octavo_queue_circuit_breaker_open{queue="org_healthy"} 0',
    'octavo_queue_circuit_breaker_open{queue="org_failing"} 1',
  ]);
});
