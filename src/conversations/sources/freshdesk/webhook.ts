import * as z from 'zod';
import { headerOf, isJson, isSameSecret, jsonOfBody } from '../../../core/signature.ts';
import { refused, type Webhook, type WebhookResult } from '../../model/source.ts';

export interface FreshdeskWebhookOptions {
  readonly name: string;
  /** Name of the header with the secret, in any case. */
  readonly header: string;
  readonly secret: string;
}

const id = z.union([z.number().int().positive(), z.string().regex(/^\d{1,15}$/)]);
/** The body is written by the author of the automation rule; these are Freshdesk's default and the simple forms. */
const bodySchema = z.union([
  z.object({ freshdesk_webhook: z.object({ ticket_id: id }) }).transform((body) => body.freshdesk_webhook.ticket_id),
  z.object({ ticket_id: id }).transform((body) => body.ticket_id),
  z.object({ ticket: z.object({ id }) }).transform((body) => body.ticket.id),
]);

/** Webhook of an automation rule. Freshdesk has no signatures: a secret in a custom header replaces them. */
export function freshdeskWebhook({ name, header, secret }: FreshdeskWebhookOptions): Webhook {
  const field = header.toLowerCase();
  return {
    name,
    read({ headers, body }): WebhookResult {
      if (!isJson(headers)) {
        return refused(415, 'the content type is not application/json');
      }
      if (!isSameSecret(headerOf(headers, field) ?? '', secret)) {
        return refused(401, 'the secret is missing or wrong');
      }
      const read = bodySchema.safeParse(jsonOfBody(body));
      return read.success
        ? { kind: 'hints', delivery: null, ids: [String(read.data)] }
        : refused(400, 'the body names no ticket: ticket_id is expected');
    },
  };
}
