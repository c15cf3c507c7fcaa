/** Views of conditions, deliveries and silences, and the actions on silences. */
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { AuditWriter } from '../../src/daemon/audit-writer.ts';
import { SilenceActions } from '../../src/daemon/silence-actions.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { conditionsView } from '../../src/views/conditions.ts';
import { deliveriesView } from '../../src/views/deliveries.ts';
import { silencesView } from '../../src/views/silences.ts';
import { addNotifications, someCondition, someDelivery, someFact, someNotifications } from './some-notifications.ts';

const NOW = Date.parse('2026-06-01T12:00:00Z');
const ALL = { seesAll: true, isVisible: () => true };
const ONLY_ACME = { seesAll: false, isVisible: (id: string) => id === 'acme' };
const ANA = { name: 'ana', method: 'token' } as const;

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

test('a condition shows the end of its silence', async () => {
  const { notifications } = await someState();
  const silence = { code: 'dead-letters', organization: 'acme', reason: 'known', by: ANA, since: NOW - 1 } as const;
  await notifications.silence('s1', { ...silence, until: NOW + 1000 });
  await notifications.silence('s2', { ...silence, organization: 'beta', until: NOW + 9000 });
  const view = await conditionsView(notifications, ALL, NOW);
  expect(view.firing.map(({ silencedUntil }) => silencedUntil)).toEqual([null, new Date(NOW + 1000).toISOString()]);
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

test('a silence of another organization is not shown', async () => {
  const { notifications } = await someState();
  const silence = { code: null, reason: 'x', by: ANA, since: NOW - 1, until: NOW + 1000 };
  await notifications.silence('s1', { ...silence, organization: 'beta' });
  await notifications.silence('s2', { ...silence, organization: null });
  const { active, organizations } = await silencesView(notifications, ['acme', 'beta'], ONLY_ACME, NOW);
  expect(active.map(({ id }) => id)).toEqual(['s2']);
  expect(organizations).toEqual(['acme']);
});

function openActions() {
  const store = openMemoryStore();
  const notifications = store.notifications();
  const writer = new AuditWriter({
    clock: { ...systemClock, now: () => NOW },
    log: { warn: () => undefined, error: () => undefined },
    stopping: new AbortController().signal,
  });
  const actions = new SilenceActions({
    ...{ store, organizations: () => ['acme'], clock: { now: () => NOW }, onAudited: () => undefined, audit: writer },
    notifications: {
      silence: async (silence) => {
        await notifications.silence('s1', silence);
        return 's1';
      },
      endSilence: (id) => notifications.endSilence(id, NOW + 1),
    },
  });
  const audit = async (organization: string) =>
    (await store.history(organization).audit({ limit: 9 })).map(({ action, subject, outcome }) => [
      action,
      subject,
      outcome,
    ]);
  return { actions, audit };
}

test('silences are in the audit of their organization, or in that of the daemon', async () => {
  const { actions, audit } = openActions();
  const until = NOW + 3_600_000;
  await actions.handle(ANA, { subcommand: 'add', code: 'drift', organization: 'acme', reason: 'known', until });
  await actions.handle(ANA, { subcommand: 'end', id: 's1' });
  await expect(actions.handle(ANA, { subcommand: 'end', id: 's1' })).rejects.toThrow('has already ended');
  expect(await audit('acme')).toEqual([
    ['silence end', 'drift', 'refused'],
    ['silence end', 'drift', 'done'],
    ['silence add', 'drift', 'done'],
  ]);
  const other = openActions();
  await other.actions.handle(ANA, { subcommand: 'add', reason: 'known', until });
  expect(await other.audit('')).toEqual([['silence add', 'all conditions', 'done']]);
});

test.each([
  [{ subcommand: 'add', organization: 'other', reason: 'x', until: NOW + 1 }, 'organization "other" is not configured'],
  [{ subcommand: 'add', reason: 'x', until: NOW }, 'would have ended already'],
  [{ subcommand: 'end', id: 'unknown' }, 'there is no silence "unknown"'],
] as const)('refuses %o', async (request, message) => {
  await expect(openActions().actions.handle(ANA, request)).rejects.toThrow(message);
});
