/** Events of passes, decisions, change requests and weeks. */
import { expect, test } from 'vitest';
import { appliedEvents, changeRequestEvents, decisionEvents } from '../../../src/daemon/facts/events.ts';
import { WeeklyDigests } from '../../../src/daemon/facts/weekly-digest.ts';
import type { NewAuditEntry } from '../../../src/store/history.ts';
import { openMemoryStore } from '../../../src/store/memory.ts';
import type { NotificationEvent } from '../../../src/store/notifications.ts';
import { COMMIT, NOW, passOf } from '../../views/backend.ts';
import { someBackend, someOrganization } from '../../views/some-backend.ts';

const DAY = 24 * 3_600_000;
const applied = {
  outcome: 'done',
  ...{ counts: { applied: 2 }, endedAt: NOW },
  changes: [
    { address: 'team/a', action: 'update', status: 'applied', error: null },
    { address: 'team/b', action: 'create', status: 'held', error: null },
  ],
} as const;

test('a commit that was applied is one event, however many passes it needed', () => {
  const [first] = appliedEvents('acme', passOf(null, applied), 7);
  const [second] = appliedEvents('acme', passOf(null, { ...applied, trigger: 'schedule' }), 8);
  expect(first).toEqual({
    ...{ id: `applied/acme/${COMMIT}`, code: 'applied', organization: 'acme', at: NOW, path: '/o/acme/passes/7' },
    summary: '2 changes were applied: 3f2a91c Rename "docs" by ana@acme.example',
    details: ['update team/a'],
  });
  expect(second?.id).toBe(first?.id);
});

test('a commit whose pass failed after it had applied everything is an event, too', () => {
  const complete = { ...applied, outcome: 'failed', counts: { create: 1, update: 1, applied: 2 }, error: 'x' } as const;
  expect(appliedEvents('acme', passOf(null, complete), 7)).toMatchObject([{ id: `applied/acme/${COMMIT}` }]);
  expect(appliedEvents('acme', passOf(null, { ...complete, counts: { create: 2, applied: 1 } }), 7)).toEqual([]);
});

test.each([
  ['failed', { ...applied, outcome: 'failed' }],
  ['waits for approval', { ...applied, outcome: 'held' }],
  ['changed nothing', { ...applied, counts: {} }],
] as const)('a pass that %s makes no event', (_what, pass) => {
  expect(appliedEvents('acme', passOf(null, pass), 7)).toEqual([]);
});

const entry = (over: Partial<NewAuditEntry>): NewAuditEntry => ({
  ...{ at: NOW, actor: { name: 'ana@acme.example', method: 'oidc' }, action: 'approve', subject: 'sha256:abcdef0123' },
  ...{ reason: 'reviewed', outcome: 'done', detail: '' },
  ...over,
});

test('an approval and a rejection are events with the person and the reason', () => {
  const summaries = [entry({}), entry({ action: 'reject', reason: '' })].flatMap((each) =>
    decisionEvents('acme', each).map(({ code, summary }) => `${code}: ${summary}`),
  );
  expect(summaries).toEqual([
    'approved: ana@acme.example approved the plan abcdef0: reviewed',
    'rejected: ana@acme.example rejected the plan abcdef0',
  ]);
});

test('refused decisions and other actions make no event', () => {
  expect(decisionEvents('acme', entry({ outcome: 'refused' }))).toEqual([]);
  expect(decisionEvents('acme', entry({ action: 'pause' }))).toEqual([]);
});

test('a change request is one event when it is opened, and one when it is merged', () => {
  const events: NotificationEvent[] = [];
  const listener = changeRequestEvents('acme', { now: () => NOW }, (event) => events.push(event));
  const request = { cluster: 'c_1', label: 'Export', request: 'cr_1', space: 's_1', url: null };
  listener.onOpened?.({ ...request, why: '12 issues' });
  listener.onMerged?.({ ...request, isEmpty: false });
  expect(events.map(({ id, summary }) => [id, summary])).toEqual([
    ['change-request-opened/acme/cr_1', 'A change request was opened for the issue cluster Export: 12 issues'],
    ['change-request-merged/acme/cr_1', 'The change request for the issue cluster Export was merged'],
  ]);
});

/** Digests of an organization with a route for them, each Monday at 8. */
function openDigests(codes: readonly string[] = ['weekly-digest']) {
  const events: NotificationEvent[] = [];
  const store = openMemoryStore();
  const acme = someOrganization('acme');
  const open = () =>
    new WeeklyDigests({
      backend: someBackend([acme]),
      config: { digest: '0 8 * * 1', timezone: 'UTC', routes: [{ channels: ['ops'], codes: codes as never }] },
      note: store.note('digest'),
      addEvents: async (added) => void events.push(...added),
    });
  return { events, open, history: acme.history };
}

const MONDAY = Date.parse('2026-06-01T08:00:00Z');

test('the digest of a week counts what was applied and reverted, by its authors, once', async () => {
  const { events, open, history } = openDigests();
  await open().write(MONDAY);
  expect(events).toEqual([]);
  const pass = { ...applied, writes: 1 };
  await history.addPass(passOf(null, { ...pass, counts: { applied: 3 }, endedAt: MONDAY + DAY }));
  const drift = { ...pass, counts: { applied: 2, reverted: 2 }, author: 'ben@acme.example', endedAt: MONDAY + 2 * DAY };
  await history.addPass(passOf(null, drift));
  const digests = open();
  await digests.write(MONDAY + 6 * DAY);
  expect(events).toEqual([]);
  await digests.write(MONDAY + 7 * DAY);
  await digests.write(MONDAY + 7 * DAY + 10_000);
  await open().write(MONDAY + 7 * DAY + 20_000);
  expect(events).toHaveLength(1);
  const [{ id, summary, details }] = events as [NotificationEvent];
  expect(id).toBe('weekly-digest/acme/2026-06-08T08:00:00.000Z');
  expect([summary, ...details].join('\n')).toContain('3 changes were applied in 1 commit');
  expect(details.join('\n')).toContain('2 manual changes were reverted');
  expect(details.join('\n')).toContain('ana@acme.example');
  expect(details.join('\n')).not.toContain('ben@');
});

test('a digest that was due while the daemon was stopped is written when it starts', async () => {
  const { events, open } = openDigests();
  await open().write(MONDAY + DAY);
  await open().write(MONDAY + 9 * DAY);
  expect(events.map(({ at }) => at)).toEqual([MONDAY + 7 * DAY]);
});

test('no digest is written unless a route asks for it', async () => {
  const { events, open } = openDigests(['applied']);
  await open().write(MONDAY);
  await open().write(MONDAY + 7 * DAY);
  expect(events).toEqual([]);
});
