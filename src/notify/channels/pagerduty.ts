/** Channel that opens and resolves incidents at PagerDuty, with the Events API v2. */
import type { ChannelConfig } from '../../config/notifications.ts';
import type { Severity } from '../../core/condition-codes.ts';
import type { Notification } from '../model/notification.ts';
import type { Channel, Outgoing } from './channel.ts';
import { type ChannelContext, HttpSender } from './http-sender.ts';
import { type Layout, layOut } from './layout.ts';
import { renderWithin } from './render-within.ts';

type PagerDutyConfig = NonNullable<ChannelConfig['pagerduty']>;

const SEVERITIES: Readonly<Record<Severity, string>> = { page: 'critical', warning: 'warning', info: 'info' };
/** UTF-16 code units of an event. PagerDuty takes 512 kB. */
const MAX_EVENT = 64 * 1024;

/**
 * Opens PagerDuty. A thread is one incident: its id is the deduplication key, so that repeated events change nothing.
 * Events of Octavo, which have no end, are change events.
 */
export function openPagerDutyChannel({ routingKey, url }: PagerDutyConfig, context: ChannelContext): Channel {
  const sender = new HttpSender(url, context);
  return {
    name: context.name,
    isPager: true,
    async send(outgoing, signal) {
      const body = JSON.stringify({ routing_key: routingKey, ...writePagerDutyEvent(outgoing) });
      const path = outgoing.message.state === 'event' ? '/v2/change/enqueue' : '/v2/enqueue';
      await sender.post(url + path, body, { 'content-type': 'application/json' }, signal);
      return null;
    },
    close: () => sender.close(),
  };
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
  const layout = layOut(message);
  const payload = {
    summary: layout.heading,
    source: message.items[0]?.organization ?? 'octavo',
    timestamp: new Date(message.at).toISOString(),
    custom_details: detailsOf(layout),
  };
  const links = layout.items.flatMap(({ url, heading }) => (url === null ? [] : [{ href: url, text: heading }]));
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

function detailsOf({ items, remarks }: Layout) {
  return {
    conditions: items.map(({ heading, time, details }) => [`${heading} (${time})`, ...details]),
    ...(remarks.length === 0 ? {} : { remarks }),
  };
}
