/** Reports what is wrong now, for notifications: from the state of the daemon, and from its passes. */
import type { PassEvents } from '../../reconcile/daemon/pass.ts';
import type { Backend } from '../../views/model/backend.ts';
import type { DaemonContext } from '../feature.ts';
import { FactCollector } from './collector.ts';
import { PassActivity } from './pass-activity.ts';

export class FactReporting {
  readonly #context: Pick<DaemonContext, 'config' | 'store' | 'clock' | 'log'>;
  readonly #onReported: () => void;
  readonly #activity = new Map<string, PassActivity>();
  #collector: FactCollector | null = null;
  #stopListening: () => void = () => undefined;

  /** `onReported`: called after what is true has changed. */
  constructor(context: Pick<DaemonContext, 'config' | 'store' | 'clock' | 'log'>, onReported: () => void) {
    this.#context = context;
    this.#onReported = onReported;
  }

  /** Returns the listener for the passes of an organization. */
  passEvents(organization: string): PassEvents {
    const activity = new PassActivity(this.#context.clock);
    this.#activity.set(organization, activity);
    return activity.events();
  }

  /** Starts to observe the daemon. Returns the names of the reporters. */
  start(backend: Backend): readonly string[] {
    const { store, log, config } = this.#context;
    const collector = new FactCollector({
      ...{ backend, log, onReported: this.#onReported, notifications: store.notifications() },
      activity: this.#activity,
      platform: new URL(config.platform.baseUrl).origin,
    });
    this.#collector = collector;
    this.#stopListening = backend.onChange((topic) => collector.markChanged(topic));
    return collector.reporters;
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
