/** Reports what is wrong now and what was done, for notifications: from the state of the daemon and from its events. */
import type { ChangeRequestEvent, ClusterEvents } from '../../clusters/events.ts';
import type { Config, OrganizationConfig } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Logger } from '../../log.ts';
import { hasCommitStatuses } from '../../notify/status-sender.ts';
import { counted } from '../../plan/render/words.ts';
import type { PassEvents } from '../../reconcile/pass.ts';
import type { NewAuditEntry, NewPass } from '../../store/history.ts';
import type { Lease } from '../../store/leases.ts';
import type { NotificationEvent, Notifications } from '../../store/notifications.ts';
import type { Store } from '../../store/store.ts';
import { untilStored } from '../../store/until-stored.ts';
import type { Backend } from '../../web/model/backend.ts';
import { organizationPath, passPath, planPath } from '../../web/model/paths.ts';
import { shortChecksum, shortCommit } from '../../web/model/words.ts';
import { FactCollector, PassActivity } from './collector.ts';
import { detailLines, oneLine } from './facts.ts';

/** Parts of the daemon that the reports need. */
interface ReportingContext {
  readonly config: Pick<Config, 'platform'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Receiver of reports and events. */
interface ReportReceiver {
  /** Plans deliveries of what was stored. */
  wake(): void;
}

/** Leases of this replica: what it reports is written only while it has them. */
interface ReportLeases {
  /** Returns the lease of an organization; null if this replica does not have it. */
  readonly organization: (id: string) => Lease | null;
  /** Returns the lease of what belongs to no organization; null if this replica does not have it. */
  readonly shared: () => Lease | null;
}

export class FactReporting {
  readonly #context: ReportingContext;
  readonly #notifications: ReportReceiver;
  readonly #activity = new Map<string, PassActivity>();
  #collector: FactCollector | null = null;
  #stopListening: () => void = () => undefined;

  constructor(context: ReportingContext, notifications: ReportReceiver) {
    this.#context = context;
    this.#notifications = notifications;
  }

  /** Returns the listener for the passes of an organization. */
  passEvents(organization: string): PassEvents {
    const activity = new PassActivity(this.#context.clock);
    this.#activity.set(organization, activity);
    return activity.events();
  }

  /**
   * Returns the listener for the issue clusters of an organization. `notifications`: fenced by its lease; `stopping` aborts
   * when the organization stops.
   */
  clusterEvents(
    organization: string,
    notifications: Pick<Notifications, 'addEvents'>,
    stopping: AbortSignal,
  ): ClusterEvents {
    const { clock, log } = this.#context;
    const report = (error: unknown, message: string) => log.warn({ organization, reason: messageOf(error) }, message);
    return changeRequestEvents(organization, clock, (event) => {
      untilStored(() => notifications.addEvents([event]), {
        clock,
        signal: stopping,
        onError: (error) => report(error, 'cannot store an event; retrying'),
      }).then(
        () => this.#notifications.wake(),
        (error: unknown) => report(error, 'cannot store an event'),
      );
    });
  }

  /** Starts to observe the daemon. */
  start(backend: Backend, leases: ReportLeases): void {
    const { store, log, config } = this.#context;
    const collector = new FactCollector({
      backend,
      log,
      notifications: store.notifications(),
      writer: (organization) => {
        const lease = organization === null ? leases.shared() : leases.organization(organization);
        return lease === null
          ? null
          : { epoch: lease.epoch, report: (report) => store.fenced(lease).notifications().report(report) };
      },
      onReported: () => this.#notifications.wake(),
      activity: this.#activity,
      platform: new URL(config.platform.baseUrl).origin,
    });
    this.#collector = collector;
    this.#stopListening = backend.onChange((topic) => collector.markChanged(topic));
  }

  /** Reports everything about an organization again: another replica may have reported something else meanwhile. */
  forget(organization: string): void {
    this.#collector?.forget(organization);
  }

  /** Reports what has changed. */
  async observe(): Promise<void> {
    await this.#collector?.collect();
  }

  /** Stops. What the shutdown interrupts is not reported. */
  async stop(): Promise<void> {
    this.#stopListening();
    const collector = this.#collector;
    this.#collector = null;
    await collector?.idle();
  }
}

/** Returns the reporters of a configuration; facts of others are of earlier ones. */
export function configuredReporters(
  organizations: readonly OrganizationConfig[],
  isDryRun: boolean,
): readonly string[] {
  const ofOrganizations = organizations.flatMap((config) => [
    `organization/${config.id}`,
    `queue/${config.id}`,
    ...(config.source === null ? [] : [`passes/${config.id}`, `plan/${config.id}`]),
    ...(config.conversations.sources.length === 0 ? [] : [`conversations/${config.id}`]),
    ...(config.clusters.enabled ? [`clusters/${config.id}`] : []),
    ...(!isDryRun && hasCommitStatuses(config) ? [`statuses/${config.id}`] : []),
  ]);
  return [...ofOrganizations, 'configuration', 'daemon', 'fleet'];
}

/** Returns the event of a commit that was applied completely; nothing for other passes. `number`: that of the pass. */
export function appliedEvents(organization: string, pass: NewPass, number: number): readonly NotificationEvent[] {
  const { commit, subject, author, counts, changes, checksum, endedAt, outcome } = pass;
  const applied = counts.applied ?? 0;
  const { create = 0, update = 0, move = 0, delete: deleted = 0 } = counts;
  // A pass may fail after it has applied everything, for example because it could not be recorded.
  const isComplete = outcome === 'done' || applied === create + update + move + deleted;
  if (!isComplete || applied === 0) {
    return [];
  }
  const what = `${counted(applied, 'change')} ${applied === 1 ? 'was' : 'were'} applied`;
  const of = commit === null ? '' : `: ${shortCommit(commit)} ${subject}`.trimEnd();
  const by = author === null ? '' : ` by ${author}`;
  const lines = changes.filter(({ status }) => status === 'applied').map((each) => `${each.action} ${each.address}`);
  return [
    {
      // Later passes of the same commit undo manual changes, which is a condition.
      id: `applied/${organization}/${commit ?? checksum}`,
      code: 'applied',
      organization,
      at: endedAt,
      summary: oneLine(`${what}${of}${by}`),
      details: detailLines(lines),
      path: passPath(organization, number),
    },
  ];
}

/** Returns the event of an approval or rejection; nothing for other actions. */
export function decisionEvents(organization: string, entry: NewAuditEntry): readonly NotificationEvent[] {
  const { action, subject, actor, reason, at, outcome } = entry;
  if (outcome !== 'done' || (action !== 'approve' && action !== 'reject')) {
    return [];
  }
  const code = action === 'approve' ? 'approved' : 'rejected';
  const who = actor.name === '' ? 'An unknown person' : actor.name;
  const why = reason === '' ? '' : `: ${reason}`;
  return [
    {
      id: `${code}/${organization}/${subject}/${at}`,
      code,
      organization,
      at,
      summary: oneLine(`${who} ${code} the plan ${shortChecksum(subject)}${why}`),
      details: [],
      path: planPath(organization, subject),
    },
  ];
}

/** Returns a listener that adds an event for each change request of a cluster that is opened or merged. */
export function changeRequestEvents(
  organization: string,
  clock: Pick<Clock, 'now'>,
  add: (event: NotificationEvent) => unknown,
): ClusterEvents {
  const path = organizationPath(organization, '/clusters');
  const toEvent = (code: NotificationEvent['code'], { request }: ChangeRequestEvent, summary: string) =>
    add({
      id: `${code}/${organization}/${request}`,
      code,
      organization,
      at: clock.now(),
      summary: oneLine(summary),
      details: [],
      path,
    });
  return {
    onOpened: (opened) =>
      toEvent(
        'change-request-opened',
        opened,
        `A change request was opened for the issue cluster ${opened.label}: ${opened.why}`,
      ),
    onMerged: (merged) =>
      toEvent('change-request-merged', merged, `The change request for the issue cluster ${merged.label} was merged`),
  };
}
