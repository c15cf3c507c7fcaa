/** Conversations in the platform's own format, from the generic webhook or a file. */
import { z } from 'zod';
import { ConfigError } from '../../core/errors.ts';
import { hasStandardSignature, headerOf, readSigningKey, type WebhookRequest } from '../../core/signature.ts';
import { textOfHtml } from '../model/html.ts';
import { jsonWebhook, refused, type Webhook } from '../model/source.ts';
import {
  isOfParticipant,
  type Part,
  PeopleCollector,
  problemOfKey,
  type SourceRecord,
  ticketOrSkipped,
} from '../model/ticket.ts';
import { NOT_A_TIME, parseTimestamp } from './dates.ts';

/**
 * Returns the schema of a list. Like `recordOf`, it reports only the first invalid member: a value of a few megabytes has
 * millions of members, and a problem for each of them would use up the memory.
 */
export function listOf<T extends z.ZodType>(item: T) {
  return z.array(z.unknown()).transform((list, context) => {
    return membersOf(item, list.entries(), context)?.map(([, value]) => value) ?? z.NEVER;
  });
}

/** Returns the schema of an object with members of any name. */
function recordOf<T extends z.ZodType>(member: T) {
  return z.record(z.string(), z.unknown()).transform((members, context) => {
    const read = membersOf(member, Object.entries(members), context);
    return read === null ? z.NEVER : Object.fromEntries(read);
  });
}

/** Parses members up to the first invalid one, which is reported; null if there is one. */
function membersOf<Place extends string | number, T extends z.ZodType>(
  member: T,
  members: Iterable<[Place, unknown]>,
  context: z.RefinementCtx,
): [Place, z.output<T>][] | null {
  const read: [Place, z.output<T>][] = [];
  for (const [place, value] of members) {
    const { data, error } = member.safeParse(value);
    if (error !== undefined) {
      for (const issue of error.issues) {
        context.addIssue({ ...issue, path: [place, ...issue.path] });
      }
      return null;
    }
    read.push([place, data]);
  }
  return read;
}

function recordFrom(
  key: string,
  { subject, metadata }: Pick<z.output<typeof fileSchema>, 'subject' | 'metadata'>,
  parts: readonly Part[],
  createdAt: string | null,
): SourceRecord {
  return ticketOrSkipped({
    key,
    subject: subject ?? '',
    createdAt,
    settledAt: null,
    url: metadata?.url ?? null,
    attributes: metadata?.attributes ?? {},
    parts,
    people: peopleOf(metadata?.attributes ?? {}),
    completeness: null,
  });
}

function peopleOf(attributes: Readonly<Record<string, string>>) {
  const people = new PeopleCollector();
  for (const name of Object.keys(attributes).filter((each) => isOfParticipant(each))) {
    people.addField(attributes[name] ?? '');
  }
  return people.all();
}

interface StandardWebhookOptions {
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
  const idOf = (headers: WebhookRequest['headers']) => headerOf(headers, 'webhook-id');
  const refusal = (request: WebhookRequest) =>
    idOf(request.headers) !== null && hasStandardSignature(request, keys)
      ? null
      : 'the signature is missing, wrong or too old';
  const anyObject = z.custom<object>((body) => typeof body === 'object' && body !== null);
  const problem = 'the body is neither a conversation nor a list of conversations';
  return jsonWebhook(name, refusal, anyObject, problem, (body, headers) => {
    if (!Array.isArray(body)) {
      const only = read(account, body, '');
      return only.kind === 'rejected'
        ? refused(400, only.reason)
        : { kind: 'found', delivery: idOf(headers), found: [only] };
    }
    return body.length > MAX_LIST_LENGTH
      ? refused(400, `the list has ${body.length} conversations; the maximum is ${MAX_LIST_LENGTH}`)
      : {
          kind: 'found',
          delivery: idOf(headers),
          found: body.map((one, index) => read(account, one, `[${index}]`)),
        };
  });
}

function readKey(name: string, secret: string): Buffer {
  const key = readSigningKey(secret);
  if (key === null) {
    throw new ConfigError(`webhook ${name}: the key must be whsec_ followed by base64 of at least 16 bytes`);
  }
  return key;
}

function read(account: string, value: unknown, place: string): SourceRecord {
  const { data, error } = conversationSchema.safeParse(value);
  const key = `webhook/${account}/${data?.id}`;
  const problem = error === undefined ? problemOfKey(key) : reasonOf(error);
  if (data === undefined || problem !== null) {
    return { kind: 'rejected', place: `webhook/${account}${place}`, reason: problem ?? '' };
  }
  const parts = data.parts.map(({ role, body }) => ({ role, body: textOf(body) })).filter(({ body }) => body !== '');
  return recordFrom(key, data, parts, data.metadata?.createdAt ?? null);
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

const fileSchema = z.object({
  id: z.string().min(1),
  subject: z.string().nullish(),
  parts: listOf(z.object({ role: z.enum(['user', 'assistant', 'team-member']), body: z.string() })),
  metadata: z
    .object({
      url: z.string().nullish(),
      attributes: recordOf(z.string()).nullish(),
      createdAt: z.string().nullish(),
    })
    .nullish(),
});

/** Start of a body that is HTML; Markdown may contain elements later. */
const HTML = /^\s*<(?:!doctype|html|body|div|p|span|table|ul|ol|br|h[1-6]|blockquote)\b/i;

/**
 * Converts a conversation in the platform's own format to a ticket, or returns its problem. Source:
 * docs/platform-notes.md#conversations
 */
export function foundOfNative(value: object, account: string): SourceRecord | { readonly problem: string } {
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) {
    return { problem: problemOf(parsed.error) };
  }
  const { id, metadata } = parsed.data;
  const parts = parsed.data.parts
    .map(({ role, body }) => ({ role, body: HTML.test(body) ? textOfHtml(body) : body }))
    .filter(({ body }) => body.trim() !== '');
  const at = parseTimestamp(metadata?.createdAt);
  const createdAt = at === null ? null : new Date(at).toISOString();
  const found = recordFrom(`file/${account}/${id}`, parsed.data, parts, createdAt);
  return found.kind === 'ticket' && at === null && (metadata?.createdAt ?? '').trim() !== ''
    ? { problem: `metadata.createdAt ${NOT_A_TIME}` }
    : found;
}

/** Returns the problems with their positions, without names of attributes, which may be private. */
function problemOf(error: z.ZodError): string {
  const issue = error.issues[0];
  const path = (issue?.path ?? []).slice(0, issue?.path[0] === 'metadata' ? 2 : 3).join('.');
  const expectation = issue?.code === 'invalid_type' ? `is missing or not of type ${issue.expected}` : 'is empty';
  const reason = issue?.code === 'invalid_value' ? 'must be user, assistant or team-member' : expectation;
  return `${path === '' ? 'the record' : path} ${reason}`;
}
