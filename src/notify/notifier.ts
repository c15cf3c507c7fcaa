/** Turns what is true into conditions, and conditions and events into deliveries. */
import type { NotificationsConfig } from '../config/notifications.ts';
import type { Clock } from '../core/clock.ts';
import type { WakeUpSignal } from '../core/wake-up-signal.ts';
import type { Condition, FactReport, NotificationEvent, Notifications } from '../store/notifications.ts';
import type { Channel } from './channels/channel.ts';
import { planChange } from './model/plan-change.ts';
import { channelRules } from './routes.ts';

export interface NotifierOptions {
  readonly notifications: Notifications;
  readonly config: Pick<NotificationsConfig, 'for' | 'groupInterval' | 'groupWait' | 'quietHours' | 'routes'>;
  readonly channels: readonly Pick<Channel, 'name' | 'isPager'>[];
  readonly clock: Clock;
  readonly newId: () => string;
  /** Wakes the notifier. */
  readonly changed: WakeUpSignal;
  /** Returns false while changes by other replicas do not wake it. Default: true. */
  readonly isWoken?: () => boolean;
  /** Notified when deliveries were created. */
  readonly created: WakeUpSignal;
  /** Called with all conditions that fire. */
  readonly onFiring: (conditions: readonly Condition[]) => void;
  /** Called when the state cannot be used. The notifier tries again. */
  readonly onError: (error: unknown) => void;
}

/** Milliseconds for which changes are collected. */
const SETTLE = 1000;
/** Longest wait in milliseconds, because the wall clock may be set meanwhile. */
const LONGEST_WAIT = 60_000;
/** Longest wait while changes by other replicas do not wake it. */
const CHECK_INTERVAL = 5000;
const RETRY = 10_000;

/** The notifier. What it does follows from the stored state alone, so that a restart loses and repeats nothing. */
export class Notifier {
  readonly #options: NotifierOptions;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Reports what is true now. */
  async report(report: FactReport): Promise<void> {
    if (await this.#options.notifications.report(report)) {
      this.#options.changed.notify();
    }
  }

  /** Adds events that belong to no other record. */
  async addEvents(events: readonly NotificationEvent[]): Promise<void> {
    if (events.length > 0) {
      await this.#options.notifications.addEvents(events);
      this.#options.changed.notify();
    }
  }

  /** Moves conditions on and creates their deliveries. Returns when it has to be called again; null: after a change. */
  async advance(): Promise<number | null> {
    const { notifications, config, channels, clock, newId, created, onFiring } = this.#options;
    const now = clock.now();
    const rules = channelRules(config, channels, now);
    const settings = { ...config, channels: rules, durations: config.for };
    let plan: ReturnType<typeof planChange> | null = null;
    await notifications.advance(now, (state) => {
      plan = planChange(state, settings, now, newId);
      return plan.change;
    });
    const { change, wakeAt, firing } = plan as unknown as ReturnType<typeof planChange>;
    onFiring(firing);
    if (change.created.length > 0) {
      created.notify();
    }
    return wakeAt;
  }

  /** Works until the signal aborts. */
  async run(stopping: AbortSignal): Promise<void> {
    const { clock, changed, onError, isWoken = () => true } = this.#options;
    while (!stopping.aborted) {
      const seen = changed.count;
      let wait = isWoken() ? LONGEST_WAIT : CHECK_INTERVAL;
      try {
        const wakeAt = await this.advance();
        wait = wakeAt === null ? wait : Math.min(wait, Math.max(0, wakeAt - clock.now()));
      } catch (error) {
        onError(error);
        wait = RETRY;
      }
      await changed.wait(seen, wait, clock, stopping);
      if (changed.count !== seen) {
        await clock.sleep(SETTLE, stopping).catch(() => {});
      }
    }
  }
}
