/** Words of a message that all channels for people share, shortened until a channel takes them. */
import { plainLine } from '../core/text/plain-line.ts';
import { spanWords } from '../plan/render/words.ts';
import { clockWords, type MessageItem, type Notification } from './messages.ts';

/** A message as lines of text, without markup. */
export type Layout = ReturnType<typeof layOut>;
/** One condition or event, as lines of text. */
export type ItemLines = Layout['items'][number];

/** Writes the lines of a message. */
export function layOut(message: Notification) {
  const { severity, items, more, inhibited, at } = message;
  const isResolved = message.state === 'resolved';
  const cause = inhibited === 1 ? '1 other condition has' : `${inhibited} other conditions have`;
  return {
    heading: isResolved ? `Resolved: ${message.title}` : message.title,
    severity,
    isResolved,
    items: items.map((item) => {
      const { state, organization, summary, details, url } = item;
      const subject = organization === null ? '' : `${organization}: `;
      // The heading says it already if everything is resolved.
      const result = state === 'resolved' && !isResolved ? 'Resolved: ' : '';
      return { heading: `${result}${subject}${summary}`, time: timeOf(item, at), details, url };
    }),
    /** Sentences about what the message leaves out. */
    remarks: [...(more === 0 ? [] : [`… and ${more} more`]), ...(inhibited === 0 ? [] : [`${cause} this cause`])],
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

/** Numbers of items and of their details, and code points of a line. */
type Limits = readonly [items: number, details: number, line: number];

/** Tried in turn. */
const LIMITS: readonly Limits[] = [
  [20, 10, 500],
  [20, 3, 250],
  [20, 1, 200],
  [20, 0, 120],
  [8, 0, 100],
];
/** Fits everywhere: its texts have less than 1 kB. */
const LEAST: Limits = [1, 0, 60];
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
  for (const limits of LIMITS) {
    const rendered = render(shorten(message, limits));
    if (sizeOf(rendered) <= limit) {
      return rendered;
    }
  }
  return render(shorten(message, LEAST));
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
