/** Notifications of the daemon: the notifier, and a delivery loop for each channel. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { type Clock, endsWithin } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import { WakeUpSignal } from '../core/wake-up-signal.ts';
import type { Channel } from '../notify/channels/channel.ts';
import { openChannel } from '../notify/channels/open-channel.ts';
import { buildNotification } from '../notify/messages/build-notification.ts';
import { Notifier } from '../notify/notifier.ts';
import { channelReporter, type DeliveryEvents, DeliveryLoop } from '../notify/outbox/delivery-loop.ts';
import { createRedactor } from '../redact.ts';
import type { FactReport, NewSilence, NotificationEvent, Notifications } from '../store/notifications.ts';
import type { DaemonContext } from './feature.ts';

/** Notifications of all organizations. */
export class DaemonNotifications {
  readonly #context: DaemonContext;
  readonly #channels: readonly Channel[];
  readonly #notifications: Notifications;
  readonly #notifier: Notifier;
  readonly #loops: readonly DeliveryLoop[];
  readonly #changed = new WakeUpSignal();
  readonly #onChange: () => void;
  #running: readonly Promise<void>[] = [];

  /** `onChange`: called when pages about notifications may show something else. */
  constructor(context: DaemonContext, channels: readonly Channel[], onChange: () => void) {
    const { config, clock, random, store, metrics } = context;
    const settings = { publicUrl: config.ui.publicUrl ?? null, templates: config.notifications.templates };
    const redact = createRedactor(config.secrets);
    const created = new WakeUpSignal();
    this.#context = context;
    this.#channels = channels;
    this.#onChange = onChange;
    this.#notifications = store.notifications();
    this.#notifier = new Notifier({
      ...{ notifications: this.#notifications, config: config.notifications, channels, clock, newId, created },
      changed: this.#changed,
      onFiring: (firing) => {
        metrics.firing(firing.map(({ fact }) => fact.code));
        onChange();
      },
      onError: (error) => this.#onError(error),
    });
    this.#loops = channels.map(
      (channel) =>
        new DeliveryLoop({
          ...{ channel, notifications: this.#notifications, clock, random, created, ended: this.#changed },
          render: (attempt) => buildNotification(attempt, { ...settings, redact }, clock.now()),
          events: this.#events(),
        }),
    );
  }

  /** Starts to send. Forgets what all but these reporters and the channels have reported. */
  async start(reporters: readonly string[]): Promise<void> {
    const { clock, stopping, abort, dryRun } = this.#context;
    const channels = this.#channels.map(({ name }) => channelReporter(name));
    await this.#notifications.retainReporters([...reporters, ...channels]);
    await this.#notifications.recover(clock.now());
    if (!dryRun) {
      this.#running = [
        this.#notifier.run(stopping),
        ...this.#loops.map((loop) => loop.run(stopping, abort).catch((error: unknown) => this.#onError(error))),
      ];
    }
  }

  /** Reports what is true now. Failures are logged. */
  async report(report: FactReport): Promise<void> {
    await this.#notifier.report(report).catch((error: unknown) => this.#onError(error));
  }

  /** Adds events that belong to no other record. Failures are logged. */
  async addEvents(events: readonly NotificationEvent[]): Promise<void> {
    await this.#notifier.addEvents(events).catch((error: unknown) => this.#onError(error));
  }

  /** Plans deliveries of events that were stored with another record. */
  wake(): void {
    this.#changed.notify();
  }

  /** Adds a silence, and returns its id. */
  async silence(silence: NewSilence): Promise<string> {
    const id = newId();
    await this.#notifications.silence(id, silence);
    this.wake();
    return id;
  }

  /** Ends a silence. Returns false if there is none that lasts. */
  async endSilence(id: string): Promise<boolean> {
    const isEnded = await this.#notifications.endSilence(id, this.#context.clock.now());
    this.wake();
    return isEnded;
  }

  /** Waits for messages in flight, and closes the channels. What was not sent is sent after the next start. */
  async stop(milliseconds: number): Promise<void> {
    await endsWithin(this.#context.clock, milliseconds, this.#running);
    await Promise.all(this.#channels.map((channel) => channel.close()));
  }

  #events(): DeliveryEvents {
    const { log, metrics } = this.#context;
    return {
      onSent: (channel, milliseconds) => {
        log.debug({ channel, milliseconds: Math.round(milliseconds) }, 'notification sent');
        metrics.notification(channel, 'sent');
        this.#onChange();
      },
      onFailed: (channel, { message, failure }, isFinal) => {
        log.warn({ channel, failure, isFinal, reason: message }, 'notification could not be sent');
        metrics.notification(channel, isFinal ? 'given-up' : 'failed');
        this.#onChange();
      },
      onError: (error) => this.#onError(error),
    };
  }

  #onError(error: unknown): void {
    this.#context.log.error({ reason: messageOf(error) }, 'notifications cannot use the state file');
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
