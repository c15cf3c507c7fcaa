import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { toDocument, toMarkdown } from '../../platform/rich-text/document.ts';
import type { RichNode } from '../../platform/rich-text/node.ts';
import type { ClusterIssue, IssueCluster } from './cluster.ts';
import { oneLine } from './text-sanitizing.ts';

/**
 * Takes private data out of what the platform has made of tickets. Everything that comes from tickets passes it before
 * anything is written: clusters and issues as they are read, subjects of change requests, and messages.
 */
export interface Redaction {
  /** Changes with every change of the rules: what was recorded under others is redacted again. */
  readonly version: string;
  text(text: string): string;
  /** The address; null where it holds something private. */
  url(url: string): string | null;
}

/** Texts that are remembered: labels come with every run. */
const MOST_REMEMBERED = 10_000;
/** Characters of a text that are looked at; the rest is dropped. */
const LONGEST = 100_000;

/** The same redaction, which does no text twice. */
export function memoizeRedaction(redaction: Redaction): Redaction {
  const known = new Map<string, string>();
  const text = (raw: string): string => {
    const given = raw.slice(0, LONGEST);
    const before = known.get(given);
    const result = before ?? redaction.text(given);
    if (before === undefined) {
      if (known.size >= MOST_REMEMBERED) {
        known.clear();
      }
      known.set(given, result);
    }
    return result;
  };
  return { version: redaction.version, text, url: (url) => redaction.url(url) };
}

/** A text as one redacted line. What becomes visible once it is one line is redacted, too. */
function lineOf(text: string, redaction: Redaction): string {
  const redacted = redaction.text(text);
  const line = oneLine(redacted);
  return line === text ? line : redaction.text(line);
}

/** A cluster without private data; its id stays, as requests need it. */
export function redactCluster(cluster: IssueCluster, redaction: Redaction): IssueCluster {
  const { label, impact, sources, summary, url, icon } = cluster;
  return {
    ...cluster,
    label: lineOf(label, redaction),
    impact: impact === null ? null : lineOf(impact, redaction),
    sources: redactNames(sources, redaction),
    summary: redactSummary(summary, redaction),
    url: url === null ? null : redaction.url(url),
    icon: icon === null ? null : lineOf(icon, redaction),
  };
}

/** An issue without private data. What has no words of its own is named by its id, redacted. */
export function redactIssue(issue: ClusterIssue, redaction: Redaction): ClusterIssue {
  const { id, title, impact, details, conversation } = issue;
  const { subject = '', url = null, source = null } = conversation ?? {};
  return {
    ...issue,
    title: lineOf(title, redaction) || lineOf(id, redaction),
    impact: impact === null ? null : lineOf(impact, redaction),
    details: redactSummary(details, redaction),
    conversation: conversation && {
      id: conversation.id,
      subject: lineOf(subject, redaction) || `conversation ${lineOf(conversation.id, redaction)}`,
      url: url === null ? null : redaction.url(url),
      source: source === null ? null : lineOf(source, redaction),
    },
  };
}

/** Different names may become one: then their numbers are added. */
function redactNames(sources: IssueCluster['sources'], redaction: Redaction): IssueCluster['sources'] {
  const redacted: Record<string, number> = {};
  for (const [name, count] of Object.entries(sources)) {
    const line = lineOf(name, redaction);
    redacted[line] = (redacted[line] ?? 0) + count;
  }
  return redacted;
}

/**
 * A rich document or a text, as it is where nothing in it is private: neither in its Markdown, nor in its words without
 * formatting, nor in an address. Otherwise its words as redacted plain text, one paragraph for each line.
 */
function redactSummary(summary: unknown, redaction: Redaction): unknown {
  const markdown = typeof summary === 'string' ? summary : isObject(summary) ? toMarkdown(summary) : '';
  if (markdown === '') {
    return null;
  }
  const { nodes } = toDocument(markdown.slice(0, LONGEST));
  const plain = nodes.flatMap(linesOf).join('\n');
  const isPublic =
    markdown.length <= LONGEST &&
    redaction.text(markdown) === markdown &&
    redaction.text(plain) === plain &&
    nodes.flatMap(addressesOf).every((url) => redaction.url(url) !== null && redaction.text(url) === url);
  return isPublic ? summary : paragraphsOf(redaction.text(plain));
}

function paragraphsOf(text: string): unknown {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const nodes = lines.map((line) => ({
    object: 'block',
    type: 'paragraph',
    nodes: [{ object: 'text', leaves: [{ object: 'leaf', text: line, marks: [] }] }],
  }));
  return { object: 'document', data: {}, nodes };
}

/** The words of a block, one line for each block that has no other in it. */
function linesOf(node: RichNode): readonly string[] {
  const nodes = node.nodes ?? [];
  return nodes.some(({ object }) => object === 'block') ? nodes.flatMap(linesOf) : [wordsOf(node)];
}

function wordsOf({ leaves = [], nodes = [] }: RichNode): string {
  return leaves.map(({ text }) => text).join('') + nodes.map(wordsOf).join('');
}

/** Every text in the data of a node and of what is in it: addresses, titles, alternative texts. */
function addressesOf({ data, nodes = [] }: RichNode): readonly string[] {
  return [...textsIn(data), ...nodes.flatMap(addressesOf)];
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') {
    return [value];
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Milliseconds of work after which others get their turn. */
const LONGEST_TURN = 10;

/** Each item redacted; others get their turn meanwhile. */
export async function redactEach<T>(items: readonly T[], redact: (item: T) => T): Promise<readonly T[]> {
  const redacted: T[] = [];
  let startedAt = performance.now();
  for (const item of items) {
    redacted.push(redact(item));
    if (performance.now() - startedAt > LONGEST_TURN) {
      await yieldToOthers();
      startedAt = performance.now();
    }
  }
  return redacted;
}

/** The same error with a redacted message: the platform's own words may repeat what they refuse. */
export function redactError<E>(error: E, redaction: Redaction): E {
  if (error instanceof AppError) {
    error.message = redaction.text(error.message);
  }
  return error;
}
