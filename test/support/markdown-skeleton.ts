/** Structure of Markdown texts, for comparison without the content of code. */
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly url?: string;
  readonly children?: readonly Node[];
}

/**
 * Structure of a Markdown text (GitHub's) without the content of code: nothing there is a mention, a reference, a link
 * or HTML on any forge. Two texts with the same skeleton have the same effect, whatever their code contains.
 */
export function markdownSkeleton(markdown: string): string {
  const root = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }) as Node;
  return outline(root);
}

/**
 * Skeleton of a comment whose files have any names: their encoded addresses are left out, their number, which depends on
 * the length of the names, and the estimated time.
 */
export function commentSkeleton(comment: string): string {
  return markdownSkeleton(comment)
    .replaceAll(/(?: text ", ")? link http[\w.:/-]+\/blob\/[\w.%/-]+(?:#L\d+)? \(inlineCode\)/g, ' FILE')
    .replaceAll(/(?: FILE)+/g, ' FILES')
    .replaceAll(/(?:under|about) [\d.]+ (?:s|min|h)\b/g, 'TIME')
    .replaceAll(/(?<= FILES text " and )\d+/g, 'N');
}

function outline(node: Node): string {
  const { type, value, url = '', children = [] } = node;
  const text = type === 'code' || type === 'inlineCode' || value === undefined ? '' : JSON.stringify(value);
  const inside = children.map(outline).join(' ');
  return [type, url, text, inside === '' ? '' : `(${inside})`].filter((part) => part !== '').join(' ');
}

/** The content of all code, in order. */
export function codeIn(markdown: string): readonly string[] {
  const found: string[] = [];
  const walk = ({ type, value = '', children = [] }: Node) => {
    if (type === 'code' || type === 'inlineCode') {
      found.push(value);
    }
    children.forEach(walk);
  };
  walk(fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }) as Node);
  return found;
}
