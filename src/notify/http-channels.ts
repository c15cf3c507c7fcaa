/** Channels that take a message as one POST: webhooks, Microsoft Teams and PagerDuty. What each sends is within its limits. */

import { Webhook } from 'standardwebhooks';
import type { ChannelConfig } from '../config/notifications.ts';
import type { Severity } from '../core/condition-codes.ts';
import { type Channel, type ChannelContext, type Outgoing, openHttpChannel } from './channel.ts';
import { type ItemLines, type Layout, layOut, renderWithin } from './layout.ts';
import type { Notification } from './messages.ts';

type WebhookConfig = NonNullable<ChannelConfig['webhook']>;

/** Version of the JSON. Receivers ignore members that they do not know. */
const TYPE = 'octavo.notification/1';
/** UTF-16 code units of a body. */
const MAX_BODY = 64 * 1024;

/** Opens a webhook. */
export function openWebhookChannel({ url, secret }: WebhookConfig, context: ChannelContext): Channel {
  const signer = new Webhook(secret);
  return openHttpChannel(url, { isPager: false }, context, (outgoing) => {
    const body = writeWebhookBody(outgoing);
    const at = new Date(context.clock.now());
    return {
      body,
      headers: {
        'webhook-id': outgoing.id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signer.sign(outgoing.id, at, body),
      },
    };
  });
}

/** Writes the body of a message. */
export function writeWebhookBody(outgoing: Outgoing): string {
  return renderWithin(
    outgoing.message,
    MAX_BODY,
    (message) => JSON.stringify(writePayload(outgoing, message)),
    ({ length }) => length,
  );
}

function writePayload({ id, thread }: Outgoing, message: Notification) {
  const { at, items, ...data } = message;
  return {
    type: TYPE,
    id,
    thread,
    timestamp: timeOf(at),
    data: {
      ...data,
      items: items.map(({ since, resolvedAt, ...item }) => ({
        ...item,
        since: timeOf(since),
        resolvedAt: resolvedAt === null ? null : timeOf(resolvedAt),
      })),
    },
  };
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

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

type PagerDutyConfig = NonNullable<ChannelConfig['pagerduty']>;

const SEVERITIES: Readonly<Record<Severity, string>> = { page: 'critical', warning: 'warning', info: 'info' };
/** UTF-16 code units of an event. PagerDuty takes 512 kB. */
const MAX_EVENT = 64 * 1024;

/**
 * Opens PagerDuty. A thread is one incident: its id is the deduplication key, so that repeated events change nothing.
 * Events of Octavo, which have no end, are change events.
 */
export function openPagerDutyChannel({ routingKey, url }: PagerDutyConfig, context: ChannelContext): Channel {
  return openHttpChannel(url, { isPager: true }, context, (outgoing) => ({
    url: `${url}${outgoing.message.state === 'event' ? '/v2/change/enqueue' : '/v2/enqueue'}`,
    body: JSON.stringify({ routing_key: routingKey, ...writePagerDutyEvent(outgoing) }),
  }));
}

/** Writes the event of a message, without the routing key. */
export function writePagerDutyEvent(outgoing: Outgoing) {
  return renderWithin(
    outgoing.message,
    MAX_EVENT,
    (message) => writeEvent(outgoing, message),
    (event) => JSON.stringify(event).length,
  );
}

function writeEvent({ thread }: Outgoing, message: Notification) {
  const { heading, items, remarks } = layOut(message);
  const payload = {
    summary: heading,
    source: message.items[0]?.organization ?? 'octavo',
    timestamp: new Date(message.at).toISOString(),
    custom_details: {
      conditions: items.map((item) => [`${item.heading} (${item.time})`, ...item.details]),
      ...(remarks.length === 0 ? {} : { remarks }),
    },
  };
  const links = items.flatMap(({ url, heading: text }) => (url === null ? [] : [{ href: url, text }]));
  if (message.state === 'event') {
    return { payload, links };
  }
  return {
    event_action: message.state === 'resolved' ? 'resolve' : 'trigger',
    dedup_key: thread,
    client: 'Octavo',
    ...(links[0] === undefined ? {} : { client_url: links[0].href }),
    payload: { ...payload, severity: SEVERITIES[message.severity], class: message.code },
    links,
  };
}
