/** Conditions, deliveries and replicas of the pages: none, and very many with long texts. */
import { openMemoryStore } from '../../../src/store/memory.ts';
import type { Backend, FleetState } from '../../../src/web/model/backend.ts';
import { NOW } from '../fake-daemon.ts';
import { addNotifications, someCondition, someDelivery, someFact, someNotifications } from '../some-backend.ts';

/** Pages that show them. */
export const MONITORING_PAGES = ['/conditions', '/deliveries', '/replicas'];

const LONG = 'a reason without an end, '.repeat(60);
const WORD = 'x'.repeat(300);

/** A fleet that has just begun: nobody has anything. */
export const EMPTY_FLEET: FleetState = {
  ...{ replica: 'host-1-ab', replicas: [], left: 60_000, failure: null, latency: null, unowned: [] },
  notificationsUnowned: null,
};

/** 120 replicas, and 300 organizations that none of them has. */
const LARGE_FLEET: FleetState = {
  replica: 'r-7',
  replicas: Array.from({ length: 120 }, (_, index) => ({
    ...{ id: `r-${index}`, version: '1.2.3', address: `${WORD} ${index}`, weight: 1, isDraining: index % 3 === 0 },
    ...{ startedAt: NOW - 3_600_000, seenAt: NOW - 1000, left: index % 5 === 0 ? -1 : 60_000, organizations: index },
  })),
  ...{ left: 20_000, failure: LONG, latency: 12.5, notificationsUnowned: 90_000 },
  unowned: Array.from({ length: 300 }, (_, index) => ({
    ...{ organization: `org_${index}`, age: index * 1000, isConfigured: index % 2 === 0 },
  })),
};

/** Returns the parts of a backend with very many conditions, deliveries and replicas. */
export async function largeMonitoring(): Promise<Pick<Backend, 'notifications' | 'fleet'>> {
  const notifications = openMemoryStore().notifications();
  const conditions = Array.from({ length: 300 }, (_, index) => {
    const state = index % 3 === 0 ? 'pending' : 'firing';
    const fact = someFact({
      ...{ subject: `${WORD} ${index}`, summary: LONG, details: [LONG, WORD], since: NOW - index * 60_000 },
      organization: index % 7 === 0 ? null : `org_${index % 149}`,
    });
    return someCondition(`c${index}`, fact, { state });
  });
  const deliveries = conditions.map(({ id }, index) =>
    someDelivery(`d${index}`, {
      ...{ channel: index % 2 === 0 ? WORD : 'ops', about: [id], createdAt: NOW - index * 1000 },
      state: index % 4 === 0 ? 'failed' : 'queued',
    }),
  );
  await addNotifications(notifications, NOW, conditions, deliveries);
  return { notifications: someNotifications(notifications, ['ops', WORD]), fleet: () => LARGE_FLEET };
}
