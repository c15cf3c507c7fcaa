/** Tells which deliveries wait, and which have arrived. */
import type { NotificationDelivery } from '../../store/notifications.ts';

/** Returns true if the channel has, or may have, a delivery. */
export function hasArrived({ state, mayHaveArrived }: Pick<NotificationDelivery, 'state' | 'mayHaveArrived'>): boolean {
  return state === 'sent' || state === 'open' || mayHaveArrived;
}

/** Returns true if a delivery waits to be sent. */
export function isQueued({ state }: Pick<NotificationDelivery, 'state'>): boolean {
  return state === 'queued' || state === 'open' || state === 'refused';
}
