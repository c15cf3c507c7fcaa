/** Channel that opens and resolves incidents at PagerDuty, with the Events API v2. */
import type { ChannelConfig } from '../config/notifications.ts';
import type { Severity } from '../core/condition-codes.ts';
import { type Channel, type ChannelContext, type Outgoing, openHttpChannel } from './channel.ts';
import { layOut, renderWithin } from './layout.ts';
import type { Notification } from './messages.ts';

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
