import { describe, expect, test } from 'vitest';
import { DesiredStateError, SourceError } from '../../../src/core/errors.ts';
import type { Backend } from '../../../src/web/model/page.ts';
import { type OrganizationsView, organizationsPage } from '../../../src/web/pages/organizations.ts';
import { actual } from '../../support/planning.ts';
import { ana, fakeDaemon, NOW, type OrganizationCase, passOf, request, resultsOf } from '../fake-daemon.ts';
import { allPages, viewOf } from '../some-backend.ts';

const IN_SYNC = { manifests: 'teams: { a: { title: A } }', actuals: [actual('team', 't1', { title: 'A' })] };
const CHANGED = {
  manifests: 'teams: { a: { title: B } }',
  actuals: [actual('team', 't1', { title: 'A' })],
  base: 'teams: { a: { title: A } }',
  ids: { 'team/a': 't1' },
};
const DELETION = {
  manifests: 'teams: {}',
  base: 'teams: { a: { title: A }, b: { title: B } }',
  ids: { 'team/a': 't1', 'team/b': 't2' },
  actuals: [actual('team', 't1', { title: 'A' }), actual('team', 't2', { title: 'B' })],
  policy: { requireApproval: ['team'] },
};
const list = (backend: Backend, query = {}) =>
  viewOf<OrganizationsView>(organizationsPage, backend, request({}, { query }));

async function summary(given: OrganizationCase) {
  const { backend } = await fakeDaemon(given);
  return (await list(backend)).organizations[0];
}

describe('the sentence of an organization', () => {
  test.each<[string, OrganizationCase, string, string]>([
    ['in sync', { plan: IN_SYNC }, 'in-sync', 'In sync with 3f2a91c, checked 1 minute ago'],
    ['stale', { plan: IN_SYNC, checked: 130 }, 'stale', 'Not checked for 2 hours'],
    ['never checked', { plan: IN_SYNC, checked: null }, 'unknown', 'Not checked yet'],
    [
      'checked for the first time',
      { plan: IN_SYNC, checked: null, isRunning: true },
      'unknown',
      'The first check is running',
    ],
    ['held', { plan: DELETION, end: { outcome: 'held' } }, 'held', '2 changes wait for approval'],
    ['planned', { plan: CHANGED }, 'waiting', '1 change waits to be applied'],
    ['applying', { plan: CHANGED, end: null, isRunning: true }, 'applying', 'Applying 1 change of 3f2a91c'],
    ['without manifests', { plan: null }, 'unmanaged', 'No source of manifests is configured'],
    [
      'invalid',
      {
        plan: IN_SYNC,
        end: {
          error: new DesiredStateError(
            [1, 2, 3].map((line) => ({ file: 'a.yaml', line, column: 1, address: '', message: 'x' })),
          ),
          outcome: 'failed',
        },
      },
      'failed',
      'Manifests have been invalid for 1 minute: 3 problems; the last valid commit is 3f2a91c',
    ],
    [
      'without a readable source',
      {
        plan: IN_SYNC,
        end: {
          error: new SourceError('cannot fetch https://x:s3cretpassword@git.example/a.git\nmore'),
          outcome: 'failed',
        },
      },
      'failed',
      'Manifests cannot be read, 1 minute ago: cannot fetch https://sha256-',
    ],
  ])('%s', async (_name, given, state, sentence) => {
    const found = await summary(given);
    expect(found?.state).toBe(state);
    expect(found?.sentence).toContain(sentence);
    expect(found?.sentence).not.toContain('s3cret');
    expect(found?.sentence).not.toContain('\n');
  });

  test('counts the changes that failed', async () => {
    const { plans } = await fakeDaemon({ plan: DELETION });
    const [plan] = plans;
    const results = plan == null ? [] : resultsOf(plan, 'failed', 'refused');
    const found = await summary({ plan: DELETION, end: { outcome: 'failed', results } });
    expect(found).toMatchObject({ state: 'failed', sentence: '2 of 2 changes failed, 1 minute ago', failed: 2 });
  });

  test('names who paused it, for how long, and why', async () => {
    const { backend, store } = await fakeDaemon({ plan: IN_SYNC });
    const pause = { address: '', reason: 'migration', by: ana, since: NOW, until: NOW + 2 * 3_600_000 };
    await store.history('org_1').pause(pause);
    const [found] = (await list(backend)).organizations;
    expect(found).toMatchObject({
      state: 'paused',
      sentence: 'Paused by ana@acme.example for 2 hours more: migration',
    });
  });

  test('says since when the manifests are invalid, also after a restart', async () => {
    const problem = { file: 'a.yaml', line: 1, column: 1, address: '', message: 'x' };
    const end: OrganizationCase['end'] = { error: new DesiredStateError([problem]), outcome: 'failed' };
    expect((await summary({ plan: IN_SYNC, end, failingSince: NOW - 3 * 3_600_000 }))?.sentence).toBe(
      'Manifests have been invalid for 3 hours: 1 problem; the last valid commit is 3f2a91c',
    );
    const { backend, store, plans } = await fakeDaemon({ plan: IN_SYNC, end, lastDesired: null });
    const sentence = async () => (await list(backend)).organizations[0]?.sentence;
    expect(await sentence()).toBe('Manifests have been invalid for 1 minute: 1 problem');
    const history = store.history('org_1');
    await history.addPass(passOf(plans[0] ?? null, { commit: 'a'.repeat(40) }));
    await history.addPass(passOf(null, { commit: null, error: 'x' }));
    expect(await sentence()).toContain('; the last valid commit is aaaaaaa');
  });

  test('a stale check is never called in sync, whatever else is true', async () => {
    for (const plan of [IN_SYNC, CHANGED, DELETION]) {
      const found = await summary({ plan, checked: 60 });
      expect(found).toMatchObject({ state: 'stale', freshness: { isStale: true, intervalSeconds: 300 } });
    }
  });

  test('after a restart, says when it was last checked before', async () => {
    const { backend, store, plans } = await fakeDaemon({ plan: IN_SYNC, checked: null });
    await store.history('org_1').addPass(passOf(plans[0] ?? null, { endedAt: NOW - 60_000 }));
    const [found] = (await list(backend)).organizations;
    expect(found?.sentence).toBe('Not checked yet; last checked 1 minute ago');
    await store.history('org_1').addPass(passOf(plans[0] ?? null, { endedAt: NOW - 3 * 3_600_000, commit: 'other' }));
    expect((await list(backend)).organizations[0]?.sentence).toBe('Not checked for 3 hours');
  });
});

test('organizations are sorted worst first, and filtered by text and state', async () => {
  const { backend } = await fakeDaemon(
    { id: 'org_a', plan: IN_SYNC },
    { id: 'org_b', plan: DELETION },
    { id: 'org_c', plan: IN_SYNC, checked: 500 },
    { id: 'org_d', plan: IN_SYNC, end: { error: new Error('boom'), outcome: 'failed' } },
    { id: 'org_e', plan: null },
  );
  const ids = async (query = {}) => (await list(backend, query)).organizations.map(({ id }) => id);
  expect(await ids({})).toEqual(['org_d', 'org_c', 'org_b', 'org_a', 'org_e']);
  expect(await ids({ state: 'held' })).toEqual(['org_b']);
  expect(await ids({ q: 'ORG_A' })).toEqual(['org_a']);
  const onlyE = {
    ...request(),
    viewer: { actor: ana, role: (id: string) => (id === 'org_e' ? 'viewer' : null) },
  } as const;
  expect(await viewOf(organizationsPage, backend, onlyE)).toMatchObject({ organizations: [{ id: 'org_e' }], total: 1 });
  expect(await ids({ after: 'org_b' })).toEqual(['org_a', 'org_e']);
});

test('a list of many organizations has pages that miss none and repeat none', async () => {
  const { backend } = await fakeDaemon(
    ...Array.from({ length: 230 }, (_, index) => ({ id: `org_${String(index).padStart(3, '0')}`, plan: null })),
  );
  const seen = await allPages(
    (after) => list(backend, { after }),
    ({ organizations }) => organizations.map(({ id }) => id),
  );
  expect(seen).toHaveLength(230);
  expect(new Set(seen).size).toBe(230);
});
