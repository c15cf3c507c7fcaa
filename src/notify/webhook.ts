/** Channel that sends JSON to a URL, signed as Standard Webhooks define. See docs/notifications.md. */
import { Webhook } from 'standardwebhooks';
import type { ChannelConfig } from '../config/notifications.ts';
import { type Channel, type ChannelContext, type Outgoing, openHttpChannel } from './channel.ts';
import { renderWithin } from './layout.ts';
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
