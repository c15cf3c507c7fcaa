import { isObject } from '../../core/json.ts';
import { toDocument, toMarkdown } from '../../platform/rich-text/document.ts';
import { plainText } from '../../platform/rich-text/leaves.ts';
import { linkTo } from '../../platform/rich-text/links.ts';
import type { RichDocument, RichNode } from '../../platform/rich-text/node.ts';
import { pickRepresentatives } from '../decide/representatives.ts';
import type { RelatedPage } from '../decide/search-query.ts';
import type { ClusterChangeRequest } from '../model/change-request.ts';
import type { ClusterIssue, IssueCluster } from '../model/cluster.ts';
import { markerParagraph, readMarker } from '../model/ownership-marker.ts';
import { cut, oneLine, stripControlCharacters, webUrl } from '../model/text-sanitizing.ts';
import { describeTrend } from '../model/trend.ts';
import { fillTemplate, type LineValues } from './template.ts';

/** Parts of a description. */
export interface DescriptionParts {
  readonly cluster: IssueCluster;
  /** Issues in any order; the most representative ones are listed. */
  readonly issues: readonly ClusterIssue[];
  readonly pages: readonly RelatedPage[];
  /** Markdown; null for the built-in template. */
  readonly template: string | null;
  /** Maximum number of listed issues. */
  readonly most: number;
  /** See `OwnershipMarker`. */
  readonly claim: string | null;
}

/** Description used if the configuration sets none. */
export const BUILT_IN_TEMPLATE = `**{{label}}**

{{summary}}

**Impact: {{impact}}** ({{impactMeaning}})

Trend: {{trend}}

Issues: {{issues}}; conversations: {{conversations}}; since {{since}}; from {{sources}}

## Issues

{{issueList}}

## Related pages

{{pageList}}

{{url}}
`;

/** Explanations of the impacts. Source: docs/platform-notes.md#enumerations */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['low', 'minor friction'],
  ['medium', 'partly blocking, with workarounds'],
  ['high', 'fully or nearly blocking, a severe regression, or a risk of losing data'],
]);

/** Maximum length of a title or subject in a list, in UTF-16 code units. */
const MAX_TITLE_LENGTH = 200;
const MAX_SUMMARY_LENGTH = 20_000;

/**
 * Builds the description of a cluster's change request. Its last paragraph is the marker that `markedClusterId` reads.
 */
export function buildDescription({ cluster, issues, pages, template, most, claim }: DescriptionParts): RichDocument {
  const blocks = {
    summary: contentOf(cluster.summary),
    issueList: issueList(cluster, issues, most),
    pageList: pageList(pages),
  };
  const nodes = [...fillTemplate(template ?? BUILT_IN_TEMPLATE, templateValues(cluster), blocks)];
  return documentOf([...nodes, divider(), markerParagraph({ cluster: cluster.id, superseded: false, claim })]);
}

/** Builds the description of a superseded change request. `to`: the one that superseded it, if known. */
export function buildSupersededDescription(
  cluster: string,
  why: string,
  to: ClusterChangeRequest | null,
): RichDocument {
  const words = plainText(`Not needed: ${oneLine(why)}. `);
  const url = webUrl(to?.url);
  const other = to === null ? [] : linkTo(url ?? '', [plainText(oneLine(to.subject) || to.id)]);
  const paragraph = { object: 'block', type: 'paragraph', nodes: [words, ...other] };
  return documentOf([paragraph, divider(), markerParagraph({ cluster, superseded: true, claim: null })]);
}

/** Returns the cluster id in the marker of a description; null if there is none. */
export function markedClusterId(description: unknown): string | null {
  return readMarker(description)?.cluster ?? null;
}

/** Returns the values of the template variables that are a line of text. */
export function templateValues(cluster: IssueCluster): LineValues {
  const sources = Object.entries(cluster.sources)
    .sort(([a, most], [b, least]) => least - most || (a < b ? -1 : 1))
    .map(([name, count]) => `${oneLine(name)} (${count})`);
  return {
    label: cut(oneLine(cluster.label), MAX_SUMMARY_LENGTH) || cluster.id,
    id: cluster.id,
    impact: oneLine(cluster.impact ?? '') || 'unknown',
    impactMeaning: MEANINGS.get(cluster.impact ?? '') ?? 'meaning not documented',
    trend: describeTrend(cluster.weeklyPulse),
    issues: String(cluster.issues),
    conversations: String(cluster.conversations),
    sources: sources.join(', ') || 'unknown sources',
    since: dayOf(cluster.createdAt),
    url: cluster.url ?? '',
  };
}

/** Formats a day in UTC as "2026-11-21". */
function dayOf(time: number | null): string {
  return time === null ? 'unknown' : new Date(time).toISOString().slice(0, 10);
}

/** Converts a summary to blocks that every platform accepts. */
function contentOf(summary: unknown): readonly RichNode[] {
  const markdown = typeof summary === 'string' ? summary : isObject(summary) ? toMarkdown(summary) : '';
  return toDocument(cut(markdown.toWellFormed(), MAX_SUMMARY_LENGTH)).nodes.map(harmlessNode);
}

/** Replaces characters only in text nodes, because a space elsewhere in Markdown can have a meaning. */
function harmlessNode(node: RichNode): RichNode {
  const { nodes, leaves } = node;
  return {
    ...node,
    ...(nodes === undefined ? {} : { nodes: nodes.map(harmlessNode) }),
    ...(leaves === undefined
      ? {}
      : { leaves: leaves.map((leaf) => ({ ...leaf, text: stripControlCharacters(leaf.text) })) }),
  };
}

function issueList(cluster: IssueCluster, issues: readonly ClusterIssue[], most: number): readonly RichNode[] {
  const listed = pickRepresentatives(issues, most);
  const more = Math.max(cluster.issues, issues.length) - listed.length;
  const rest = more > 0 && listed.length > 0 ? [paragraph([plainText(`and ${more} more`)])] : [];
  return listed.length === 0 ? [paragraph([plainText('No issues listed.')])] : [list(listed.map(issueItem)), ...rest];
}

/** Builds a list item such as "Login loops (high, 2026-11-20), in Cannot sign in"; the last part is a link. */
function issueItem({ title, id, impact, createdAt, conversation }: ClusterIssue): readonly RichNode[] {
  const facts = [oneLine(impact ?? ''), createdAt === null ? '' : dayOf(createdAt)].filter((fact) => fact !== '');
  const words = `${titleOf(title) || id}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`;
  if (conversation === null) {
    return [plainText(words)];
  }
  const name = plainText(titleOf(conversation.subject) || `conversation ${conversation.id}`);
  return [plainText(`${words}, in `), ...linkTo(conversation.url ?? '', [name])];
}

function pageList(pages: readonly RelatedPage[]): readonly RichNode[] {
  const items = pages.map(({ title, url, space }) => {
    const name = plainText(titleOf(title));
    return [...linkTo(url ?? '', [name]), ...(space === '' ? [] : [plainText(` in ${titleOf(space)}`)])];
  });
  return items.length === 0 ? [paragraph([plainText('No related pages found.')])] : [list(items)];
}

function titleOf(text: string): string {
  return cut(oneLine(text), MAX_TITLE_LENGTH);
}

function paragraph(nodes: readonly RichNode[]): RichNode {
  return { object: 'block', type: 'paragraph', nodes };
}

function list(items: readonly (readonly RichNode[])[]): RichNode {
  const nodes = items.map((item): RichNode => ({ object: 'block', type: 'list-item', nodes: [paragraph(item)] }));
  return { object: 'block', type: 'list-unordered', nodes };
}

function divider(): RichNode {
  return { object: 'block', type: 'divider', data: {}, isVoid: true };
}

function documentOf(nodes: RichNode[]): RichDocument {
  return { object: 'document', data: {}, nodes };
}
