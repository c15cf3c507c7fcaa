/** Conditions, deliveries and silences that survive a restart. See docs/notifications.md. */
import type { ConditionCode } from '../core/condition-codes.ts';

/** Subject of a condition. A null field means all of them. */
export interface Scope {
  readonly organization: string | null;
  /** Name of the connection; organizations with the same token share it. */
  readonly token: string | null;
  /** Origin of the platform. */
  readonly platform: string | null;
}

/** Something that is true now and somebody may want to know. */
export interface Fact {
  readonly code: ConditionCode;
  readonly scope: Scope;
  /** Tells conditions with the same code and scope apart, such as the name of a source; otherwise empty. */
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** One sentence, without secrets. */
  readonly summary: string;
  /** Further lines. */
  readonly details: readonly string[];
  /** Path of the page that shows it; null if there is none. */
  readonly path: string | null;
}

export type ConditionState = 'pending' | 'firing' | 'resolved';

/** One episode of a condition. */
export interface Condition {
  /** Unique for each episode. */
  readonly id: string;
  readonly fact: Fact;
  readonly state: ConditionState;
  /** Time from which `for` counts: the start, or the end of what inhibited it. */
  readonly since: number;
  readonly firedAt: number | null;
  readonly resolvedAt: number | null;
  /** Time since when it is not true any more, while it still fires; null if it is true. */
  readonly clearSince: number | null;
  /** Starts of this condition within the last hour, oldest first, in all episodes. */
  readonly starts: readonly number[];
}

export type DeliveryKind = 'firing' | 'resolved' | 'reminder' | 'event' | 'digest' | 'test';

/**
 * `open`: an attempt has begun, and its answer is not known. `refused`: the channel has taken none of the attempts.
 * `sent`: the channel has it. `failed`: given up. `cancelled`: not needed any more.
 */
export type DeliveryState = 'queued' | 'open' | 'refused' | 'sent' | 'failed' | 'cancelled';

/** A message to one channel. Its content is rendered when it is sent. */
export interface NotificationDelivery {
  /** Stays the same for all attempts: receivers that know it drop repeated ones. */
  readonly id: string;
  readonly channel: string;
  /** First delivery about the same conditions: further ones are told in its thread. */
  readonly thread: string;
  readonly kind: DeliveryKind;
  /** Ids of conditions or events. */
  readonly about: readonly string[];
  readonly createdAt: number;
  readonly state: DeliveryState;
  /** True if an attempt got no answer: the channel may have it. */
  readonly mayHaveArrived: boolean;
}

/** Record that a channel was notified of a condition. */
export interface Notified {
  readonly channel: string;
  /** Id of the episode. */
  readonly condition: string;
  /** The delivery that announced it. */
  readonly thread: string;
  /** Time of the last delivery about it that says that it fires. */
  readonly toldAt: number;
  /** NotificationDelivery that says that it is resolved; null if there is none yet. */
  readonly resolved: string | null;
}
