/** Reports what is wrong now, for notifications: from the state of the daemon, and from its passes. */
import type { ClusterEvents } from '../../clusters/run/events.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Logger } from '../../log.ts';
import type { PassEvents } from '../../reconcile/daemon/pass.ts';
import type { NotificationEvent } from '../../store/notifications.ts';
import type { Store } from '../../store/store.ts';
import type { Backend } from '../../views/model/backend.ts';
import { FactCollector, type FactCollectorOptions } from './collector.ts';
import { changeRequestEvents } from './events.ts';
import { PassActivity } from './pass-activity.ts';
import { WeeklyDigests } from './weekly-digest.ts';

/** Parts of the daemon that the reports need. */
interface ReportingContext {
  readonly config: Pick<Config, 'platform' | 'notifications'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Receiver of reports and events. */
interface ReportReceiver {
  /** Plans deliveries of what was stored. */
  wake(): void;
  addEvents(events: readonly NotificationEvent[]): Promise<void>;
}

export class FactReporting {
  readonly #context: ReportingContext;
  readonly #notifications: ReportReceiver;
  readonly #activity = new Map<string, PassActivity>();
  #collector: FactCollector | null = null;
  #digests: WeeklyDigests | null = null;
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

  /** Returns the listener for the issue clusters of an organization. */
  clusterEvents(organization: string): ClusterEvents {
    return changeRequestEvents(organization, this.#context.clock, (event) => this.#notifications.addEvents([event]));
  }

  /** Starts to observe the daemon. */
  start(backend: Backend, { isOwned, configuration }: Pick<FactCollectorOptions, 'isOwned' | 'configuration'>): void {
    const { store, log, config } = this.#context;
    const collector = new FactCollector({
      ...{ backend, log, notifications: store.notifications(), isOwned, configuration },
      onReported: () => this.#notifications.wake(),
      activity: this.#activity,
      platform: new URL(config.platform.baseUrl).origin,
    });
    this.#collector = collector;
    this.#digests = new WeeklyDigests({
      ...{ backend, config: config.notifications, note: store.note('digest') },
      // A digest that cannot be stored is written again.
      addEvents: async (events) => {
        await store.notifications().addEvents(events);
        this.#notifications.wake();
      },
    });
    this.#stopListening = backend.onChange((topic) => collector.markChanged(topic));
  }

  /** Reports everything about an organization again: another replica may have reported something else meanwhile. */
  forget(organization: string): void {
    this.#collector?.forget(organization);
  }

  /** Reports what has changed. `isShared`: reports what belongs to no organization, and writes the digests. */
  async observe(isShared: boolean): Promise<void> {
    await this.#collector?.collect(isShared);
    try {
      await (isShared ? this.#digests : null)?.write(this.#context.clock.now());
    } catch (error) {
      this.#context.log.debug({ reason: messageOf(error) }, 'cannot write the weekly digests');
    }
  }

  /** Stops. What the shutdown interrupts is not reported. */
  async stop(): Promise<void> {
    this.#stopListening();
    const collector = this.#collector;
    this.#collector = null;
    this.#digests = null;
    await collector?.idle();
  }
}
