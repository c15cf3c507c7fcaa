/** Channel that sends JSON to a URL, signed as Standard Webhooks define. See docs/notifications.md. */
import { Webhook } from 'standardwebhooks';
import type { ChannelConfig } from '../../config/notifications.ts';
import type { MessageItem, Notification } from '../model/notification.ts';
import type { Channel, Outgoing } from './channel.ts';
import { type ChannelContext, HttpSender } from './http-sender.ts';
import { renderWithin } from './render-within.ts';

type WebhookConfig = NonNullable<ChannelConfig['webhook']>;

/** Version of the JSON. Receivers ignore members that they do not know. */
const TYPE = 'octavo.notification/1';
/** UTF-16 code units of a body. */
const MAX_BODY = 64 * 1024;

/** Opens a webhook. */
export function openWebhookChannel({ url, secret }: WebhookConfig, context: ChannelContext): Channel {
  const signer = new Webhook(secret);
  const sender = new HttpSender(url, context);
  return {
    name: context.name,
    isPager: false,
    async send(outgoing, signal) {
      const body = writeWebhookBody(outgoing);
      const at = new Date(context.clock.now());
      const headers = {
        'content-type': 'application/json',
        'webhook-id': outgoing.id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signer.sign(outgoing.id, at, body),
      };
      await sender.post(url, body, headers, signal);
      return null;
    },
    close: () => sender.close(),
  };
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
  return { type: TYPE, id, thread, timestamp: timeOf(at), data: { ...data, items: items.map(writeItem) } };
}

function writeItem({ since, resolvedAt, ...item }: MessageItem) {
  return { ...item, since: timeOf(since), resolvedAt: resolvedAt === null ? null : timeOf(resolvedAt) };
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}
