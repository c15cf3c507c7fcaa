/** Effects of each event of the daemon. */
import { expect, test } from 'vitest';
import { EventBus } from '../../src/core/event-bus.ts';
import type { DaemonContext, DaemonEvents } from '../../src/daemon/organization/feature.ts';
import { type DaemonSubscribers, subscribeToDaemon } from '../../src/daemon/subscribe.ts';
import type { QueueEvent } from '../../src/queue/snapshot.ts';
import { createMetrics } from '../../src/server/metrics.ts';

/** Subscribes to the events of a daemon, and records what is done and which topics change. */
function subscribed() {
  const events = new EventBus<DaemonEvents>();
  const metrics = createMetrics();
  const done: string[] = [];
  const note = (what: string) => () => void done.push(what);
  events.subscribe({ onChange: (topic) => void done.push(topic) });
  const subscribers = {
    link: {
      show: note('show'),
      changed: note('write state'),
      announce: (topic) => void done.push(`announce ${topic}`),
    },
    facts: { forget: note('forget facts'), markChanged: note('read facts') },
    notifications: { wakeHere: note('plan notifications') },
    reports: { markChanged: note('read reports'), publish: async () => void done.push('publish reports') },
    observeFacts: async () => void done.push('observe facts'),
    observeQueues: note('observe queues'),
  } satisfies DaemonSubscribers;
  subscribeToDaemon({ events, metrics } as unknown as DaemonContext, subscribers);
  return { events, metrics, done };
}

const attempt = { kind: 'attempt', name: 'listTeams', class: 'read', priority: 'apply', waited: 0, took: 1 } as const;

test.each<[QueueEvent, boolean]>([
  [{ ...attempt, outcome: 'refused' }, true],
  [{ ...attempt, outcome: 'answered' }, false],
  [{ kind: 'breaker', state: 'open' }, true],
  [{ kind: 'joined', classes: ['read', 'write'] }, true],
])('%o is shown before the next sample: %s', async (event, isShown) => {
  const { events, metrics, done } = subscribed();
  events.publish.onQueueEvent?.(event);
  expect(done).toEqual(isShown ? ['budget'] : []);
  const counted = (await metrics.registry.metrics()).includes('octavo_requests_total{');
  expect(counted).toBe(event.kind === 'attempt');
});

test.each<[string, (publish: DaemonEvents) => void, string[]]>([
  ['a pass has ended', (publish) => publish.onPassEnd?.(), ['observe facts', 'observe queues']],
  [
    'an organization was opened',
    (publish) => publish.onOrganization?.('acme'),
    ['show', 'forget facts', 'write state', 'read facts', 'organization/acme'],
  ],
  [
    'the configuration is invalid',
    (publish) => publish.onConfigurationProblem?.(),
    ['configuration', 'publish reports', 'observe facts'],
  ],
  ['reports were stored', (publish) => publish.onReportsStored?.(), ['announce configuration']],
  ['notifications were stored', (publish) => publish.onNotificationsStored?.(), ['announce notifications']],
  ['another replica stored notifications', (publish) => publish.onRemoteNotifications?.(), ['plan notifications']],
  ['another replica stored reports', (publish) => publish.onRemoteReports?.(), ['read reports', 'observe facts']],
])('%s', (_what, publish, expected) => {
  const { events, done } = subscribed();
  publish(events.publish);
  expect(done).toEqual(expected);
});
