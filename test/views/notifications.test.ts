/** Views of conditions and deliveries. */
import { expect, test } from 'vitest';
import { openMemoryStore } from '../../src/store/memory.ts';
import { conditionsView } from '../../src/web/pages/conditions.ts';
import { deliveriesView } from '../../src/web/pages/deliveries.ts';
import { addNotifications, someCondition, someDelivery, someFact, someNotifications } from './some-notifications.ts';

const NOW = Date.parse('2026-06-01T12:00:00Z');
const ALL = { seesAll: true, seesNone: false, isVisible: () => true };
const ONLY_ACME = { seesAll: false, seesNone: false, isVisible: (id: string) => id === 'acme' };

/** A dead platform, what it explains in two organizations, and something else. */
async function someState() {
  const store = openMemoryStore();
  const notifications = store.notifications();
  const platform = { organization: null, token: null, platform: 'https://api.example' };
  const since = NOW - 60_000;
  await addNotifications(notifications, NOW, [
    someCondition('cause', { ...someFact({ code: 'platform-failing', path: '/budget' }), scope: platform, since }),
    someCondition('a', someFact({ since }), { state: 'pending', isInhibited: true, firedAt: null }),
    someCondition('b', someFact({ organization: 'beta', since }), {
      state: 'pending',
      isInhibited: true,
      firedAt: null,
    }),
    someCondition('c', someFact({ code: 'dead-letters', since })),
    someCondition('d', someFact({ code: 'drift', since }), { state: 'resolved', resolvedAt: NOW - 1000 }),
  ]);
  return { store, notifications };
}

test('conditions that another one explains are listed under it, the most severe first', async () => {
  const { notifications } = await someState();
  const view = await conditionsView(notifications, ALL, NOW);
  expect(view.firing.map(({ id, inhibits }) => [id, inhibits])).toEqual([
    ['cause', 2],
    ['c', 0],
  ]);
  expect(view.firing[0]?.inhibited.map(({ organization }) => organization).toSorted()).toEqual(['acme', 'beta']);
  expect(view.pending).toEqual([]);
  expect(view.resolved.map(({ id }) => id)).toEqual(['d']);
});

test('somebody who may not see all organizations sees their own conditions only, and not the cause', async () => {
  const { notifications } = await someState();
  const view = await conditionsView(notifications, ONLY_ACME, NOW);
  expect(view.firing.map(({ id }) => id)).toEqual(['c']);
  expect(view.pending.map(({ id }) => id)).toEqual(['a']);
  expect(JSON.stringify(view)).not.toContain('beta');
});

test('conditions do not claim that nothing is wrong to somebody without any role', async () => {
  const { notifications } = await someState();
  const nothing = { seesAll: false, seesNone: true, isVisible: () => false };
  expect(await conditionsView(notifications, nothing, NOW)).toMatchObject({
    sentence: 'You have no role in any organization, so you see no conditions',
    firing: [],
  });
  const other = { ...nothing, seesNone: false };
  expect((await conditionsView(notifications, other, NOW)).sentence).toBe(
    'Nothing is wrong in the organizations that you may see',
  );
});

test('of one organization, all conditions are shown, with what explains them', async () => {
  const { notifications } = await someState();
  const others = Array.from({ length: 300 }, (_, index) =>
    someCondition(`other${index}`, someFact({ organization: `other${index}`, since: NOW })),
  );
  await addNotifications(notifications, NOW, others);
  const view = await conditionsView(notifications, ALL, NOW, 'acme');
  expect(view.firing.map(({ id }) => id)).toEqual(['cause', 'c']);
  expect(view.firing[0]?.inhibited.map(({ organization }) => organization)).toEqual(['acme']);
  expect(view.resolved.map(({ organization }) => organization)).toEqual(['acme']);
  expect(view.notShown).toBe(0);
});

test('deliveries are for people who may see every organization', async () => {
  const { notifications } = await someState();
  await addNotifications(notifications, NOW, [], [someDelivery('n1', { about: ['cause'], createdAt: NOW })]);
  const reader = someNotifications(notifications, ['ops', 'mail']);
  expect(await deliveriesView(reader, false)).toMatchObject({
    isAllowed: false,
    channels: [],
    pending: [],
    latest: [],
  });
  const view = await deliveriesView(reader, true);
  expect(view.channels.map(({ name, waiting, lastSentAt }) => [name, waiting, lastSentAt])).toEqual([
    ['ops', 1, null],
    ['mail', 0, null],
  ]);
  expect(view.pending.map(({ about }) => about)).toEqual(['The platform does not answer (https://api.example)']);
});
