/** Reports what is wrong now, for notifications: from the state of the daemon, and from its passes. */
import type { ClusterEvents } from '../../clusters/events.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Logger } from '../../log.ts';
import type { PassEvents } from '../../reconcile/pass.ts';
import type { Lease } from '../../store/leases.ts';
import type { Notifications } from '../../store/notifications.ts';
import type { Store } from '../../store/store.ts';
import { untilStored } from '../../store/until-stored.ts';
import type { Backend } from '../../web/model/backend.ts';
import { FactCollector } from './collector.ts';
import { changeRequestEvents } from './events.ts';
import { PassActivity } from './pass-activity.ts';

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
export interface ReportLeases {
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
        ...{ clock, signal: stopping },
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
      ...{ backend, log, notifications: store.notifications() },
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
