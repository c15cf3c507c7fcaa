/** Messages of other replicas: what a replica does for each, and after it may have missed some. */
import { expect, test } from 'vitest';
import { EventBus } from '../../../src/core/event-bus.ts';
import { FleetLink } from '../../../src/daemon/fleet-link.ts';
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
  const parts = {
    context: { log: { debug: () => undefined }, events, stopping },
    leases: { replica: 'a' },
    organizations: { configured: [{ id: 'acme' }, { id: 'globex' }] },
  };
  const runner = { run: async () => undefined, wake: () => undefined };
  const link = new FleetLink(parts as unknown as ConstructorParameters<typeof FleetLink>[0], signals as never, runner);
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
  expect(receive({ topic: 'organization/log', from: 'b' })).toEqual(['organization/log', 'budget']);
  // Earlier versions send the id alone.
  expect(receive({ topic: 'acme', from: 'b' })).toEqual(['organization/acme', 'budget']);
  expect(receive({ topic: 'notifications', from: 'b' })).toEqual(['notifications', 'plan notifications']);
  expect(receive({ topic: 'configuration', from: 'b' })).toEqual(['read configurations', 'configuration']);
  expect(receive({ topic: 'acme', from: 'a' })).toEqual([]);
});

test('after an interruption everything may have changed', () => {
  expect(openLink()({}).toSorted()).toEqual(
    [
      ...['budget', 'budget', 'configuration', 'notifications', 'organization/acme', 'organization/globex'],
      ...['plan notifications', 'read configurations'],
    ].toSorted(),
  );
});
