/** Writes what a change request says about its cluster: subject, description and progress comments. */
import { BLOCK_NAMES, type BlockName, type LineName } from '../config/clusters.ts';
import { isObject } from '../core/json.ts';
import { parseTemplate } from '../core/text/template.ts';
import { toDocument } from '../platform/rich-text/from-markdown.ts';
import {
  joinTexts,
  linkTo,
  paragraph,
  plainText,
  type RichDocument,
  type RichLeaf,
  type RichNode,
  textNode,
  textOf,
} from '../platform/rich-text/node.ts';
import { toMarkdown } from '../platform/rich-text/to-markdown.ts';
import { type ClusterChangeRequest, isReservedSubject, markerParagraph } from './change-request.ts';
import {
  type ClusterIssue,
  cut,
  describeTrend,
  type IssueCluster,
  oneLine,
  pickRepresentatives,
  stripControlCharacters,
  webUrl,
} from './cluster.ts';
import { linesOf, type Redaction } from './redaction.ts';
import type { RelatedPage } from './route.ts';
import type { OwnRequest } from './store.ts';

/** Parts of a description. */
interface DescriptionParts {
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
 * Builds the description of a cluster's change request. Its last paragraph is the marker that `readMarker` reads.
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
  return documentOf([
    paragraph([words, ...other]),
    divider(),
    markerParagraph({ cluster, superseded: true, claim: null }),
  ]);
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

/** Values of the variables that are a line of text. Their content is never read as Markdown. */
type LineValues = Readonly<Record<LineName, string>>;
/** Values of the variables that are blocks. */
type BlockValues = Readonly<Record<BlockName, readonly RichNode[]>>;

/** Prefix of a variable inside a link address, because a token alone is not a valid address. */
const ADDRESS = 'https://template.invalid/';
/** Matches the text right before the address of a link. */
const BEFORE_ADDRESS = /(?:\]\(\s*|\]:\s*)<?$/;

/**
 * Fills in a Markdown template and returns the blocks of a rich document. The Markdown is parsed before values are
 * inserted, so no value is read as Markdown or HTML. A paragraph that contains only the name of a block variable
 * becomes its blocks; within a line, their text is inserted.
 */
function fillTemplate(template: string, lines: LineValues, blocks: BlockValues): readonly RichNode[] {
  const names: string[] = [];
  const tag = unusedWord(template);
  let before = '';
  const marked = parseTemplate(template).parts.map(({ text, name }) => {
    const isAddress = BEFORE_ADDRESS.test(before);
    before = text ?? '';
    return text ?? `${isAddress ? ADDRESS : ''}${tag}${names.push(name) - 1}z`;
  });
  const filler = createFiller(tag, names, lines, blocks);
  return toDocument(marked.join('')).nodes.flatMap(filler);
}

/**
 * Returns a word of letters that the template does not contain. Markdown treats it as plain text, also inside an
 * address.
 */
function unusedWord(template: string): string {
  let word = 'octavoname';
  while (template.includes(word)) {
    word += 'x';
  }
  return word;
}

/** Returns a function that fills a block, and drops one that empty values leave without content. */
function createFiller(tag: string, names: readonly string[], lines: LineValues, blocks: BlockValues) {
  /** Pattern of a variable's token. */
  const token = `(?:${ADDRESS})?${tag}(\\d+)z`;
  const addresses = names.flatMap((name, index) => (name === 'url' ? [index] : []));
  const addressToken = new RegExp(`(${token.replace('(\\d+)', `(?:${addresses.join('|')})`)})`);
  const blockOf = (name: string | null) => BLOCK_NAMES.find((known) => known === name);

  const valueFor = (name: string) => {
    const block = blockOf(name);
    return block === undefined ? (lines[name as LineName] ?? '') : oneLine(blocks[block].flatMap(linesOf).join(' '));
  };

  const fill = (text: string, encode = (value: string) => value) =>
    text.replaceAll(new RegExp(token, 'g'), (_, index: string) => encode(valueFor(names[Number(index)] ?? '')));

  /** Returns the variable that makes up a whole text; null if the text contains anything else. */
  const aloneIn = (text: string) => {
    const match = new RegExp(`^${token}$`).exec(text);
    return match === null ? null : (names[Number(match[1])] ?? null);
  };

  /** Fills a leaf. An address outside of code becomes a link. */
  const fillLeaf = (leaf: RichLeaf) => {
    const isCode = leaf.marks.some(({ type }) => type === 'code');
    const pieces = addresses.length === 0 || isCode ? [leaf.text] : leaf.text.split(addressToken);
    return pieces.flatMap((piece, index) => {
      const text = fill(piece);
      return text === '' ? [] : index % 2 === 1 ? linkTo(text, []) : [textNode([{ ...leaf, text }])];
    });
  };

  const fillInline = (node: RichNode): readonly RichNode[] => {
    if (node.object === 'text') {
      return (node.leaves ?? []).flatMap(fillLeaf);
    }
    const ref = node.data?.ref;
    if (node.type !== 'link' || !isObject(ref) || typeof ref.url !== 'string') {
      return [node];
    }
    const leaves = (node.nodes ?? []).flatMap((child) => child.leaves ?? []);
    const filled = leaves.map((leaf) => ({ ...leaf, text: fill(leaf.text) })).filter(({ text }) => text !== '');
    const alone = aloneIn(ref.url);
    const url = alone === null ? fill(ref.url, encodeURIComponent) : valueFor(alone);
    return linkTo(url, joinTexts([textNode(filled)]));
  };

  const fillData = (data: RichNode['data']) =>
    Object.fromEntries(
      Object.entries(data ?? {}).map(([key, value]) => [key, typeof value === 'string' ? fill(value) : value]),
    );

  return function fillBlock(node: RichNode): readonly RichNode[] {
    const alone = blockOf(node.type === 'paragraph' ? aloneIn(textOf(node).trim()) : null);
    if (alone !== undefined) {
      return blocks[alone];
    }
    if (node.isVoid === true || node.nodes === undefined) {
      return [node];
    }
    const isOfBlocks = node.nodes.some(({ object }) => object === 'block');
    const nodes = isOfBlocks ? node.nodes.flatMap(fillBlock) : joinTexts(node.nodes.flatMap(fillInline));
    if (nodes.length === 0 && node.type !== 'code-line') {
      return [];
    }
    const data = node.data === undefined ? {} : { data: fillData(node.data) };
    return [{ ...node, ...data, nodes: nodes.length === 0 ? [plainText('')] : nodes }];
  };
}

/** Longest subject, in characters. Source: docs/platform-notes.md#limits */
const MAX_SUBJECT_LENGTH = 100;

/**
 * Builds the redacted subject of a change request: one line of 1 to 100 UTF-16 code units, cut between grapheme
 * clusters.
 */
export function buildSubject(template: string, values: LineValues, { text: redact }: Pick<Redaction, 'text'>): string {
  const filled = parseTemplate(template).parts.map(({ text, name }) => text ?? values[name as keyof LineValues] ?? '');
  const subject = redact(oneLine(filled.join(''))) || `Issue cluster ${values.id}`;
  // A label cannot make it look like a draft or a superseded change request.
  return cut(isReservedSubject(subject) ? `Docs gap: ${subject}` : subject, MAX_SUBJECT_LENGTH);
}

const DAY = 86_400_000;

/**
 * Builds a comment with the changes since the last report, as Markdown; null if none is due. There is at most one
 * comment a day, and none without an increase or a new impact. A decrease, for example after conversations are deleted,
 * is not reported.
 */
export function buildProgressComment(
  cluster: OwnRequest['seen'],
  last: OwnRequest['reported'],
  now: number,
): string | null {
  const issues = cluster.issues - last.issues;
  const conversations = cluster.conversations - last.conversations;
  const isOther = cluster.impact !== null && cluster.impact !== last.impact;
  if (now - last.at < DAY || (issues <= 0 && conversations <= 0 && !isOther)) {
    return null;
  }
  const words = [
    ...(issues > 0 ? [`${more(issues, 'issue')} (${cluster.issues} now)`] : []),
    ...(conversations > 0 ? [`${more(conversations, 'conversation')} (${cluster.conversations} now)`] : []),
    ...(isOther ? [`the impact is now ${oneLine(cluster.impact ?? '')}`] : []),
  ];
  return toMarkdown({ nodes: [paragraph([plainText(`Since ${dayOf(last.at)}: ${words.join(', ')}.`)])] }).trim();
}

function more(count: number, noun: string): string {
  return `${count} more ${noun}${count === 1 ? '' : 's'}`;
}
