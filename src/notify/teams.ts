/** Channel that posts cards to Microsoft Teams, through a workflow that starts with a webhook request. */
import type { ChannelConfig } from '../config/notifications.ts';
import type { Severity } from '../core/condition-codes.ts';
import { type Channel, type ChannelContext, openHttpChannel } from './channel.ts';
import { type ItemLines, type Layout, layOut, renderWithin } from './layout.ts';
import type { Notification } from './messages.ts';

type TeamsConfig = NonNullable<ChannelConfig['teams']>;
/** Largest message in bytes. Teams takes 28 kB, and counts the envelope. */
const MAX_BYTES = 26_000;
const COLORS: Readonly<Record<Severity, string>> = { page: 'attention', warning: 'warning', info: 'accent' };

/** Opens a workflow. It has no threads: each message is a card. */
export function openTeamsChannel({ url }: TeamsConfig, context: ChannelContext): Channel {
  return openHttpChannel(url, { isPager: false }, context, ({ message }) => ({ body: writeTeamsMessage(message) }));
}

/** Writes the request of a workflow that posts cards, as JSON. */
export function writeTeamsMessage(message: Notification): string {
  return renderWithin(
    message,
    MAX_BYTES,
    (each) => JSON.stringify(envelope(layOut(each))),
    (body) => Buffer.byteLength(body),
  );
}

function envelope(layout: Layout) {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: [
      paragraph(
        runs(layout.heading, {
          weight: 'bolder',
          size: 'medium',
          color: layout.isResolved ? 'good' : COLORS[layout.severity],
        }),
      ),
      ...layout.items.flatMap(itemParagraphs),
      ...layout.remarks.map((text) => paragraph(runs(text, { isSubtle: true }))),
    ],
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
  return { type: 'message', attachments: [attachment] };
}

function itemParagraphs({ heading, time, details, url }: ItemLines) {
  const link = url === null ? [] : runs('Open', { underline: true, selectAction: { type: 'Action.OpenUrl', url } });
  const space = url === null ? [] : runs(' ');
  return [
    {
      ...paragraph([...runs(heading), ...runs(` (${time})`, { isSubtle: true }), ...space, ...link]),
      spacing: 'medium',
    },
    ...details.map((line) => ({ ...paragraph(runs(line, { isSubtle: true })), spacing: 'none' })),
  ];
}

function paragraph(inlines: ReturnType<typeof runs>) {
  return { type: 'RichTextBlock', inlines };
}

/**
 * Text as runs, which show it as it is; text blocks would read Markdown. Cards replace `{{DATE(…)}}` within a run, so that
 * its braces are in different ones.
 */
function runs(text: string, style: Readonly<Record<string, unknown>> = {}) {
  return text.split(/(?<=\{)(?=\{)/).map((part) => ({ type: 'TextRun', text: part, ...style }));
}
