import { z } from 'zod';
import { textOfHtml } from '../../../model/html.ts';
import type { SourceRecord } from '../../../model/ticket.ts';

const schema = z.object({
  id: z.string().min(1),
  subject: z.string().nullish(),
  parts: z.array(z.object({ role: z.enum(['user', 'assistant', 'team-member']), body: z.string() })),
  metadata: z
    .object({
      url: z.string().nullish(),
      attributes: z.record(z.string(), z.string()).nullish(),
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
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    return { problem: problemOf(parsed.error) };
  }
  const { id, subject, metadata } = parsed.data;
  const key = `file/${account}/${id}`;
  const parts = parsed.data.parts
    .map(({ role, body }) => ({ role, body: HTML.test(body) ? textOfHtml(body) : body }))
    .filter(({ body }) => body.trim() !== '');
  if (parts.length === 0) {
    return { kind: 'skipped', key, reason: 'empty' };
  }
  if (!parts.some(({ role }) => role === 'user')) {
    return { kind: 'skipped', key, reason: 'no-customer' };
  }
  const ticket = {
    key,
    subject: subject ?? '',
    createdAt: isoOf(metadata?.createdAt),
    settledAt: null,
    url: metadata?.url ?? null,
    attributes: metadata?.attributes ?? {},
    parts,
    people: [],
    completeness: null,
  };
  return { kind: 'ticket', ticket };
}

/** Returns the problems with their positions, without names of attributes, which may be private. */
function problemOf(error: z.ZodError): string {
  const issue = error.issues[0];
  const path = (issue?.path ?? []).slice(0, issue?.path[0] === 'metadata' ? 2 : 3).join('.');
  const reason = issue?.code === 'invalid_value' ? 'must be user, assistant or team-member' : expectation(issue);
  return `${path === '' ? 'the record' : path} ${reason}`;
}

function expectation(issue: z.core.$ZodIssue | undefined): string {
  return issue?.code === 'invalid_type' ? `is missing or not of type ${issue.expected}` : 'is empty';
}

/** Formats a time as ISO 8601, or returns null. A time without a zone is in UTC. */
function isoOf(text: string | null | undefined): string | null {
  const at = parseTimestamp(text);
  return at === null ? null : new Date(at).toISOString();
}

/** Parses a time to milliseconds since the epoch; null if it is invalid. */
export function parseTimestamp(text: string | null | undefined): number | null {
  const trimmed = (text ?? '').trim();
  const bare = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(trimmed);
  const at = trimmed === '' ? Number.NaN : Date.parse(bare ? `${trimmed.replace(' ', 'T')}Z` : trimmed);
  return Number.isNaN(at) ? null : at;
}
