/** Conditions and deliveries that survive a restart. See docs/notifications.md. */
import type { ConditionCode } from '../core/condition-codes.ts';
import type { NotificationEvent } from './notification-events.ts';

export type { NotificationEvent };

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

/** Most details of a fact; the last one counts the rest. */
export const MAX_DETAILS = 10;

/** Returns the identity of a condition over all its episodes. */
export function factKey({ code, scope, subject }: Pick<Fact, 'code' | 'scope' | 'subject'>): string {
  return JSON.stringify([code, scope.organization, scope.token, scope.platform, subject]);
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
  /** True while it is pending and another condition explains it. */
  readonly isInhibited: boolean;
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
  /** First delivery about the same conditions: further ones follow in its thread. */
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
  /** Time of the last delivery that reports that it fires. */
  readonly notifiedAt: number;
  /** Delivery that reports that it is resolved; null if there is none yet. */
  readonly resolved: string | null;
}

/** Reference to a message at its channel. */
export type StoredReceipt = Readonly<Record<string, string>>;

/** A delivery as the pages show it. */
export interface DeliveryRecord extends NotificationDelivery {
  readonly attempts: number;
  /** Time of the next attempt; null once it has ended. */
  readonly nextAttemptAt: number | null;
  readonly endedAt: number | null;
  /** Reason of the last failure; null if there was none. */
  readonly reason: string | null;
}

/** An event, with the channels that have no delivery of it yet; null: not routed yet. */
export interface WaitingEvent {
  readonly event: NotificationEvent;
  readonly channels: readonly string[] | null;
}

/** State that the notifier plans with. */
export interface NotifierState {
  /** Everything that is true now, once per key. */
  readonly facts: readonly Fact[];
  /** Those that are not resolved, that were resolved lately, or whose end is not announced yet. */
  readonly conditions: readonly Condition[];
  /** Those that wait, and all of the threads in `notified`. */
  readonly deliveries: readonly NotificationDelivery[];
  readonly notified: readonly Notified[];
  /** Oldest first. */
  readonly events: readonly WaitingEvent[];
}

/** Changes of the notifier. Conditions and events that are not named stay as they are. */
export interface NotifierChange {
  readonly conditions: readonly Condition[];
  /** Ids of conditions that never fired and are not true any more. */
  readonly removed: readonly string[];
  readonly created: readonly NotificationDelivery[];
  readonly cancelled: readonly string[];
  /** Complete; null: no change. */
  readonly notified: readonly Notified[] | null;
  readonly events: readonly { readonly id: string; readonly channels: readonly string[] }[];
}

/** A delivery whose attempt has begun, with everything that its message needs. */
export interface DeliveryAttempt {
  readonly delivery: NotificationDelivery;
  readonly attempts: number;
  readonly firstAttemptAt: number;
  /** All conditions of its thread, as they are now. */
  readonly conditions: readonly Condition[];
  readonly events: readonly NotificationEvent[];
  /** Everything that is true now, once per key. */
  readonly facts: readonly Fact[];
  /** Of the first message of its thread that has one; null if there is none. */
  readonly receipt: StoredReceipt | null;
}

/**
 * Result of an attempt. `not-taken`: the channel does not have the message. `unknown`: it may have it. `failed`: no
 * further attempt.
 */
export type AttemptResult =
  | { readonly result: 'sent'; readonly receipt: StoredReceipt | null; readonly at: number }
  | { readonly result: 'not-taken' | 'unknown'; readonly reason: string; readonly nextAttemptAt: number }
  | { readonly result: 'failed'; readonly mayHaveArrived: boolean; readonly reason: string; readonly at: number };

/** Facts of one reporter: an organization, a connection, a channel or the daemon. */
export interface FactReport {
  readonly reporter: string;
  /** Everything that it knows to be true now. */
  readonly facts: readonly Fact[];
}

/** Selects deliveries, newest first. */
export interface DeliveryQuery {
  readonly channel?: string | undefined;
  /** True: only those that wait or have failed. */
  readonly isPending?: boolean | undefined;
  readonly limit: number;
}

/** Notifications of all organizations. Every method throws StoreError if the state cannot be used. */
export interface Notifications {
  /** Replaces the facts of a reporter. Returns true if that changed something. */
  report(report: FactReport): Promise<boolean>;
  /** Forgets the facts of all other reporters. */
  retainReporters(reporters: readonly string[]): Promise<void>;
  /** Adds events. `History.addPass`, `History.addAudit` and `OrganizationRecord.decide` add theirs themselves. */
  addEvents(events: readonly NotificationEvent[]): Promise<void>;
  /** Reads the state, and writes what `plan` returns for it, in one transaction. Then removes what exceeds the retention. */
  advance(now: number, plan: (state: NotifierState) => NotifierChange): Promise<void>;

  /**
   * Begins an attempt of the delivery of a channel that is due next, and returns it; null if none is due. Deliveries of
   * one thread are sent in their order.
   */
  begin(channel: string, now: number): Promise<DeliveryAttempt | null>;
  /** Ends an attempt, and replaces the facts of a reporter, in one transaction. */
  end(id: string, result: AttemptResult, report: FactReport): Promise<void>;
  /**
   * Lets the deliveries of a channel be sent again whose attempt has begun, as if nothing was sent: the answer to `begin`
   * was lost. No attempt of the channel may be under way.
   */
  cancelAttempts(channel: string, now: number): Promise<void>;
  /** Returns when the next delivery of a channel is due; null if none waits. */
  dueAt(channel: string): Promise<number | null>;
  /** Makes all deliveries due that wait. Those whose attempt has not ended may have arrived. */
  recover(now: number): Promise<void>;
  /**
   * Lets events be delivered again whose delivery was given up, to one channel or to all (null). Returns the number of
   * events. Conditions need none of it: they are announced again by themselves.
   */
  retryEvents(channel: string | null): Promise<number>;

  /** Returns conditions, firing ones first, then pending ones, then resolved ones, newest first. */
  conditions(limit: number): Promise<readonly Condition[]>;
  /** Returns what is true now, once per key. */
  facts(): Promise<readonly Fact[]>;
  deliveries(query: DeliveryQuery): Promise<readonly DeliveryRecord[]>;
  /** Returns the time of the last delivery that each channel took, by channel. */
  lastSent(): Promise<ReadonlyMap<string, number>>;
}

/** Number and age in milliseconds of the conditions, events and deliveries that are kept after their end. */
export const NOTIFICATION_RETENTION = { count: 10_000, age: 90 * 24 * 3_600_000 } as const;
