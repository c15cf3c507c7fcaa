import { z } from 'zod';
import { listOf, recordOf } from '../../../model/bounded-schema.ts';
import { textOfHtml } from '../../../model/html.ts';
import type { SourceRecord } from '../../../model/ticket.ts';
import { NOT_A_TIME, parseTimestamp } from './dates.ts';

const schema = z.object({
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
  const at = parseTimestamp(metadata?.createdAt);
  if (at === null && (metadata?.createdAt ?? '').trim() !== '') {
    return { problem: `metadata.createdAt ${NOT_A_TIME}` };
  }
  const ticket = {
    key,
    subject: subject ?? '',
    createdAt: at === null ? null : new Date(at).toISOString(),
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
