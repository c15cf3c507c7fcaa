import * as z from 'zod';
import { headerOf, isJson, isSignedBy, jsonOfBody, type WebhookRequest } from '../../../core/signature.ts';
import { refused, type Webhook, type WebhookResult } from '../../model/source.ts';

/** Maximum difference between the timestamp and the time of receipt, in milliseconds, against replays. */
const TOLERANCE = 300_000;

const eventSchema = z.object({
  type: z.string(),
  detail: z.object({ id: z.union([z.string().regex(/^\d+$/), z.number().int().nonnegative()]) }).nullish(),
});

/**
 * Event webhook of Zendesk. The signature is the base64 of the HMAC-SHA256 of timestamp and raw body, with the characters
 * of the secret as the key. Source: docs/helpdesk-notes.md#zendesk
 */
export function zendeskWebhook({ name, secret }: { readonly name: string; readonly secret: string }): Webhook {
  return {
    name,
    read(delivery) {
      if (!isJson(delivery.headers)) {
        return refused(415, 'the content type is not application/json');
      }
      return isGenuine(delivery, secret) ? read(delivery) : refused(401, 'the signature is missing, wrong or too old');
    },
  };
}

function isGenuine({ headers, body, receivedAt }: WebhookRequest, secret: string): boolean {
  const signature = headerOf(headers, 'x-zendesk-webhook-signature');
  const timestamp = headerOf(headers, 'x-zendesk-webhook-signature-timestamp');
  if (signature === null || timestamp === null) {
    return false;
  }
  const signed = isSignedBy([signature], { algorithm: 'sha256', secret, encoding: 'base64' }, timestamp, body);
  return signed && Math.abs(receivedAt - Date.parse(timestamp)) <= TOLERANCE;
}

function read({ headers, body }: WebhookRequest): WebhookResult {
  const event = eventSchema.safeParse(jsonOfBody(body));
  if (!event.success) {
    return refused(400, 'the body is not an event');
  }
  const { type, detail } = event.data;
  const isOfTicket = type.startsWith('zen:event-type:ticket.') && detail != null;
  return {
    kind: 'hints',
    delivery: headerOf(headers, 'x-zendesk-webhook-invocation-id'),
    ids: isOfTicket ? [String(detail.id)] : [],
  };
}
