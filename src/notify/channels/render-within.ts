/** Shortens a message until a channel takes it. */
import { plainLine } from '../../core/text/plain-line.ts';
import type { MessageItem, Notification } from '../model/notification.ts';

/** Numbers of items and of their details, and code points of a line. */
type Limits = readonly [items: number, details: number, line: number];

/** Tried in turn. The last one fits everywhere: its texts have less than 1 kB. */
const LIMITS: readonly Limits[] = [
  [20, 10, 500],
  [20, 3, 250],
  [20, 1, 200],
  [20, 0, 120],
  [8, 0, 100],
  [1, 0, 60],
];
const MAX_URL = 2_000;

/**
 * Renders a message with one-line texts, and with fewer and shorter ones if its size exceeds the limit. Omitted items
 * are counted in `more`.
 */
export function renderWithin<T>(
  message: Notification,
  limit: number,
  render: (message: Notification) => T,
  sizeOf: (rendered: T) => number,
): T {
  const rendered = LIMITS.map((limits) => () => render(shorten(message, limits)));
  const fitting = rendered.find((each) => sizeOf(each()) <= limit) ?? rendered.at(-1);
  if (fitting === undefined) {
    throw new Error('no limits');
  }
  return fitting();
}

function shorten(message: Notification, [most, details, line]: Limits): Notification {
  const items = message.items.slice(0, most).map(
    (item): MessageItem => ({
      ...item,
      organization: plainLine(item.organization ?? '', 60) || null,
      summary: plainLine(item.summary, line),
      details: item.details
        .map((each) => plainLine(each, line))
        .filter((each) => each !== '')
        .slice(0, details),
      url: item.url !== null && item.url.length <= MAX_URL ? webUrl(item.url) : null,
    }),
  );
  return {
    ...message,
    title: plainLine(message.title, Math.min(line, 150)) || message.code,
    items,
    more: message.more + message.items.length - items.length,
  };
}

/** Returns a URL in its encoded form, without spaces, quotes and angle brackets; null if it is not of the web. */
function webUrl(url: string): string | null {
  const parsed = URL.parse(url);
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.href : null;
}
