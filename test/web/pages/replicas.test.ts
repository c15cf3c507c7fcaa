import { expect, test } from 'vitest';
import type { FleetState } from '../../../src/web/model/page.ts';
import { conditionsPage } from '../../../src/web/pages/conditions.ts';
import { type ReplicasView, replicasPage } from '../../../src/web/pages/replicas.ts';
import { loadAssets } from '../../../src/web/server/layout.ts';
import { renderPage } from '../../../src/web/server/respond.ts';
import { NOW, render, someBackend, someOrganization, someRequest, viewOf } from '../some-backend.ts';

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

/** Returns the view and the HTML of the page. */
async function page(state: FleetState | null, isVisible: (id: string) => boolean = () => true) {
  const backend = { ...someBackend([someOrganization('acme')]), fleet: () => state };
  const request = someRequest({}, {}, (id) => (isVisible(id) ? 'viewer' : null));
  const view = await viewOf<ReplicasView>(replicasPage, backend, request);
  return { view, text: await render(replicasPage, backend, request) };
}

test('without a fleet it says what one needs', async () => {
  const { view, text } = await page(null);
  expect(view).toMatchObject({ isFleet: false, database: null });
  expect(text).toContain('A fleet needs PostgreSQL.');
});

test('replicas have a state, and the one that answers is named', async () => {
  const replicas = [
    { ...REPLICA, id: 'b', address: 'host-2 7', isDraining: true },
    { ...REPLICA, id: 'c', address: 'host-3 7', left: -1 },
    REPLICA,
  ];
  const { view, text } = await page(fleet({ replicas }));
  expect(view.sentence).toBe('3 replicas, and every organization has an owner');
  expect(view.replicas.map(({ id, state, isThis }) => [id, state, isThis])).toEqual([
    ['host-1-ab', 'working', true],
    ['b', 'draining', false],
    ['c', 'late', false],
  ]);
  expect(view.database).toEqual({ state: 'working', reason: null, milliseconds: 1.2, leaseSeconds: 55 });
  const shown = text.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');
  expect(shown).toContain('working host-1 42 host-1-ab shows this page 3 organizations, version 1.2.3');
  expect(shown).toContain('not renewed host-3 7 c 3 organizations');
});

test('organizations without a replica are listed, the longest first, if the person may see them', async () => {
  const unowned = [
    { organization: 'acme', age: 5000, isConfigured: true },
    { organization: 'globex', age: null, isConfigured: true },
    { organization: 'initech', age: 90_000, isConfigured: true },
  ];
  const { view, text } = await page(fleet({ unowned }), (id) => id !== 'initech');
  expect(view.sentence).toBe('No replica has 2 organizations; 1 replica in the fleet');
  expect(view.unowned.map(({ organization, seconds }) => [organization, seconds])).toEqual([
    ['globex', null],
    ['acme', 5],
  ]);
  expect(text).not.toContain('initech');
  const many = Array.from({ length: 250 }, (_, index) => ({
    ...{ organization: `o${index}`, age: index, isConfigured: true },
  }));
  expect((await page(fleet({ unowned: many }))).text).toContain('150 more are not shown.');
});

test('an organization that only other replicas have configured has no link, because this one has no page of it', async () => {
  const unowned = [{ organization: 'acme', age: 5000, isConfigured: false }];
  const { view, text } = await page(fleet({ unowned }));
  expect(view).toMatchObject({
    ...{ sentence: 'No replica has 1 organization; 1 replica in the fleet', unownedTotal: 1 },
    unowned: [{ organization: 'acme', path: null, seconds: 5 }],
  });
  expect(text).toContain('configured only at other replicas');
  expect(text).not.toContain('/o/acme');
  const own = [{ organization: 'acme', age: 5000, isConfigured: true }];
  expect((await page(fleet({ unowned: own }))).text).toContain('/o/acme');
});

test('a database that fails is said first, with what it means', async () => {
  const failing = fleet({
    failure: 'connection refused',
    left: 30_000,
    unowned: [{ organization: 'acme', age: 1, isConfigured: true }],
  });
  expect((await page(failing)).view).toMatchObject({
    sentence: 'This replica cannot use the database; its leases last for 30 seconds more',
    database: { state: 'failing', reason: 'connection refused', leaseSeconds: 30 },
  });
  expect((await page({ ...failing, left: -5 })).view.sentence).toContain('are lost, so it sends nothing');
  expect((await page(fleet({ notificationsUnowned: 65_000 }))).view.sentence).toBe(
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
])(
  'every page of a fleet leads to the replicas, and warns while the database fails: %j',
  async (over, warning, hasLink) => {
    const backend = { ...someBackend([]), fleet: () => (over === null ? null : fleet(over)) };
    const context = { backend, assets: await loadAssets() };
    const { body } = await renderPage(conditionsPage, context, someRequest(), { path: '/', isJson: false, done: '' });
    expect(/role="alert">(.*?)<\/p>/.exec(body)?.[1] ?? null).toBe(warning);
    expect(body.includes('href="/replicas"')).toBe(hasLink);
  },
);
