import { expect, test } from 'vitest';
import type { FleetState } from '../../src/web/model/backend.ts';
import { conditionsPage } from '../../src/web/pages/conditions.ts';
import { replicasPage, replicasView } from '../../src/web/pages/replicas.ts';
import { loadAssets } from '../../src/web/server/assets.ts';
import { renderPage } from '../../src/web/server/respond.ts';
import { NOW, someBackend, someOrganization, someRequest } from './some-backend.ts';

const ALL = { seesAll: true, seesNone: false, isVisible: () => true };
const REPLICA: FleetState['replicas'][number] = {
  ...{ id: 'host-1-ab', version: '1.2.3', address: 'host-1 42', weight: 1, isDraining: false },
  ...{ startedAt: NOW - 3_600_000, seenAt: NOW - 5000, left: 55_000, organizations: 3 },
};

function fleet(over: Partial<FleetState> = {}): FleetState {
  return {
    ...{ replica: 'host-1-ab', replicas: [REPLICA], left: 55_000, failure: null, latency: 1.234, unowned: [] },
    ...{ notificationsUnowned: null },
    ...over,
  };
}

async function page(state: FleetState | null, isVisible: (id: string) => boolean = () => true): Promise<string> {
  const backend = { ...someBackend([someOrganization('acme')]), fleet: () => state };
  const request = someRequest({}, {}, (id) => (isVisible(id) ? 'viewer' : null));
  const view = await replicasPage.load(backend, request);
  return String(await replicasPage.render?.(view ?? {}, request));
}

test('without a fleet it says what one needs', async () => {
  expect(replicasView(null, ALL)).toMatchObject({ isFleet: false, database: null });
  expect(await page(null)).toContain('A fleet needs PostgreSQL.');
});

test('replicas have a state, and the one that answers is named', async () => {
  const replicas = [
    { ...REPLICA, id: 'b', address: 'host-2 7', isDraining: true },
    { ...REPLICA, id: 'c', address: 'host-3 7', left: -1 },
    REPLICA,
  ];
  const view = replicasView(fleet({ replicas }), ALL);
  expect(view.sentence).toBe('3 replicas, and every organization has an owner');
  expect(view.replicas.map(({ id, state, isThis }) => [id, state, isThis])).toEqual([
    ['host-1-ab', 'working', true],
    ['b', 'draining', false],
    ['c', 'late', false],
  ]);
  expect(view.database).toEqual({ state: 'working', reason: null, milliseconds: 1.2, leaseSeconds: 55 });
  expect(await page(fleet({ replicas }))).toContain('shows this page');
});

test('organizations without a replica are listed, the longest first, if the person may see them', async () => {
  const unowned = [
    { organization: 'acme', age: 5000, isConfigured: true },
    { organization: 'globex', age: null, isConfigured: true },
    { organization: 'initech', age: 90_000, isConfigured: true },
  ];
  const visible = { seesAll: false, seesNone: false, isVisible: (id: string) => id !== 'initech' };
  const view = replicasView(fleet({ unowned }), visible);
  expect(view.sentence).toBe('No replica has 2 organizations; 1 replica in the fleet');
  expect(view.unowned.map(({ organization, seconds }) => [organization, seconds])).toEqual([
    ['globex', null],
    ['acme', 5],
  ]);
  expect(await page(fleet({ unowned }), visible.isVisible)).not.toContain('initech');
  const many = Array.from({ length: 250 }, (_, index) => ({
    ...{ organization: `o${index}`, age: index, isConfigured: true },
  }));
  expect(await page(fleet({ unowned: many }))).toContain('150 more are not shown.');
});

test('an organization that only other replicas have configured has no link, because this one has no page of it', async () => {
  const unowned = [{ organization: 'acme', age: 5000, isConfigured: false }];
  expect(replicasView(fleet({ unowned }), ALL)).toMatchObject({
    ...{ sentence: 'No replica has 1 organization; 1 replica in the fleet', unownedTotal: 1 },
    unowned: [{ organization: 'acme', path: null, seconds: 5 }],
  });
  const text = await page(fleet({ unowned }));
  expect(text).toContain('configured only at other replicas');
  expect(text).not.toContain('/o/acme');
  const own = [{ organization: 'acme', age: 5000, isConfigured: true }];
  expect(await page(fleet({ unowned: own }))).toContain('/o/acme');
});

test('a database that fails is said first, with what it means', () => {
  const failing = fleet({
    failure: 'connection refused',
    left: 30_000,
    unowned: [{ organization: 'acme', age: 1, isConfigured: true }],
  });
  expect(replicasView(failing, ALL)).toMatchObject({
    sentence: 'This replica cannot use the database; its leases last for 30 seconds more',
    database: { state: 'failing', reason: 'connection refused', leaseSeconds: 30 },
  });
  expect(replicasView({ ...failing, left: -5 }, ALL).sentence).toContain('are lost, so it sends nothing');
  expect(replicasView(fleet({ notificationsUnowned: 65_000 }), ALL).sentence).toBe(
    '1 replica; nobody sends notifications for 1 minute',
  );
});

test.each([
  [null, null, false],
  [{}, null, true],
  [
    { failure: 'no answer', left: 12_000 },
    'This replica cannot use the database; its leases last for 12 seconds more',
    true,
  ],
  [
    { failure: 'no answer', left: 0 },
    'This replica cannot use the database; its leases are lost, so it sends nothing',
    true,
  ],
])(
  'every page of a fleet leads to the replicas, and warns while the database fails: %j',
  async (over, warning, hasLink) => {
    const backend = { ...someBackend([]), fleet: () => (over === null ? null : fleet(over)) };
    const context = { backend, assets: await loadAssets() };
    const { body } = await renderPage(conditionsPage, context, someRequest(), { path: '/', isJson: false, done: '' });
    expect(/<p class="notice" role="alert">(.*?)<\/p>/.exec(body)?.[1] ?? null).toBe(warning);
    expect(body.includes('href="/replicas"')).toBe(hasLink);
  },
);
