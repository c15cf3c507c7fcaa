/** Actions of people on deliveries of notifications. Each of them is recorded in the audit. */
import type { Clock } from '../core/clock.ts';
import { ConfigError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { type DeliveryRequest, deliveryRequest } from '../notify/deliveries.ts';
import { counted } from '../plan/render/words.ts';
import { type Actor, DAEMON_HISTORY } from '../store/history.ts';
import type { Store } from '../store/store.ts';
import type { AuditWriter } from './audit-writer.ts';
import type { DaemonNotifications } from './notifications.ts';

export interface DeliveryActionOptions {
  readonly store: Store;
  /** Names of the channels. */
  readonly channels: readonly string[];
  readonly clock: Pick<Clock, 'now'>;
  readonly audit: AuditWriter;
  readonly notifications: Pick<DaemonNotifications, 'wake'>;
  /** Called after every action. */
  readonly onAudited: () => void;
}

export class DeliveryActions {
  readonly #options: DeliveryActionOptions;

  constructor(options: DeliveryActionOptions) {
    this.#options = options;
  }

  /** Handles a request. Throws ConfigError and StoreError. */
  async handle(actor: Actor, request: DeliveryRequest): Promise<JsonObject> {
    const { channel } = deliveryRequest.parse(request);
    const { store, channels, clock, audit, notifications, onAudited } = this.#options;
    if (channel !== null && !channels.includes(channel)) {
      throw new ConfigError(`no channel ${JSON.stringify(channel)} is configured; channels: ${channels.join(', ')}`);
    }
    const events = await store.notifications().retryEvents(channel);
    notifications.wake();
    const about = { action: 'notify retry', subject: channel ?? 'all channels', reason: '', actor };
    const detail = counted(events, 'event');
    await audit.write(store.history(DAEMON_HISTORY), { ...about, at: clock.now(), outcome: 'done', detail });
    onAudited();
    return { events };
  }
}
