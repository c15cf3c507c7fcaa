/** Words of a message that all channels for people share. */
import type { Severity } from '../../core/condition-codes.ts';
import { spanWords } from '../../plan/render/words.ts';
import { clockWords } from '../messages/times.ts';
import type { MessageItem, Notification } from '../model/notification.ts';

/** One condition or event, as lines of text. */
export interface ItemLines {
  /** Sentence about what is or was true, or happened. */
  readonly heading: string;
  /** Time or span of time. */
  readonly time: string;
  readonly details: readonly string[];
  readonly url: string | null;
}

/** A message as lines of text, without markup. */
export interface Layout {
  readonly heading: string;
  readonly severity: Severity;
  readonly isResolved: boolean;
  readonly items: readonly ItemLines[];
  /** Sentences about what the message leaves out. */
  readonly remarks: readonly string[];
}

/** Writes the lines of a message. */
export function layOut(message: Notification): Layout {
  const { state, severity, items, more, inhibited } = message;
  const isResolved = state === 'resolved';
  return {
    heading: isResolved ? `Resolved: ${message.title}` : message.title,
    severity,
    isResolved,
    items: items.map((item) => itemLines(item, message)),
    remarks: [
      ...(more === 0 ? [] : [`… and ${more} more`]),
      ...(inhibited === 0
        ? []
        : [`${inhibited === 1 ? '1 other condition has' : `${inhibited} other conditions have`} this cause`]),
    ],
  };
}

function itemLines(item: MessageItem, message: Notification): ItemLines {
  const subject = item.organization === null ? '' : `${item.organization}: `;
  // The heading says it already if everything is resolved.
  const state = item.state === 'resolved' && message.state !== 'resolved' ? 'Resolved: ' : '';
  return {
    heading: `${state}${subject}${item.summary}`,
    time: timeOf(item, message.at),
    details: item.details,
    url: item.url,
  };
}

function timeOf({ state, since, resolvedAt }: MessageItem, now: number): string {
  switch (state) {
    case 'firing':
      return `since ${clockWords(since, now)}`;
    case 'resolved':
      return `for ${spanWords((resolvedAt ?? now) - since)}, until ${clockWords(resolvedAt ?? now, now)}`;
    case 'event':
      return clockWords(since, now);
  }
}
