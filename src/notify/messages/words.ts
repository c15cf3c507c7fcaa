/** Words of a message that all channels share. */
import { counted, spanWords } from '../../plan/render/words.ts';
import type { MessageItem, Notification } from '../model/notification.ts';
import { clockWords } from './times.ts';

/** `since 14:02 UTC`, `resolved at 15:10 UTC, after 68 minutes`, or the time of an event. */
export function timeWords({ state, since, resolvedAt }: MessageItem, now: number): string {
  if (state === 'event') {
    return clockWords(since, now);
  }
  return state === 'resolved' && resolvedAt !== null
    ? `resolved at ${clockWords(resolvedAt, now)}, after ${spanWords(resolvedAt - since)}`
    : `since ${clockWords(since, now)}`;
}

/** Sentence of an item with its organization and time: `acme: Passes fail (since 14:02 UTC)`. */
export function itemWords(item: MessageItem, now: number): string {
  const subject = item.organization === null ? '' : `${item.organization}: `;
  return `${subject}${item.summary} (${timeWords(item, now)})`;
}

/** Lines after the items: the number of further items and of inhibited conditions. */
export function closingWords({ more, inhibited }: Pick<Notification, 'more' | 'inhibited'>): readonly string[] {
  return [
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(inhibited > 0
      ? [`${counted(inhibited, 'other condition')} with this cause ${inhibited === 1 ? 'is' : 'are'} held back`]
      : []),
  ];
}

/** Text of a message, without the title. */
export function plainText(message: Notification): string {
  const items = message.items.flatMap((item) => [
    itemWords(item, message.at),
    ...item.details.map((detail) => `  ${detail}`),
    ...(item.url === null ? [] : [`  ${item.url}`]),
  ]);
  return [...items, ...closingWords(message)].join('\n');
}
