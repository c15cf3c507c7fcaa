/** View of issue clusters. */
import { expect, test } from 'vitest';
import { ClusterOverview, type RunEnd } from '../../../src/clusters/events.ts';
import type { OwnRequest } from '../../../src/clusters/store.ts';
import type { OrganizationState } from '../../../src/web/model/backend.ts';
import { type ClustersView, clustersPage } from '../../../src/web/pages/clusters.ts';
import { someCluster } from '../../clusters/samples.ts';
import { MINUTE, NOW, someBackend, someOrganization, someRequest, viewOf } from '../some-backend.ts';

function clustersView(state: OrganizationState, start = 0) {
  const request = someRequest({ organization: state.id }, { start: String(start) });
  return viewOf<ClustersView>(clustersPage, someBackend([state]), request);
}

const END: RunEnd = {
  ...{ outcome: 'done', error: null, source: 'clusters', read: 3, passing: 2, opened: 1, superseded: 0, commented: 0 },
  ...{ skipped: {}, open: 1, requests: 12, milliseconds: 800, dryRun: false },
};
const PASSES = { passes: true } as const;
const REFUSED = {
  passes: false,
  reasons: [{ what: 'issues', words: '2 issues, at least 3 required', until: null }],
} as const;

function someOwnRequest(over: Partial<OwnRequest> = {}): OwnRequest {
  const numbers = { issues: 7, conversations: 6, impact: 'high' };
  return {
    ...{ cluster: 'c_1', label: 'Login', claim: 'a', id: 'cr_1', space: 'sp_1', subject: 'Docs gap: Login' },
    ...{ url: 'https://app.example/cr_1', revision: null, at: NOW - MINUTE, state: 'open', isManual: false, why: '' },
    ...{ reviewersDue: false, reported: { ...numbers, at: NOW }, seen: numbers, muteDue: false, missingSince: null },
    ...over,
  };
}

test('shows clusters with their change requests, or why there is none', async () => {
  const overview = new ClusterOverview({ now: () => NOW - MINUTE });
  const events = overview.events();
  events.onRead?.([
    { cluster: someCluster({ id: 'c_3', label: 'Small', issues: 2 }), verdict: REFUSED },
    { cluster: someCluster({ id: 'c_2', label: 'Export', issues: 5 }), verdict: PASSES },
    { cluster: someCluster({ id: 'c_1', label: 'Login' }), verdict: PASSES },
  ]);
  events.onSkipped?.({ cluster: 'c_2', label: 'Export', reason: 'limit-day', why: 'limit reached: 3 a day' });
  events.onTrouble?.({ cluster: null, message: 'space x is full' });
  events.onRunEnd?.(END);
  overview.mute('c_3', true);
  const changeRequests = [
    someOwnRequest(),
    someOwnRequest({ id: 'cr_0', cluster: 'c_9', claim: 'b', state: 'merged' }),
  ];
  const view = await clustersView(someOrganization('acme', { clusters: { enabled: true }, overview, changeRequests }));
  expect(view.clusters.map(({ id, isSelected, muted, reason }) => [id, isSelected, muted, reason])).toEqual([
    ['c_1', true, false, null],
    ['c_2', true, false, 'limit reached: 3 a day'],
    ['c_3', false, true, '2 issues, at least 3 required'],
  ]);
  expect(view.clusters[0]?.changeRequests).toMatchObject([{ id: 'cr_1', state: 'open' }]);
  expect(view.changeRequests.map(({ id }) => id)).toEqual(['cr_0', 'cr_1']);
  expect(view.sentence).toBe('The last run read 3 clusters, selected 2 and opened 1; 1 change request open');
  expect(view.lastRun).toMatchObject({ selected: 2, troubles: ['space x is full'] });
  expect(view.nextRun).toBe('2026-11-21T12:23:00.000Z');
});

test('says that the last run failed, or is long ago', async () => {
  const overview = new ClusterOverview({ now: () => NOW - 300 * MINUTE });
  const state = someOrganization('acme', { clusters: { enabled: true }, overview });
  expect((await clustersView(state)).sentence).toBe(
    'No run has ended since the daemon started; no change request is open',
  );
  overview.events().onRunEnd?.(END);
  const late = await clustersView(state);
  expect(late.freshness.isStale).toBe(true);
  expect(late.sentence).toMatch(/^The last run is long ago; the last run read 3 clusters/);
  overview.events().onRunEnd?.({ ...END, outcome: 'failed', error: new Error('HTTP 500') });
  expect((await clustersView(state)).sentence).toMatch(/^The last run failed: HTTP 500;/);
  expect((await clustersView(someOrganization('acme'))).sentence).toMatch(/^Issue clusters are not enabled;/);
});

test('keeps the 100 most severe clusters and shows 25 at a time', async () => {
  const overview = new ClusterOverview({ now: () => NOW });
  const events = overview.events();
  for (const part of [0, 1]) {
    events.onRead?.(
      Array.from({ length: 75 }, (_, index) => {
        const issues = part * 75 + index;
        return { cluster: someCluster({ id: `c_${issues}`, issues, label: 'x'.repeat(1000) }), verdict: PASSES };
      }),
    );
  }
  const view = await clustersView(someOrganization('acme', { clusters: { enabled: true }, overview }), 25);
  expect(view).toMatchObject({ start: 25, known: 100, omitted: 50 });
  expect(view.clusters.map(({ id }) => id)).toEqual(Array.from({ length: 25 }, (_, index) => `c_${124 - index}`));
  expect(view.clusters[0]?.label.length).toBeLessThan(310);
});
