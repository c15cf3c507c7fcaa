/** Input of messages: conditions and events, as stored. */
import type { EventCode } from '../../core/condition-codes.ts';
import type { Condition, DeliveryKind } from '../../store/notifications.ts';

/** Part of an event that a message shows. */
export interface EventContent {
  readonly code: EventCode;
  readonly organization: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** One sentence. */
  readonly summary: string;
  readonly details: readonly string[];
  /** Path of the page that shows it; null if there is none. */
  readonly path: string | null;
}

/** Content of a delivery: conditions, or events. */
export interface MessageContent {
  readonly kind: DeliveryKind;
  /** All conditions of the thread: a message is `resolved` only if every condition is. */
  readonly conditions: readonly Condition[];
  readonly events: readonly EventContent[];
  /** Number of conditions that these explain and that are held back meanwhile. */
  readonly inhibited: number;
}
