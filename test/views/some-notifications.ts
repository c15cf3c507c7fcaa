/** Notifications of a fake daemon, for views and pages. */
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Condition, Fact, NotificationDelivery, Notifications } from '../../src/store/notifications.ts';
import type { NotificationReader } from '../../src/web/model/backend.ts';

/** Fact of an organization of the tests. */
export function someFact(over: Partial<Fact> & { readonly organization?: string | null } = {}): Fact {
  const { organization = 'acme', ...rest } = over;
  return {
    ...{ code: 'pass-failing', subject: '', since: 0, summary: 'Passes fail: no', details: [], path: '/o/acme/passes' },
    scope: { organization, token: 'acme', platform: 'https://api.example' },
    ...rest,
  };
}

/** A firing condition. */
export function someCondition(id: string, fact: Fact, over: Partial<Condition> = {}): Condition {
  return {
    ...{ id, fact, state: 'firing', since: fact.since, firedAt: fact.since, resolvedAt: null, clearSince: null },
    ...{ isInhibited: false, starts: [fact.since] },
    ...over,
  };
}

export function someDelivery(id: string, over: Partial<NotificationDelivery> = {}): NotificationDelivery {
  return {
    ...{ id, channel: 'ops', thread: id, kind: 'firing', about: [], createdAt: 0, state: 'queued' },
    mayHaveArrived: false,
    ...over,
  };
}

/** Stores conditions and deliveries as the notifier does. */
export async function addNotifications(
  notifications: Notifications,
  now: number,
  conditions: readonly Condition[],
  created: readonly NotificationDelivery[] = [],
): Promise<void> {
  const none = { removed: [], cancelled: [], notified: null, events: [] };
  await notifications.advance(now, () => ({ ...none, conditions, created }));
}

/** Notifications, as views read them. */
export function someNotifications(
  from: Notifications = openMemoryStore().notifications(),
  channels: readonly string[] = [],
): NotificationReader {
  return {
    channels,
    conditions: (limit) => from.conditions(limit),
    deliveries: (query) => from.deliveries(query),
    lastSent: () => from.lastSent(),
  };
}
