/** Removes private data from clusters, issues, errors and other text that the platform derived from tickets. */
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { toDocument } from '../platform/rich-text/from-markdown.ts';
import { plainText, type RichNode, textOf } from '../platform/rich-text/node.ts';
import { toMarkdown } from '../platform/rich-text/to-markdown.ts';
import { type ClusterIssue, type IssueCluster, oneLine } from './cluster.ts';
import type { ClusterSource } from './sources.ts';

/**
 * Removes private data from text that the platform derived from tickets. All such text is redacted before anything is
 * written: clusters and issues when they are read, subjects of change requests, and messages.
 */
export interface Redaction {
  /** Changes with every change of the rules; text stored under another version is redacted again. */
  readonly version: string;
  text(text: string): string;
  /** Returns the address; null if it contains private data. */
  url(url: string): string | null;
}

/** Maximum length of a text, in characters; the rest is dropped. */
const MAX_LENGTH = 100_000;

/** Limits the length of redacted texts. */
export function limitRedaction({ version, text, url }: Redaction): Redaction {
  return { version, text: (raw) => text(raw.slice(0, MAX_LENGTH)), url };
}

/** Redacts a text and joins it to one line. Private data that shows only after joining is redacted too. */
function lineOf(text: string, redaction: Redaction): string {
  const redacted = redaction.text(text);
  const line = oneLine(redacted);
  return line === text ? line : redaction.text(line);
}

/** Redacts a cluster; its id stays, because requests need it. */
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

/** Redacts an issue. An issue without text is named by its redacted id. */
function redactIssue(issue: ClusterIssue, redaction: Redaction): ClusterIssue {
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

/** Redacts the names of sources. If names become equal, their numbers are added. */
function redactNames(sources: IssueCluster['sources'], redaction: Redaction): IssueCluster['sources'] {
  const redacted: Record<string, number> = {};
  for (const [name, count] of Object.entries(sources)) {
    const line = lineOf(name, redaction);
    redacted[line] = (redacted[line] ?? 0) + count;
  }
  return redacted;
}

/**
 * Returns a rich document or text unchanged if nothing in it is private: not its Markdown, its plain text, or a URL in
 * it. Otherwise returns its redacted plain text, with one paragraph per line.
 */
function redactSummary(summary: unknown, redaction: Redaction): unknown {
  const markdown = typeof summary === 'string' ? summary : isObject(summary) ? toMarkdown(summary) : '';
  if (markdown === '') {
    return null;
  }
  const { nodes } = toDocument(markdown.slice(0, MAX_LENGTH));
  const plain = nodes.flatMap(linesOf).join('\n');
  const isPublic =
    markdown.length <= MAX_LENGTH &&
    redaction.text(markdown) === markdown &&
    redaction.text(plain) === plain &&
    nodes.flatMap(addressesOf).every((url) => redaction.url(url) !== null && redaction.text(url) === url);
  return isPublic ? summary : paragraphsOf(redaction.text(plain));
}

function paragraphsOf(text: string): unknown {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const nodes = lines.map((line) => ({ object: 'block', type: 'paragraph', nodes: [plainText(line)] }));
  return { object: 'document', data: {}, nodes };
}

/** Returns the text of a block, with one line for each innermost block. */
export function linesOf(node: RichNode): readonly string[] {
  const nodes = node.nodes ?? [];
  return nodes.some(({ object }) => object === 'block') ? nodes.flatMap(linesOf) : [textOf(node)];
}

/** Returns all text in the data of a node and its children: URLs, titles, alternative texts. */
function addressesOf({ data, nodes = [] }: RichNode): readonly string[] {
  return [...textsIn(data), ...nodes.flatMap(addressesOf)];
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') {
    return [value];
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Maximum time of synchronous work before yielding to the event loop, in milliseconds. */
const MAX_TURN = 10;

/** Redacts each item, and yields to the event loop in between. */
async function redactEach<T>(items: readonly T[], redact: (item: T) => T): Promise<readonly T[]> {
  const redacted: T[] = [];
  let startedAt = performance.now();
  for (const item of items) {
    redacted.push(redact(item));
    if (performance.now() - startedAt > MAX_TURN) {
      await yieldToOthers();
      startedAt = performance.now();
    }
  }
  return redacted;
}

/** Returns the same error with a redacted message: the platform may quote the text that it rejects. */
export function redactError<E>(error: E, redaction: Redaction): E {
  if (error instanceof AppError) {
    error.message = redaction.text(error.message);
  }
  return error;
}

/** Redacts clusters and issues when a source reads them, so that no other code sees the original text. */
export function redactSource(source: ClusterSource, redaction: Redaction): ClusterSource {
  return {
    ...source,
    page: async (page) => {
      const answer = await source.page(page);
      if (answer === null) {
        return null;
      }
      const clusters = await redactEach(answer.clusters, (cluster) => redactCluster(cluster, redaction));
      return { clusters, next: answer.next };
    },
    one: async (id) => {
      const cluster = await source.one(id);
      return cluster && redactCluster(cluster, redaction);
    },
    issues: async (id) => redactEach(await source.issues(id), (issue) => redactIssue(issue, redaction)),
  };
}
