import type {
  BlockContent,
  Code,
  Definition,
  List,
  ListItem,
  PhrasingContent,
  RootContent,
  Table,
  TableRow,
} from 'mdast';
import { append } from '../../core/lists.ts';
import { leafOf, type MarkName, normalizeLeaves, plainText, textNode, textOf } from './leaves.ts';
import { linkTo } from './links.ts';
import type { RichDocument, RichLeaf, RichNode } from './node.ts';
import { parseMarkdown } from './parse-markdown.ts';

/** Targets of reference links, by identifier. */
type Definitions = ReadonlyMap<string, string>;

type Block = RootContent | BlockContent;

/** See `toDocument`. */
export function documentFromMarkdown(markdown: string): RichDocument {
  const root = parseMarkdown(markdown);
  const definitions = new Map<string, string>();
  collectDefinitions(root.children, definitions);
  return { object: 'document', data: {}, nodes: root.children.flatMap((node) => blocks(node, definitions)) };
}

function collectDefinitions(nodes: readonly unknown[], into: Map<string, string>): void {
  for (const node of nodes as readonly (Definition & { children?: readonly unknown[] })[]) {
    if (node.type === 'definition' && !into.has(node.identifier)) {
      into.set(node.identifier, node.url);
    }
    collectDefinitions(node.children ?? [], into);
  }
}

function block(type: string, nodes: readonly RichNode[], data?: Readonly<Record<string, unknown>>): RichNode {
  return data === undefined ? { object: 'block', type, nodes } : { object: 'block', type, data, nodes };
}

function blocks(node: Block, definitions: Definitions): RichNode[] {
  switch (node.type) {
    case 'paragraph':
      return paragraph(node.children, definitions);
    case 'heading': {
      const nodes = inlines(node.children, definitions, ' ');
      return nodes.length === 0 ? [] : [block(`heading-${Math.min(node.depth, 3)}`, nodes, {})];
    }
    case 'list':
      return [list(node, definitions)];
    case 'blockquote':
      return [block('blockquote', orEmpty(node.children.flatMap((child) => blocks(child, definitions))))];
    case 'code':
      return [code(node)];
    case 'thematicBreak':
      return [{ object: 'block', type: 'divider', data: {}, isVoid: true }];
    case 'table':
      return [table(node, definitions)];
    case 'html':
      return html(node.value);
    case 'footnoteDefinition': {
      const [first, ...rest] = node.children.flatMap((child) => blocks(child, definitions));
      const label = plainText(`[${node.label ?? node.identifier}] `);
      const isText = first?.type === 'paragraph';
      const start = block('paragraph', [label, ...(isText ? (first.nodes ?? []) : [])]);
      return [start, ...(first === undefined || isText ? [] : [first]), ...rest];
    }
    default:
      return [];
  }
}

function paragraph(children: readonly PhrasingContent[], definitions: Definitions): RichNode[] {
  const nodes = inlines(children, definitions, '\n');
  return nodes.length === 0 ? [] : [block('paragraph', nodes)];
}

/** Returns the blocks of a list or quote, which must not be empty. */
function orEmpty(nodes: readonly RichNode[]): readonly RichNode[] {
  return nodes.length === 0 ? [block('paragraph', [plainText('')])] : nodes;
}

function list(node: List, definitions: Definitions): RichNode {
  const tasks = node.children.some((item) => typeof item.checked === 'boolean');
  const items = node.children.map((item) => listItem(item, tasks, definitions));
  if (tasks) {
    return block('list-tasks', items);
  }
  if (node.ordered !== true) {
    return block('list-unordered', items);
  }
  const start = node.start ?? 1;
  return block('list-ordered', items, start === 1 ? {} : { start });
}

function listItem(item: ListItem, task: boolean, definitions: Definitions): RichNode {
  const nodes = orEmpty(item.children.flatMap((child) => blocks(child, definitions)));
  return task ? block('list-item', nodes, { checked: item.checked === true }) : block('list-item', nodes);
}

function code(node: Code): RichNode {
  const lines = node.value.split('\n').map((line) => block('code-line', [plainText(line)], {}));
  return block('code', lines, node.lang ? { syntax: node.lang } : {});
}

/** Maximum characters of column names that are repeated for each row of a table. */
const MAX_LABELS = 100_000;

/**
 * Converts a table to a list with one item for each row, and the column name before each cell; missing cells are empty.
 * If the repeated names would take too much space, they become a separate item.
 */
function table(node: Table, definitions: Definitions): RichNode {
  const [head, ...rows] = node.children;
  const names = (head?.children ?? []).map((cell) => inlines(cell.children, definitions, ' '));
  const named = names.flat().map(textOf).join('; ').length * rows.length <= MAX_LABELS;
  const cells = rows.map((row) => labelled(named ? names : [], row, definitions));
  const items = named && rows.length > 0 ? cells : [names, ...cells];
  return block(
    'list-unordered',
    items.map((item) => {
      const nodes = trimmed(joined(item.flatMap((cell, column) => (column > 0 ? [plainText('; '), ...cell] : cell))));
      return block('list-item', orEmpty(nodes.length === 0 ? [] : [block('paragraph', nodes)]));
    }),
  );
}

/** Returns the cells of a row, each preceded by the name of its column, if it has one. */
function labelled(names: readonly RichNode[][], row: TableRow, definitions: Definitions): RichNode[][] {
  return Array.from({ length: Math.max(names.length, row.children.length) }, (_, column) => {
    const name = names[column] ?? [];
    const content = inlines(row.children[column]?.children ?? [], definitions, ' ');
    return name.length === 0 ? content : [...name, plainText(content.length === 0 ? ':' : ': '), ...content];
  });
}

/** Converts HTML to text without its comments. */
function html(value: string): RichNode[] {
  const text = value.replaceAll(/<!--[\s\S]*?(-->|$)/g, '').trim();
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.length === 0 ? [] : [block('paragraph', [plainText(lines.join('\n'))])];
}

/** `lineBreak` replaces a hard break, which headings cannot have. */
function inlines(children: readonly PhrasingContent[], definitions: Definitions, lineBreak: string): RichNode[] {
  return trimmed(joined(children.flatMap((child) => inline(child, new Set(), definitions, lineBreak))));
}

function inline(
  node: PhrasingContent,
  marks: ReadonlySet<MarkName>,
  definitions: Definitions,
  lineBreak: string,
): RichNode[] {
  const below = (extra: MarkName) =>
    'children' in node
      ? node.children.flatMap((child) => inline(child, new Set([...marks, extra]), definitions, lineBreak))
      : [];
  switch (node.type) {
    case 'text':
      return [textNode([leafOf(oneLine(node.value), marks)])];
    case 'html':
      return [textNode([leafOf(oneLine(node.value.startsWith('<!--') ? '' : node.value), marks)])];
    case 'inlineCode':
      return [textNode([leafOf(oneLine(node.value), new Set([...marks, 'code']))])];
    case 'break':
      return [textNode([leafOf(lineBreak, new Set())])];
    case 'strong':
      return below('bold');
    case 'emphasis':
      return below('italic');
    case 'delete':
      return below('strikethrough');
    case 'image':
      return linkTo(oneLine(node.url), joined([textNode([leafOf(oneLine(node.alt ?? ''), marks)])]));
    case 'imageReference':
      return linkTo(
        oneLine(definitions.get(node.identifier) ?? ''),
        joined([textNode([leafOf(oneLine(node.alt ?? ''), marks)])]),
      );
    case 'link':
    case 'linkReference': {
      const url = node.type === 'link' ? node.url : (definitions.get(node.identifier) ?? '');
      const inside = node.children.flatMap((child) => inline(child, marks, definitions, ' '));
      const flat = inside.flatMap((child) => (child.type === 'link' ? (child.nodes ?? []) : [child]));
      return linkTo(oneLine(url), joined(flat));
    }
    case 'footnoteReference':
      return [textNode([leafOf(`[${node.label ?? node.identifier}]`, marks)])];
    default:
      return [];
  }
}

/** Merges adjacent texts and normalizes them. */
function joined(nodes: readonly RichNode[]): RichNode[] {
  const result: RichNode[] = [];
  let leaves: RichLeaf[] = [];
  const flush = () => {
    const tidy = normalizeLeaves(leaves);
    if (tidy.length > 0) {
      result.push(textNode(tidy));
    }
    leaves = [];
  };
  for (const node of nodes) {
    if (node.object === 'text') {
      append(leaves, node.leaves ?? []);
    } else {
      flush();
      result.push(node);
    }
  }
  flush();
  return result;
}

/** Removes leading and trailing space, which pages do not show. */
function trimmed(nodes: readonly RichNode[]): RichNode[] {
  return nodes.flatMap((node, index) => {
    const leaves = [...(node.leaves ?? [])];
    const first = leaves[0];
    if (index === 0 && first !== undefined) {
      leaves[0] = { ...first, text: first.text.trimStart() };
    }
    const last = leaves.at(-1);
    if (index === nodes.length - 1 && last !== undefined) {
      leaves[leaves.length - 1] = { ...last, text: last.text.trimEnd() };
    }
    const kept = leaves.filter((leaf) => leaf.text !== '');
    return node.object !== 'text' ? [node] : kept.length === 0 ? [] : [textNode(kept)];
  });
}

/** Replaces line breaks in the source that are not line breaks on the page. */
function oneLine(text: string): string {
  return text.replaceAll(/[ \t\r\n]+/g, (space) => (/[\r\n]/.test(space) ? ' ' : space));
}
