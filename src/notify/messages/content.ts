/** Input of messages. */
import type { DeliveryAttempt, NotificationDelivery } from '../../store/notifications.ts';

/** Content of a delivery: conditions, or events. An attempt to deliver it has all of it. */
export interface MessageContent extends Pick<DeliveryAttempt, 'conditions' | 'events' | 'facts'> {
  readonly delivery: Pick<NotificationDelivery, 'kind'>;
}
