/** Messages of other replicas: what a replica does for each, and after it may have missed some. */
import { expect, test } from 'vitest';
import { EventBus } from '../../../src/core/event-bus.ts';
import { FleetLink, type FleetLinkOptions } from '../../../src/daemon/fleet-link.ts';
import type { DaemonEvents } from '../../../src/daemon/organization/feature.ts';
import type { FleetSignal } from '../../../src/store/leases.ts';

/** Opens the link of the replica `a`, and returns what it does for the messages that it receives. */
function openLink() {
  const listeners: ((signal: FleetSignal) => void)[] = [];
  const done: string[] = [];
  const events = new EventBus<DaemonEvents>();
  const stopping = AbortSignal.abort();
  const signals = {
    send: async () => undefined,
    listen: (listener: (signal: FleetSignal) => void) => {
      listeners.push(listener);
      return () => undefined;
    },
  };
  const store = { fleet: () => ({ signals }), commands: () => ({}), organizationStates: () => ({}) };
  const clock = { now: () => 0, monotonic: () => 0, sleep: async () => undefined };
  const log = { debug: () => undefined, warn: () => undefined };
  const link = new FleetLink({
    context: { store, clock, log, events, random: () => 0.5, version: '0' },
    leases: { replica: 'a', holder: () => null },
    organizations: { find: () => undefined, configured: [{ id: 'acme' }, { id: 'globex' }] },
    connections: { queueName: () => '', tokenUsers: () => [] },
    stopping,
  } as unknown as FleetLinkOptions);
  link.start();
  events.subscribe({
    onChange: (topic) => void done.push(topic),
    onRemoteNotifications: () => void done.push('plan notifications'),
    onRemoteReports: () => void done.push('read configurations'),
  });
  return (payload: FleetSignal['payload']) => {
    done.length = 0;
    for (const listener of listeners) {
      listener({ kind: 'change', payload });
    }
    return [...done];
  };
}

test('a message changes what it is about', () => {
  const receive = openLink();
  expect(receive({ topic: 'acme', from: 'b' })).toEqual(['acme', 'budget']);
  expect(receive({ topic: 'notifications', from: 'b' })).toEqual(['notifications', 'plan notifications']);
  expect(receive({ topic: 'configuration', from: 'b' })).toEqual(['read configurations', 'configuration']);
  expect(receive({ topic: 'acme', from: 'a' })).toEqual([]);
});

test('after an interruption everything may have changed', () => {
  expect(openLink()({}).toSorted()).toEqual(
    [
      ...['acme', 'budget', 'budget', 'configuration', 'globex', 'notifications'],
      ...['plan notifications', 'read configurations'],
    ].toSorted(),
  );
});
