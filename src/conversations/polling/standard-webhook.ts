import * as z from 'zod';
import { ConfigError } from '../../core/errors.ts';
import { headerOf, isJson, jsonOfBody } from '../../core/signature.ts';
import { hasStandardSignature, readSigningKey } from '../../core/standard-signature.ts';
import { listOf, recordOf } from '../model/bounded-schema.ts';
import { textOfHtml } from '../model/html.ts';
import { refused, type Webhook, type WebhookResult } from '../model/source.ts';
import { problemOfKey, type SourceRecord } from '../model/ticket.ts';

export interface StandardWebhookOptions {
  readonly name: string;
  /** Account in ids; default: the name. */
  readonly account?: string | undefined;
  /** Keys that start with `whsec_`. Any of them is accepted, so that a key can be rotated without a gap. */
  readonly secrets: readonly string[];
}

/**
 * Longest id of a conversation, in characters, including the account that is prepended to the id of a webhook. Source:
 * docs/platform-notes.md#limits
 */
const MAX_ID_LENGTH = 255;
/**
 * Maximum number of conversations in one request. All are redacted before the response, which reports the invalid ones.
 */
const MAX_LIST_LENGTH = 1000;

// Unknown members are refused and not ignored, because one may mark something as private.
const partSchema = z.strictObject({
  type: z.literal('message'),
  role: z.enum(['user', 'assistant', 'team-member']),
  body: z.string(),
});

const conversationSchema = z.strictObject({
  id: z.string().min(1).max(MAX_ID_LENGTH),
  parts: listOf(partSchema),
  subject: z.string().nullish(),
  metadata: z
    .strictObject({
      url: z.url({ protocol: /^https?$/ }).nullish(),
      attributes: recordOf(z.string()).nullish(),
      createdAt: z.iso.datetime({ offset: true }).nullish(),
    })
    .nullish(),
});

/**
 * Creates the generic webhook, signed over the raw bytes as Standard Webhooks defines. The body has the platform's own
 * format: one conversation or an array. Throws ConfigError for an invalid key.
 * Source: docs/helpdesk-notes.md#standard-webhooks
 */
export function standardWebhook({ name, account = name, secrets }: StandardWebhookOptions): Webhook {
  const keys = secrets.map((secret) => readKey(name, secret));
  return {
    name,
    read(delivery): WebhookResult {
      if (!isJson(delivery.headers)) {
        return refused(415, 'the content type is not application/json');
      }
      const id = headerOf(delivery.headers, 'webhook-id');
      if (id === null || !hasStandardSignature(delivery, keys)) {
        return refused(401, 'the signature is missing, wrong or too old');
      }
      const body = jsonOfBody(delivery.body);
      if (typeof body !== 'object' || body === null) {
        return refused(400, 'the body is neither a conversation nor a list of conversations');
      }
      if (Array.isArray(body) && body.length > MAX_LIST_LENGTH) {
        return refused(400, `the list has ${body.length} conversations; the maximum is ${MAX_LIST_LENGTH}`);
      }
      const found = Array.isArray(body)
        ? body.map((one, index) => read(account, one, `[${index}]`))
        : [read(account, body, '')];
      const [only] = found;
      return !Array.isArray(body) && only?.kind === 'rejected'
        ? refused(400, only.reason)
        : { kind: 'found', delivery: id, found };
    },
  };
}

function readKey(name: string, secret: string): Buffer {
  const key = readSigningKey(secret);
  if (key === null) {
    throw new ConfigError(`webhook ${name}: the key must be whsec_ followed by base64 of at least 16 bytes`);
  }
  return key;
}

function read(account: string, value: unknown, place: string): SourceRecord {
  const conversation = conversationSchema.safeParse(value);
  if (!conversation.success) {
    return { kind: 'rejected', place: `webhook/${account}${place}`, reason: reasonOf(conversation.error) };
  }
  const { id, parts, subject, metadata } = conversation.data;
  const key = `webhook/${account}/${id}`;
  const problem = problemOfKey(key);
  if (problem !== null) {
    return { kind: 'rejected', place: `webhook/${account}${place}`, reason: problem };
  }
  const said = parts.map(({ role, body }) => ({ role, body: textOf(body) })).filter(({ body }) => body !== '');
  if (!said.some(({ role }) => role === 'user')) {
    return { kind: 'skipped', key, reason: said.length === 0 ? 'empty' : 'no-customer' };
  }
  return {
    kind: 'ticket',
    ticket: {
      key,
      subject: subject ?? '',
      createdAt: metadata?.createdAt ?? null,
      settledAt: null,
      url: metadata?.url ?? null,
      attributes: metadata?.attributes ?? {},
      parts: said,
      people: [],
      completeness: null,
    },
  };
}

/** Converts a body that is HTML from start to end to text; other bodies are Markdown. */
function textOf(body: string): string {
  const text = body.trim();
  return /^<(?:!doctype\b|[a-z][a-z0-9]*[\s/>])[\s\S]*>$/i.test(text) ? textOfHtml(text) : text;
}

/** Returns the invalid members with their problems, without any value or name that the sender chose. */
function reasonOf({ issues }: z.ZodError): string {
  const reasons = issues.map(({ path, code }) => {
    const member = path[1] === 'attributes' ? path.slice(0, 2) : path;
    return `${member.join('.') || 'the whole body'} (${code.replaceAll('_', ' ')})`;
  });
  return `not a conversation: ${reasons.slice(0, 3).join(', ')}`;
}
