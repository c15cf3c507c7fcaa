/*
 * Analysis of a conversation's text: plain text, a title, and the stems of distinctive words. Decision of this
 * emulator, since the analysis of conversations is not documented. Source: docs/platform-notes.md#issue-clusters
 */

import { stems } from '../documents/stems.ts';
import type { ConversationContent, Terms } from './records.ts';

/** Weight of a word of the subject, compared with a word of a message. */
const TITLE_WEIGHT = 2;

/** Number of different words of a message that count. */
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

/** Converts Markdown or HTML to one line of plain text. */
function plainText(body: string): string {
  return body
    .replace(/<(style|script)\b[^<>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<\/?[a-z][^<>]*>|<!--[\s\S]*?(?:-->|$)/gi, ' ')
    .replace(/&(amp|apos|gt|lt|nbsp|quot);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replace(/!?\[([^[\]]*)\]\([^()\s]*\)/g, '$1')
    .replace(/^[ \t]*(?:#{1,6}|>|[-*+]|\d+\.)[ \t]+/gm, '')
    .replace(/[*`~]{1,3}/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Cuts a text to a number of code points, between words if possible. */
function cut(text: string, length: number): string {
  const points = [...text];
  if (points.length <= length) {
    return text;
  }
  const kept = points.slice(0, length - 1).join('');
  const space = kept.lastIndexOf(' ');
  return `${(space > length / 2 ? kept.slice(0, space) : kept).trimEnd()}…`;
}

/** Returns the users' messages; those of everybody if the users have none. */
function messages(content: ConversationContent): string[] {
  const users = content.parts.filter((part) => part.role === 'user');
  const said = users.some((part) => part.body.trim() !== '') ? users : content.parts;
  return said.map((part) => plainText(part.body)).filter((text) => text !== '');
}

/** Returns the title, excerpt, text and terms of a conversation; undefined if it has no text. */
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
