/** Views of conditions and deliveries. */
import { expect, test } from 'vitest';
import { openMemoryStore } from '../../../src/store/memory.ts';
import type { Notifications } from '../../../src/store/notifications.ts';
import { type ConditionsView, conditionsPage } from '../../../src/web/pages/conditions.ts';
import { deliveriesPage } from '../../../src/web/pages/deliveries.ts';
import {
  addNotifications,
  NOW,
  render,
  someBackend,
  someCondition,
  someDelivery,
  someFact,
  someNotifications,
  someOrganization,
  someRequest,
  viewOf,
} from '../some-backend.ts';

/** Returns a view of a page for a person who may see some organizations. */
function view<View>(
  page: typeof conditionsPage,
  notifications: Notifications,
  visible: readonly string[] = ['acme', 'beta', 'quiet'],
  query = {},
) {
  const organizations = ['acme', 'beta', 'quiet'].map((id) => someOrganization(id));
  const backend = someBackend(organizations, { notifications: someNotifications(notifications, ['ops', 'mail']) });
  return viewOf<View>(
    page,
    backend,
    someRequest({}, query, (id) => (visible.includes(id) ? 'viewer' : null)),
  );
}
const conditions = (notifications: Notifications, visible?: readonly string[], query = {}) =>
  view<ConditionsView>(conditionsPage, notifications, visible, query);

/** A dead platform, what it explains in two organizations, and something else. */
async function someState() {
  const notifications = openMemoryStore().notifications();
  const platform = { organization: null, token: null, platform: 'https://api.example' };
  const since = NOW - 60_000;
  await addNotifications(notifications, NOW, [
    someCondition('cause', { ...someFact({ code: 'platform-failing', path: '/limits' }), scope: platform, since }),
    someCondition('a', someFact({ since }), { state: 'pending', isInhibited: true, firedAt: null }),
    someCondition('b', someFact({ organization: 'beta', since }), {
      state: 'pending',
      isInhibited: true,
      firedAt: null,
    }),
    someCondition('c', someFact({ code: 'dead-letters', since })),
    someCondition('d', someFact({ code: 'drift', since }), { state: 'resolved', resolvedAt: NOW - 1000 }),
  ]);
  return notifications;
}

test('conditions that another one explains are listed under it, the most severe first', async () => {
  const notifications = await someState();
  const view = await conditions(notifications);
  expect(view.firing.map(({ id, inhibits }) => [id, inhibits])).toEqual([
    ['cause', 2],
    ['c', 0],
  ]);
  expect(view.firing[0]?.inhibited.map(({ organization }) => organization).toSorted()).toEqual(['acme', 'beta']);
  expect(view.pending).toEqual([]);
  expect(view.resolved.map(({ id }) => id)).toEqual(['d']);
});

test('somebody who may not see all organizations sees their own conditions only, and not the cause', async () => {
  const notifications = await someState();
  const view = await conditions(notifications, ['acme']);
  expect(view.firing.map(({ id }) => id)).toEqual(['c']);
  expect(view.pending.map(({ id }) => id)).toEqual(['a']);
  expect(JSON.stringify(view)).not.toContain('beta');
});

test('an alert about a plan that waits leads to the plan, and names the organization by its title', async () => {
  const notifications = openMemoryStore().notifications();
  const path = '/o/acme/plans/sha256%3Aabc';
  await addNotifications(notifications, NOW, [
    someCondition('a', someFact({ code: 'waiting-for-approval', path })),
    someCondition('b', someFact({ code: 'waiting-for-approval', path, organization: 'beta' }), {
      state: 'resolved',
      resolvedAt: NOW - 1000,
    }),
    someCondition('c', someFact({ code: 'outbox-full', summary: 'Waiting to be sent is full' })),
    someCondition('d', someFact({ code: 'plan-refused', path: 'javascript:alert(1)', organization: 'quiet' })),
  ]);
  const backend = someBackend([someOrganization('acme')], { notifications: someNotifications(notifications) });
  const shown = await render(conditionsPage, backend, {
    ...someRequest(),
    titleOf: (id) => (id === 'acme' ? 'Acme' : id),
  });
  expect(shown.match(/<a href="[^"]*"[^>]*>Review plan</g)).toEqual([
    `<a href="${path}" aria-label="Review plan: Changes wait for approval" class="button">Review plan<`,
  ]);
  expect(shown.match(/class="state wait">[^<]*/g)).toEqual(['class="state wait">needs approval']);
  expect(shown).toContain('Acme <span class="address">acme</span>');
  expect(shown).toContain('There is no room for more conversations');
});

test('the page of 1,000 alerts is small, and says how many it does not list', async () => {
  const notifications = openMemoryStore().notifications();
  const ids = Array.from({ length: 1000 }, (_, index) => `org_${index}`);
  const details = Array.from({ length: 10 }, (_, index) => `delete space/the-space-of-team-${index}: needs approval`);
  await addNotifications(
    notifications,
    NOW,
    ids.map((id) =>
      someCondition(
        id,
        someFact({ code: 'waiting-for-approval', organization: id, details, path: `/o/${id}/plans/x` }),
      ),
    ),
  );
  const backend = someBackend([someOrganization('acme')], { notifications: someNotifications(notifications) });
  const shown = await render(conditionsPage, backend, someRequest());
  expect(shown.length).toBeLessThan(100_000);
  expect(shown).toContain('1000 alerts are on');
  expect(shown).toContain('160 more are not listed.');
  expect(shown).toContain('800 others are on or may follow.');
});

test('conditions do not claim that nothing is wrong to somebody without any role', async () => {
  const notifications = await someState();
  expect(await conditions(notifications, [])).toMatchObject({
    sentence: 'You have no role in any organization, so you see no alerts',
    firing: [],
  });
  expect((await conditions(notifications, ['quiet'])).sentence).toBe(
    'Nothing is wrong in the organizations that you may see',
  );
});

test('of one organization, all conditions are shown, with what explains them', async () => {
  const notifications = await someState();
  const others = Array.from({ length: 300 }, (_, index) =>
    someCondition(`other${index}`, someFact({ organization: `other${index}`, since: NOW })),
  );
  await addNotifications(notifications, NOW, others);
  const view = await conditions(notifications, undefined, { organization: 'acme' });
  expect(view.firing.map(({ id }) => id)).toEqual(['cause', 'c']);
  expect(view.firing[0]?.inhibited.map(({ organization }) => organization)).toEqual(['acme']);
  expect(view.resolved.map(({ organization }) => organization)).toEqual(['acme']);
  expect(view.notShown).toBe(0);
});

test('deliveries are for people who may see every organization', async () => {
  const notifications = await someState();
  await addNotifications(notifications, NOW, [], [someDelivery('n1', { about: ['cause'], createdAt: NOW })]);
  expect(await view(deliveriesPage, notifications, ['acme'])).toMatchObject({
    ...{ isAllowed: false, channels: [], pending: [], latest: [] },
  });
  expect(await view(deliveriesPage, notifications)).toMatchObject({
    channels: [
      { name: 'ops', waiting: 1, lastSentAt: null },
      { name: 'mail', waiting: 0, lastSentAt: null },
    ],
    pending: [{ about: 'The platform does not answer (https://api.example)' }],
  });
});
