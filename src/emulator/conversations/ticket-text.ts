/*
 * What a conversation's text comes down to: plain text, a title, and the stems of the words that tell it from others.
 * A decision of this emulator, since the analysis of conversations is not documented.
 * Source: docs/platform-notes.md#issue-clusters
 */

import { stems } from '../documents/stems.ts';
import type { ConversationContent, Terms } from './records.ts';

/** A word of the subject says more about the topic than one of a message. */
const TITLE_WEIGHT = 2;

/** A long message has no more say than a short one: its first so many different words count. */
const MESSAGE_TERMS = 40;
const TITLE_LENGTH = 120;
const EXCERPT_LENGTH = 600;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  gt: '>',
  lt: '<',
  nbsp: ' ',
  quot: '"',
};

/** Markdown or HTML as one line of plain text. */
function plainText(body: string): string {
  return body
    .replace(/<(style|script)\b[^>]*>[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<\/?[a-z][^<>]*>|<!--[\s\S]*?-->/gi, ' ')
    .replace(/&(amp|apos|gt|lt|nbsp|quot);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replace(/!?\[([^\]]*)\]\([^()\s]*\)/g, '$1')
    .replace(/^[ \t]*(?:#{1,6}|>|[-*+]|\d+\.)[ \t]+/gm, '')
    .replace(/[*`~]{1,3}/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** So many code points at most, cut between words where there is one. */
function cut(text: string, length: number): string {
  const points = [...text];
  if (points.length <= length) {
    return text;
  }
  const kept = points.slice(0, length - 1).join('');
  const space = kept.lastIndexOf(' ');
  return `${(space > length / 2 ? kept.slice(0, space) : kept).trimEnd()}…`;
}

/** What the users said, else what anybody did. */
function messages(content: ConversationContent): string[] {
  const users = content.parts.filter((part) => part.role === 'user');
  const said = users.some((part) => part.body.trim() !== '') ? users : content.parts;
  return said.map((part) => plainText(part.body)).filter((text) => text !== '');
}

/** What was asked, in a few forms; undefined when nothing was said at all. */
export function readContent(
  content: ConversationContent,
): { readonly title: string; readonly excerpt: string; readonly text: string; readonly terms: Terms } | undefined {
  const subject = plainText(content.subject ?? '').replace(/^(?:(?:re|fwd?|aw|wg)\s*:\s*)+/i, '');
  const said = messages(content);
  const [first = ''] = said;
  const title = subject === '' ? (/^.+?[.!?](?=\s|$)/.exec(first)?.[0] ?? first) : subject;
  if (title === '') {
    return undefined;
  }
  return {
    title: cut(title, TITLE_LENGTH),
    excerpt: cut(first, EXCERPT_LENGTH),
    text: [subject, ...said].join('\n'),
    terms: weigh(subject, said.join('\n')),
  };
}

function weigh(subject: string, message: string): Terms {
  const terms: Record<string, number> = {};
  for (const term of [...new Set(stems(message))].slice(0, MESSAGE_TERMS)) {
    terms[term] = 1;
  }
  for (const term of stems(subject)) {
    terms[term] = TITLE_WEIGHT;
  }
  return terms;
}
