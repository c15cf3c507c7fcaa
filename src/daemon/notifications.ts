/** Notifications of the daemon, which one replica of a fleet sends: the notifier, and a delivery loop for each channel. */

import { randomBytes } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { type Clock, endsWithin, WakeUpSignal } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import type { LeaseWork } from '../fleet/fleet-leases.ts';
import type { Logger } from '../log.ts';
import type { Channel } from '../notify/channel.ts';
import { channelReporter, type DeliveryEvents, DeliveryLoop } from '../notify/delivery-loop.ts';
import { buildNotification, type Notification } from '../notify/messages.ts';
import { Notifier, type NotifierOptions } from '../notify/notifier.ts';
import { openChannel } from '../notify/open-channel.ts';
import { createRedactor } from '../redact.ts';
import type { Lease } from '../store/leases.ts';
import type { Condition, DeliveryAttempt, Notifications } from '../store/notifications.ts';
import { IN_FLIGHT } from './fleet/organizations.ts';
import type { DaemonContext } from './organization/feature.ts';

interface NotificationSenderOptions {
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

class NotificationSender {
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
      notifications,
      config: config.notifications,
      channels,
      clock,
      newId,
      changed,
      created,
      onFiring,
      onError,
      isWoken: () => options.context.store.fleet()?.signals.isConnected ?? true,
    });
    const loops = channels.map(
      (channel) =>
        new DeliveryLoop({
          channel,
          notifications,
          clock,
          random,
          created,
          render,
          events,
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
      context: this.#context,
      lease,
      notifications,
      channels: this.#channels,
      newId,
      changed: this.#changed,
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

interface SharedWorkOptions {
  readonly notifications: Pick<DaemonNotifications, 'start' | 'retain' | 'pause'>;
  /** Returns the names of the reporters of the configuration; null if not all are known. */
  readonly reporters: () => readonly string[] | null;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds before work that could not be started is started again. */
const RETRY = 5000;

export class SharedWork implements LeaseWork {
  readonly #options: SharedWorkOptions;
  #lease: Lease | null = null;
  #hasStarted = false;
  /** Settles when the last start or end has been carried out. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: SharedWorkOptions) {
    this.#options = options;
  }

  /** Lease of the work; null if this replica does not have it, or has not started. */
  get lease(): Lease | null {
    return this.#hasStarted && this.#lease?.lost.aborted === false ? this.#lease : null;
  }

  begin(lease: Lease): void {
    this.#lease = lease;
    if (this.#hasStarted) {
      void this.#startAlone(lease);
    }
  }

  async end(): Promise<void> {
    this.#lease = null;
    await this.#last.catch(() => undefined);
    await this.#options.notifications.pause(IN_FLIGHT);
  }

  /** Starts the work, now or once the lease is claimed. Throws StoreError. */
  async start(): Promise<void> {
    this.#hasStarted = true;
    if (this.#lease !== null) {
      await this.#start(this.#lease);
    }
  }

  /** Forgets what organizations have reported that are not configured any more. */
  async forgetRemoved(): Promise<void> {
    const { notifications, reporters } = this.#options;
    const { lease } = this;
    if (lease !== null) {
      await notifications.retain(lease, reporters());
    }
  }

  /** Starts the work, again and again until it succeeds or the lease ends. Never rejects. */
  async #startAlone(lease: Lease): Promise<void> {
    const { clock, log } = this.#options;
    while (this.#lease === lease && !lease.lost.aborted) {
      try {
        await this.#start(lease);
        return;
      } catch (error) {
        log.error({ reason: messageOf(error), retryIn: RETRY }, 'notifications cannot be started; retrying');
        await clock.sleep(RETRY, lease.lost).catch(() => undefined);
      }
    }
  }

  #start(lease: Lease): Promise<void> {
    const { notifications, reporters } = this.#options;
    this.#last = this.#last.catch(() => undefined).then(() => notifications.start(lease, reporters()));
    return this.#last;
  }
}
