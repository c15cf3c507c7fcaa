/** Notifications of the daemon: the notifier, and a delivery loop for each channel. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import { WakeUpSignal } from '../core/wake-up-signal.ts';
import type { Channel } from '../notify/channel.ts';
import { channelReporter, type DeliveryEvents } from '../notify/delivery-loop.ts';
import { buildNotification } from '../notify/messages.ts';
import { openChannel } from '../notify/open-channel.ts';
import { createRedactor } from '../redact.ts';
import type { Lease } from '../store/leases.ts';
import type { Condition, Notifications } from '../store/notifications.ts';
import { NotificationSender } from './notification-sender.ts';
import type { DaemonContext } from './organization/feature.ts';

/** Notifications of all organizations. */
export class DaemonNotifications {
  readonly #context: DaemonContext;
  readonly #channels: readonly Channel[];
  readonly #notifications: Notifications;
  readonly #changed = new WakeUpSignal();
  /** Null: another replica sends, or nobody. */
  #sender: NotificationSender | null = null;

  constructor(context: DaemonContext, channels: readonly Channel[]) {
    this.#context = context;
    this.#channels = channels;
    this.#notifications = context.store.notifications();
    context.metrics.channels(channels.map(({ name }) => name));
  }

  /** Starts to send under a lease, until `pause`. Forgets what all but these reporters and the channels have reported. */
  async start(lease: Lease, reporters: readonly string[] | null): Promise<void> {
    const { store, clock, dryRun, config } = this.#context;
    const notifications = store.fenced(lease).notifications();
    await this.#retain(notifications, reporters);
    await notifications.recover(clock.now());
    if (dryRun || lease.lost.aborted) {
      return;
    }
    const settings = { publicUrl: config.ui.publicUrl ?? null, templates: config.notifications.templates };
    const redact = createRedactor(config.secrets);
    this.#sender = new NotificationSender({
      ...{ context: this.#context, lease, notifications, channels: this.#channels, newId, changed: this.#changed },
      render: (attempt) => buildNotification(attempt, { ...settings, redact }, clock.now()),
      events: this.#events(),
      onFiring: (firing) => this.#showFiring(firing),
      onError: (error) => this.#onError(error),
    });
  }

  /** Forgets what all but these reporters and the channels have reported, after organizations were removed. */
  async retain(lease: Lease, reporters: readonly string[] | null): Promise<void> {
    await this.#retain(this.#context.store.fenced(lease).notifications(), reporters).catch((error: unknown) =>
      this.#onError(error),
    );
    this.wake();
  }

  /** Stops sending, and waits for messages in flight. */
  async pause(milliseconds: number): Promise<void> {
    const sender = this.#sender;
    this.#sender = null;
    await sender?.stop(milliseconds);
    this.#context.metrics.firing([]);
  }

  /** Plans deliveries of what was stored, here or at the replica that sends. */
  wake(): void {
    this.wakeHere();
    if (this.#sender === null) {
      this.#context.events.publish.onNotificationsStored?.();
    }
  }

  /** Plans deliveries of what was stored, if this replica sends. */
  wakeHere(): void {
    this.#changed.notify();
  }

  /** Closes the channels, after `pause`. */
  async close(): Promise<void> {
    await Promise.all(this.#channels.map((channel) => channel.close()));
  }

  /** `reporters`: null if not all are known, so that none is forgotten. */
  async #retain(notifications: Notifications, reporters: readonly string[] | null): Promise<void> {
    if (reporters === null) {
      return;
    }
    const channels = this.#channels.map(({ name }) => channelReporter(name));
    await notifications.retainReporters([...reporters, ...channels]);
  }

  #showFiring(firing: readonly Condition[]): void {
    this.#context.metrics.firing(firing.map(({ fact }) => fact.code));
    this.#changedPages();
  }

  #events(): DeliveryEvents {
    const { log, metrics } = this.#context;
    return {
      onSent: (channel, milliseconds) => {
        log.debug({ channel, milliseconds: Math.round(milliseconds) }, 'notification sent');
        metrics.notification(channel, 'sent');
        this.#changedPages();
      },
      onFailed: (channel, { message, failure }, isFinal) => {
        log.warn({ channel, failure, isFinal, reason: message }, 'notification could not be sent');
        metrics.notification(channel, isFinal ? 'given-up' : 'failed');
        this.#changedPages();
      },
      onError: (error) => this.#onError(error),
    };
  }

  #changedPages(): void {
    this.#context.events.publish.onChange?.('notifications', false);
  }

  #onError(error: unknown): void {
    this.#context.log.error({ reason: messageOf(error) }, 'notifications cannot use the store');
  }
}

/** Opens the channels. Throws ConfigError if the settings of one cannot be used. */
export async function openChannels(
  { notifications }: Pick<Config, 'notifications'>,
  version: string,
  clock: Clock,
): Promise<readonly Channel[]> {
  const shared = { userAgent: `octavo/${version}`, clock };
  return Promise.all(
    Object.entries(notifications.channels).map(([name, channel]) => openChannel(channel, { ...shared, name })),
  );
}

function newId(): string {
  return `ntf_${randomBytes(12).toString('hex')}`;
}
