/** Subscribers to the events of the daemon and of its organizations: log, metrics, pages, notifications, statuses and memory. */

import type { ClusterEvents } from '../clusters/events.ts';
import type { ConversationEvents } from '../conversations/model/source.ts';
import type { Clock } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import type { PassEvents } from '../reconcile/pass.ts';
import { logClusters, logConversations, logEvents } from '../server/event-logs.ts';
import type { NotificationEvent } from '../store/notifications.ts';
import { untilStored } from '../store/until-stored.ts';
import { organizationTopic } from '../web/model/page.ts';
import type { FactCollector, PassActivities } from './fact-collector.ts';
import { changeRequestEvents } from './facts/reporting.ts';
import type { FleetLink } from './fleet-link.ts';
import type { DaemonNotifications } from './notifications.ts';
import type { DaemonOptions } from './options.ts';
import type { DaemonContext, OrganizationContext, OrganizationEvents } from './organization/feature.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';

/** Milliseconds after the last pass: longer than the gaps between passes of a busy daemon. */
const IDLE = 5000;

type RunningPasses = Pick<PassEvents, 'onPassStart' | 'onPassEnd'>;

/**
 * Returns a listener for the passes of all organizations, which calls `release` once after each time that all have ended and
 * none has started for a while.
 */
export function releaseWhenIdle(clock: Clock, stopping: AbortSignal, release: () => void): RunningPasses {
  let running = 0;
  let waiting = new AbortController();
  return {
    onPassStart: () => {
      running += 1;
      waiting.abort();
    },
    onPassEnd: () => {
      running -= 1;
      if (running === 0) {
        waiting = new AbortController();
        const signal = AbortSignal.any([waiting.signal, stopping]);
        void clock.sleep(IDLE, signal).then(release, () => undefined);
      }
    },
  };
}

/** Parts of the daemon that follow its organizations. */
export interface OrganizationSubscribers {
  readonly listeners: NonNullable<DaemonOptions['listeners']>;
  /** Returns the command that approves a checksum, for the log. */
  readonly approveCommand: (checksum: string) => string;
  readonly activities: PassActivities;
  readonly notifications: Pick<DaemonNotifications, 'wake'>;
  readonly memory: RunningPasses;
}

/** Subscribes everything that follows an organization to its events. */
export function subscribeToOrganization(
  context: OrganizationContext,
  {
    reconciliation,
    statuses,
    comments,
    clusters,
  }: Pick<ManagedOrganization, 'reconciliation' | 'statuses' | 'comments' | 'clusters'>,
  subscribers: OrganizationSubscribers,
): void {
  const {
    events,
    organization: { id },
    log,
    metrics,
    clock,
    daemon,
  } = context;
  const { activities, notifications, memory } = subscribers;
  // 1. Log and metrics.
  events.subscribe(logEvents(log, subscribers.approveCommand));
  events.subscribe(logConversations(log));
  events.subscribe(logClusters(log));
  events.subscribe(metrics.passes(id));
  events.subscribe(metrics.conversations.events(id));
  events.subscribe(metrics.clusters.events(id, () => clock.now()));
  // 2. The history of passes, their schedule, and the last runs over issue clusters.
  for (const each of reconciliation?.subscriptions ?? []) {
    events.subscribe(each);
  }
  events.subscribe(clusters.overview.events());
  // 3. Pages, commit statuses and notifications.
  events.subscribe(changesOfPages(() => daemon.publish.onStateChange?.(id)));
  events.subscribe(statuses?.events() ?? {});
  events.subscribe(comments?.events() ?? {});
  events.subscribe(activities.events(id));
  events.subscribe(changeRequestEvents(id, clock, (event) => void storeEvent(context, notifications, event)));
  events.subscribe({ onRecorded: () => notifications.wake(), onPassEnd: () => daemon.publish.onPassEnd?.() });
  // 4. Memory, and what embeds the daemon.
  events.subscribe(memory);
  for (const each of subscribers.listeners(id)) {
    events.subscribe(each);
  }
}

/** Stores an event for notifications, fenced by the lease of its organization, until it is stored or that stops. Never rejects. */
async function storeEvent(
  { organization: { id }, log, clock, store, stopping }: OrganizationContext,
  notifications: Pick<DaemonNotifications, 'wake'>,
  event: NotificationEvent,
): Promise<void> {
  const report = (error: unknown, message: string) => log.warn({ organization: id, reason: messageOf(error) }, message);
  const onError = (error: unknown) => report(error, 'cannot store an event; retrying');
  try {
    await untilStored(() => store.notifications().addEvents([event]), { clock, signal: stopping, onError });
    notifications.wake();
  } catch (error) {
    report(error, 'cannot store an event');
  }
}

/** Events after which pages show something else. The end of a pass is shown once more after it is recorded. */
const SHOWN_PASSES = ['onPassStart', 'onPlan', 'onResult', 'onPassEnd', 'onRecorded'] as const;
const SHOWN_CONVERSATIONS = [
  'onIntake',
  'onPressure',
  'onPollEnd',
  'onFilesEnd',
  'onSent',
  'onDoubt',
  'onRefused',
  'onSenderState',
] as const satisfies readonly (keyof ConversationEvents)[];
const SHOWN_CLUSTERS = [
  'onRead',
  'onOpened',
  'onMerged',
  'onArchived',
  'onReopened',
  'onSuperseded',
  'onCommented',
  'onMuted',
  'onUnmuted',
  'onRunEnd',
] as const satisfies readonly (keyof ClusterEvents)[];

/** Returns a listener that calls `notify` when pages of an organization show something else. */
function changesOfPages(notify: () => void): OrganizationEvents {
  const shown: readonly (keyof OrganizationEvents)[] = [...SHOWN_PASSES, ...SHOWN_CONVERSATIONS, ...SHOWN_CLUSTERS];
  return Object.fromEntries(shown.map((name) => [name, notify]));
}

/** Parts of the daemon that follow it as a whole. */
export interface DaemonSubscribers {
  /** Null for a state file. */
  readonly link: Pick<FleetLink, 'show' | 'changed' | 'announce'> | null;
  readonly facts: Pick<FactCollector, 'markChanged' | 'forget'>;
  readonly notifications: Pick<DaemonNotifications, 'wakeHere'>;
  readonly reports: { markChanged(): void; publish(): Promise<void> };
  /** Reports what is wrong now, for notifications. */
  observeFacts(): Promise<void>;
  /** Updates the metrics of the queues. */
  observeQueues(): void;
}

/** Subscribes everything that follows the daemon as a whole to its events. */
export function subscribeToDaemon({ events, metrics }: DaemonContext, subscribers: DaemonSubscribers): void {
  const { link, facts, notifications, reports } = subscribers;
  events.subscribe({
    // 1. Requests: metrics, and what people should see before the next sample of the budgets.
    onQueueEvent(event) {
      metrics.queueEvent(event);
      if (event.kind !== 'attempt' || event.outcome === 'refused') {
        events.publish.onChange?.('budget');
      }
    },
    onPassEnd() {
      void subscribers.observeFacts();
      subscribers.observeQueues();
    },
    // 2. This replica has other organizations, other states of them, or another configuration.
    onStateChange(id) {
      link?.changed(id);
      facts.markChanged(id);
      events.publish.onChange?.(organizationTopic(id));
    },
    onOrganization(id) {
      link?.show(id);
      facts.forget(id);
      events.publish.onStateChange?.(id);
    },
    onConfigurationProblem() {
      events.publish.onChange?.('configuration');
      void reports.publish();
      void subscribers.observeFacts();
    },
    // 3. What replicas tell each other.
    onReportsStored: () => link?.announce('configuration'),
    onNotificationsStored: () => link?.announce('notifications'),
    onRemoteNotifications: () => notifications.wakeHere(),
    onRemoteReports() {
      reports.markChanged();
      void subscribers.observeFacts();
    },
  });
}
