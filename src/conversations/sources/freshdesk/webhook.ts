import { createHash, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import type { Webhook, WebhookResult } from '../../model/source.ts';
import { headerOf, isJson, jsonOfBody, refused } from '../../polling/signature.ts';

export interface FreshdeskWebhookOptions {
  readonly name: string;
  /** The header that carries the secret, in any case. */
  readonly header: string;
  readonly secret: string;
}

const id = z.union([z.number().int().positive(), z.string().regex(/^\d{1,15}$/)]);
/** What an automation rule sends is what its author wrote; these are Freshdesk's own form and the plain ones. */
const bodySchema = z.union([
  z.object({ freshdesk_webhook: z.object({ ticket_id: id }) }).transform((body) => body.freshdesk_webhook.ticket_id),
  z.object({ ticket_id: id }).transform((body) => body.ticket_id),
  z.object({ ticket: z.object({ id }) }).transform((body) => body.ticket.id),
]);

/** An automation rule's webhook. Freshdesk signs nothing: a secret in a header of its own stands for a signature. */
export function freshdeskWebhook({ name, header, secret }: FreshdeskWebhookOptions): Webhook {
  const expected = digest(secret);
  const field = header.toLowerCase();
  return {
    name,
    read({ headers, body }): WebhookResult {
      if (!isJson(headers)) {
        return refused(415, 'the content type is not application/json');
      }
      // Digests have one length, so that not even that of the secret shows in the time it takes.
      if (!timingSafeEqual(digest(headerOf(headers, field) ?? ''), expected)) {
        return refused(401, 'the secret is missing or wrong');
      }
      const read = bodySchema.safeParse(jsonOfBody(body));
      return read.success
        ? { kind: 'hints', delivery: null, ids: [String(read.data)] }
        : refused(400, 'the body names no ticket: ticket_id is expected');
    },
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
