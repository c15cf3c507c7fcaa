import type { ContextRecordInput } from '../../platform/operations/sites/site-context.ts';
import type { Conversation } from '../model/conversation.ts';
import type { AuthorRole } from '../model/ticket.ts';

/** Longest title, in characters; a title is required. Source: docs/platform-notes.md#limits */
const MAX_TITLE_LENGTH = 256;

const HALF_PLACEHOLDER = /\[[A-Z][A-Z0-9_]{0,48}$/;
const HALF_NUMBER = /[+(]?\d[\d\s().-]*$|\[[A-Z][A-Z0-9_]{0,48}$/;

/** Name of each author in the body. */
const SPEAKERS: Readonly<Record<AuthorRole, string>> = {
  user: 'Customer',
  assistant: 'Assistant',
  'team-member': 'Team',
};

/**
 * Converts a conversation to a context record. The body is Markdown with the parts in order, each after its speaker.
 * The subject becomes the title. If the subject is too long, the description contains all of it; if it is missing, the
 * title is the first line of text. The record contains nothing that is not in the redacted conversation. Source:
 * docs/platform-notes.md#context-records
 */
export function toContextRecord(conversation: Conversation): ContextRecordInput {
  const { id, subject = '', parts, metadata = {} } = conversation;
  const { url, createdAt, attributes = {} } = metadata;
  const whole = oneLine(subject);
  const title = cut(whole === '' ? firstWords(conversation) : whole);
  return {
    id,
    type: 'ticket',
    title,
    ...(whole === '' || whole === title ? {} : { description: whole }),
    body: parts.map(({ role, body }) => `**${SPEAKERS[role]}:**\n\n${body}`).join('\n\n'),
    ...(url === undefined ? {} : { url }),
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(Object.keys(attributes).length === 0 ? {} : { metadata: attributes }),
  };
}

/** Returns the first line of the customer, else of anyone, else the id, which is never empty. */
function firstWords({ id, parts }: Conversation): string {
  const said = [...parts.filter(({ role }) => role === 'user'), ...parts];
  const lines = said.flatMap(({ body }) => body.split('\n').map(oneLine));
  return lines.find((line) => line !== '') ?? id;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim();
}

/**
 * Shortens a title. It is cut between graphemes, and before a partial placeholder or number: the first digits of a long
 * number may look like a private value.
 */
function cut(text: string): string {
  if ([...text].length <= MAX_TITLE_LENGTH) {
    return text;
  }
  let kept = '';
  let points = 0;
  for (const { segment } of new Intl.Segmenter('und').segment(text)) {
    points += [...segment].length;
    if (points >= MAX_TITLE_LENGTH) {
      break;
    }
    kept += segment;
  }
  const isInNumber = /^[\s().-]?\d/.test(text.slice(kept.length, kept.length + 2));
  const whole = kept.replace(isInNumber ? HALF_NUMBER : HALF_PLACEHOLDER, '');
  return `${whole.trimEnd()}…`;
}
