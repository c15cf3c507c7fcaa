/** Content of a notification, without markup: every channel escapes it for itself. */
import type { ConditionCode, EventCode, Severity } from '../../core/condition-codes.ts';

/** `firing`: it is true now; `resolved`: it is over; `event`: it happened. */
export type ItemState = 'firing' | 'resolved' | 'event';

/** One condition or event of a message. All texts are one line, without secrets and control characters. */
export interface MessageItem {
  readonly state: ItemState;
  /** Id of the organization; null if it is about the daemon or the platform. */
  readonly organization: string | null;
  readonly summary: string;
  readonly details: readonly string[];
  /** Absolute URL of the page that shows it; null without `ui.publicUrl`. */
  readonly url: string | null;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly resolvedAt: number | null;
}

export interface Notification {
  readonly code: ConditionCode | EventCode;
  readonly severity: Severity;
  /** `resolved` only if every item is. */
  readonly state: ItemState;
  /** One line, such as `Changes wait for approval: acme and 3 more`. */
  readonly title: string;
  /** At most 20, firing ones first. */
  readonly items: readonly MessageItem[];
  /** Number of further items. */
  readonly more: number;
  /** Conditions that this one explains and that are held back meanwhile. */
  readonly inhibited: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}
