/** Notifications of the daemon, which one replica of a fleet sends: the notifier, and a delivery loop for each channel. */

import { randomBytes } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { type Clock, endsWithin, WakeUpSignal } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import type { LeaseWork } from '../fleet/fleet-leases.ts';
import type { Channel } from '../notify/channel.ts';
import { channelReporter, type DeliveryEvents, DeliveryLoop } from '../notify/delivery-loop.ts';
import { buildNotification } from '../notify/messages.ts';
import { Notifier } from '../notify/notifier.ts';
import { openChannel } from '../notify/open-channel.ts';
import { createRedactor } from '../redact.ts';
import type { Lease } from '../store/leases.ts';
import type { Condition } from '../store/notifications.ts';
import { IN_FLIGHT } from './fleet/organizations.ts';
import type { DaemonContext } from './organization/feature.ts';

/** Loops of the notifier and of the channels. */
interface Sending {
  /** Starts nothing new once it aborts. */
  readonly stopping: AbortController;
  /** Cancels messages in flight, too. */
  readonly abort: AbortController;
  readonly running: readonly Promise<void>[];
}

/** Milliseconds before work that could not be started is started again. */
const RETRY = 5000;

/** Notifications of all organizations, sent by the process that has the lease for work that exists once. */
export class DaemonNotifications implements LeaseWork {
  readonly #context: DaemonContext;
  readonly #channels: readonly Channel[];
  readonly #reporters: () => readonly string[] | null;
  readonly #changed = new WakeUpSignal();
  #lease: Lease | null = null;
  #hasStarted = false;
  /** Settles when the last start has been carried out. */
  #last: Promise<void> = Promise.resolve();
  /** Null: another replica sends, or nobody. */
  #sending: Sending | null = null;

  /** `reporters` returns the names of the reporters of the configuration; null if not all are known. */
  constructor(context: DaemonContext, channels: readonly Channel[], reporters: () => readonly string[] | null) {
    this.#context = context;
    this.#channels = channels;
    this.#reporters = reporters;
    context.metrics.channels(channels.map(({ name }) => name));
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

  /** Stops sending. What was not sent is sent after the next start, or by another replica. */
  async end(): Promise<void> {
    this.#lease = null;
    await this.#last.catch(() => undefined);
    const { clock, metrics } = this.#context;
    const sending = this.#sending;
    this.#sending = null;
    sending?.stopping.abort();
    if (sending !== null && !(await endsWithin(clock, IN_FLIGHT, sending.running))) {
      sending.abort.abort();
    }
    metrics.firing([]);
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
    const { lease } = this;
    if (lease !== null) {
      await this.#retainReporters(lease).catch((error: unknown) => this.#onError(error));
      this.wake();
    }
  }

  /** Plans deliveries of what was stored, here or at the replica that sends. */
  wake(): void {
    this.wakeHere();
    if (this.#sending === null) {
      this.#context.events.publish.onNotificationsStored?.();
    }
  }

  /** Plans deliveries of what was stored, if this replica sends. */
  wakeHere(): void {
    this.#changed.notify();
  }

  /** Closes the channels, after `end`. */
  async close(): Promise<void> {
    await Promise.all(this.#channels.map((channel) => channel.close()));
  }

  /** Starts the work, again and again until it succeeds or the lease ends. Never rejects. */
  async #startAlone(lease: Lease): Promise<void> {
    const { clock, log } = this.#context;
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
    this.#last = this.#last.catch(() => undefined).then(() => this.#startSending(lease));
    return this.#last;
  }

  async #startSending(lease: Lease): Promise<void> {
    const { store, clock, random, dryRun, config } = this.#context;
    const notifications = store.fenced(lease).notifications();
    await this.#retainReporters(lease);
    await notifications.recover(clock.now());
    if (dryRun || lease.lost.aborted) {
      return;
    }
    const { publicUrl = null } = config.ui;
    const settings = { publicUrl, templates: config.notifications.templates, redact: createRedactor(config.secrets) };
    const [stopping, abort] = [new AbortController(), new AbortController()];
    const signal = AbortSignal.any([stopping.signal, lease.lost]);
    const created = new WakeUpSignal();
    const notifier = new Notifier({
      notifications,
      config: config.notifications,
      channels: this.#channels,
      clock,
      newId: () => `ntf_${randomBytes(12).toString('hex')}`,
      changed: this.#changed,
      created,
      onFiring: (firing) => this.#showFiring(firing),
      onError: (error) => this.#onError(error),
      isWoken: () => store.fleet()?.signals.isConnected ?? true,
    });
    const loops = this.#channels.map((channel) =>
      new DeliveryLoop({
        channel,
        notifications,
        clock,
        random,
        created,
        render: (attempt) => buildNotification(attempt, settings, clock.now()),
        events: this.#events(),
        ended: this.#changed,
        left: () => lease.left(),
      })
        .run(signal, AbortSignal.any([abort.signal, lease.lost]))
        .catch((error: unknown) => this.#onError(error)),
    );
    this.#sending = { stopping, abort, running: [notifier.run(signal), ...loops] };
  }

  /** Forgets what all but the reporters of the configuration and the channels have reported. */
  async #retainReporters(lease: Lease): Promise<void> {
    const reporters = this.#reporters();
    if (reporters !== null) {
      const channels = this.#channels.map(({ name }) => channelReporter(name));
      await this.#context.store
        .fenced(lease)
        .notifications()
        .retainReporters([...reporters, ...channels]);
    }
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
    this.#context.events.publish.onChange?.('notifications');
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
