/** Events of passes, decisions and change requests. */
import { expect, test } from 'vitest';
import { appliedEvents, changeRequestEvents, decisionEvents } from '../../../src/daemon/facts/reporting.ts';
import type { NewAuditEntry } from '../../../src/store/history.ts';
import type { NotificationEvent } from '../../../src/store/notifications.ts';
import { COMMIT, NOW, passOf } from '../../web/fake-daemon.ts';

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
    ...{ id: `applied/acme/${COMMIT}`, code: 'applied', organization: 'acme', at: NOW, path: '/o/acme/history/7' },
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
    ['change-request-opened/acme/cr_1', 'A change request was opened for the question Export: 12 issues'],
    ['change-request-merged/acme/cr_1', 'The change request for the question Export was merged'],
  ]);
});
