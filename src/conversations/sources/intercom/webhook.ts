import * as z from 'zod';
import { headerOf, isJson, isSignedBy, jsonOfBody, type WebhookRequest } from '../../../core/signature.ts';
import { refused, type Webhook, type WebhookResult } from '../../model/source.ts';

const notificationSchema = z.object({
  topic: z.string(),
  id: z.string().nullish(),
  data: z.object({ item: z.object({ type: z.string().nullish(), id: z.unknown().optional() }).nullish() }).nullish(),
});
const idSchema = z.union([z.string().regex(/^\d{1,30}$/), z.number().int().nonnegative()]).transform(String);

/**
 * Webhook of Intercom. `X-Hub-Signature` is `sha1=` and the hexadecimal HMAC-SHA1 over the raw body.
 * Source: docs/helpdesk-notes.md#intercom
 */
export function intercomWebhook({ name, secret }: { readonly name: string; readonly secret: string }): Webhook {
  return {
    name,
    read(delivery) {
      if (!isJson(delivery.headers)) {
        return refused(415, 'the content type is not application/json');
      }
      return isGenuine(delivery, secret) ? read(delivery) : refused(401, 'the signature is missing or wrong');
    },
  };
}

function isGenuine({ headers, body }: WebhookRequest, secret: string): boolean {
  const [, signature] = /^sha1=([\da-f]{40})$/.exec(headerOf(headers, 'x-hub-signature') ?? '') ?? [];
  return signature !== undefined && isSignedBy([signature], { algorithm: 'sha1', secret, encoding: 'hex' }, body);
}

/** Reads the id only: the conversation in the body may be older than the one that a fetch returns. */
function read({ body }: WebhookRequest): WebhookResult {
  const notification = notificationSchema.safeParse(jsonOfBody(body));
  if (!notification.success) {
    return refused(400, 'the body is not a notification');
  }
  const { topic, id, data } = notification.data;
  const item = data?.item;
  const isOfConversation = topic.startsWith('conversation.') && (item?.type ?? 'conversation') === 'conversation';
  if (!isOfConversation) {
    return { kind: 'hints', delivery: id ?? null, ids: [] };
  }
  const conversation = idSchema.safeParse(item?.id);
  return conversation.success
    ? { kind: 'hints', delivery: id ?? null, ids: [conversation.data] }
    : refused(400, 'the notification names no conversation');
}
