/** Sends notifications while this process has the lease for it: the notifier, and a delivery loop for each channel. */
import { type Clock, endsWithin } from '../core/clock.ts';
import { WakeUpSignal } from '../core/wake-up-signal.ts';
import type { Channel } from '../notify/channel.ts';
import { type DeliveryEvents, DeliveryLoop } from '../notify/delivery-loop.ts';
import type { Notification } from '../notify/messages.ts';
import { Notifier, type NotifierOptions } from '../notify/notifier.ts';
import type { Lease } from '../store/leases.ts';
import type { DeliveryAttempt, Notifications } from '../store/notifications.ts';
import type { DaemonContext } from './organization/feature.ts';

export interface NotificationSenderOptions {
  readonly context: Pick<DaemonContext, 'config' | 'clock' | 'random' | 'store'>;
  readonly lease: Lease;
  /** Notifications, fenced by the lease. */
  readonly notifications: Notifications;
  readonly channels: readonly Channel[];
  readonly render: (attempt: DeliveryAttempt) => Notification;
  readonly events: DeliveryEvents;
  readonly newId: () => string;
  /** Wakes the notifier. */
  readonly changed: WakeUpSignal;
  readonly onFiring: NotifierOptions['onFiring'];
  readonly onError: (error: unknown) => void;
}

export class NotificationSender {
  readonly #stopping = new AbortController();
  readonly #abort = new AbortController();
  readonly #clock: Clock;
  readonly #running: readonly Promise<void>[];

  /** Starts to send. */
  constructor(options: NotificationSenderOptions) {
    const { lease, notifications, channels, render, events, newId, changed, onFiring, onError } = options;
    const { config, clock, random } = options.context;
    const created = new WakeUpSignal();
    const stopping = AbortSignal.any([this.#stopping.signal, lease.lost]);
    const abort = AbortSignal.any([this.#abort.signal, lease.lost]);
    const notifier = new Notifier({
      ...{ notifications, config: config.notifications, channels, clock, newId, changed, created, onFiring, onError },
      isWoken: () => options.context.store.fleet()?.signals.isConnected ?? true,
    });
    const loops = channels.map(
      (channel) =>
        new DeliveryLoop({
          ...{ channel, notifications, clock, random, created, render, events },
          ended: changed,
          left: () => lease.left(),
        }),
    );
    this.#clock = clock;
    this.#running = [notifier.run(stopping), ...loops.map((loop) => loop.run(stopping, abort).catch(onError))];
  }

  /** Waits for messages in flight. What was not sent is sent after the next start, or by another replica. */
  async stop(milliseconds: number): Promise<void> {
    this.#stopping.abort();
    if (!(await endsWithin(this.#clock, milliseconds, this.#running))) {
      this.#abort.abort();
    }
  }
}
