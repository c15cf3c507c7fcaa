/*
 * Text of a page in the requested form (`format`, `evaluated`, `dereferenced`). Decisions of this emulator:
 * `space.vars.NAME` and `page.vars.NAME` are deterministic expressions. Any other has no value: it becomes empty, or
 * stays when only deterministic expressions are evaluated. Dereferencing inserts included content and turns links into
 * URLs. Source: docs/platform-notes.md#content
 */

import type { ContentRef } from '../documents/content-reference.ts';
import { convertFromMarkdown } from '../documents/from-markdown.ts';
import {
  applyReplacements,
  EXPRESSION,
  getSpan,
  INCLUDE,
  matchesOutsideCode,
  parseMarkdown,
  walkNodes,
} from '../documents/markdown.ts';
import { type ReferenceContext, resolve, toReference } from './links.ts';
import type { Content, PageRecord } from './records.ts';

/** Requested form of a page's text. */
export interface TextOptions {
  readonly evaluated: 'true' | 'false' | 'deterministic-only';
  readonly dereferenced: 'true' | 'false' | 'reusable-contents';
}

/** Context in which a text is rendered. */
export interface TextContext extends ReferenceContext {
  /** Returns the public address of a page or file; undefined for other targets. */
  addressOf(ref: ContentRef): string | undefined;
}

function withIncludes(content: Content, body: string, within: readonly string[] = []): string {
  const replacements = matchesOutsideCode(body, INCLUDE).flatMap(({ start, end, inner }) => {
    const reusable = content.reusableContents.find(({ title }) => title === inner);
    const isAround = within.includes(inner);
    return reusable === undefined || isAround
      ? []
      : [{ start, end, text: withIncludes(content, reusable.body, [...within, inner]) }];
  });
  return applyReplacements(body, replacements);
}

/** Replaces addresses of pages and files with their public addresses. */
function withAddresses(scope: TextContext, page: PageRecord, body: string): string {
  const replacements = [...walkNodes(parseMarkdown(body))].flatMap((node) => {
    if (node.type !== 'link' && node.type !== 'image' && node.type !== 'definition') {
      return [];
    }
    const address = scope.addressOf(toReference(resolve(scope, page, node.url).target));
    const [start, end] = getSpan(node);
    const opening = body.slice(start, end).lastIndexOf(node.type === 'definition' ? ']:' : '](');
    if (address === undefined || opening === -1) {
      return [];
    }
    const title = node.title ? ` ${JSON.stringify(node.title)}` : '';
    const text = node.type === 'definition' ? `${address}${title}` : `${address}${title})`;
    return [{ start: start + opening + 2, end, text: node.type === 'definition' ? ` ${text}` : text }];
  });
  return applyReplacements(body, replacements);
}

function variableAt(content: Content, page: PageRecord, expression: string): string | undefined {
  const [, scope, name = ''] = /^(space|page)\.vars\.([\p{L}\p{N}_-]+)$/u.exec(expression.trim()) ?? [];
  const variables = scope === 'page' ? page.variables : content.variables;
  return scope !== undefined && variables !== undefined && Object.hasOwn(variables, name) ? variables[name] : undefined;
}

function evaluate(content: Content, page: PageRecord, body: string, isOnlySure: boolean): string {
  const replacements = matchesOutsideCode(body, EXPRESSION).flatMap(({ start, end, inner }) => {
    const value = variableAt(content, page, inner);
    return value === undefined && isOnlySure ? [] : [{ start, end, text: value ?? '' }];
  });
  return applyReplacements(body, replacements);
}

/** Returns the page's Markdown in the requested form. */
export function renderMarkdown(scope: TextContext, page: PageRecord, options: TextOptions): string {
  let body = page.body;
  if (options.dereferenced !== 'false') {
    body = withIncludes(scope.content, body);
  }
  if (options.dereferenced === 'true') {
    body = withAddresses(scope, page, body);
  }
  if (options.evaluated !== 'false') {
    body = evaluate(scope.content, page, body, options.evaluated === 'deterministic-only');
  }
  return body;
}

/** Returns the page as a rich document in the requested form. */
export function renderDocument(scope: TextContext, page: PageRecord, options: TextOptions): unknown {
  return convertFromMarkdown(renderMarkdown(scope, page, options), {
    toReference: (address) => toReference(resolve(scope, page, address).target),
    reusable: (title) => {
      const found = scope.content.reusableContents.find((one) => one.title === title);
      return found && { kind: 'reusable-content', reusableContent: found.id, space: scope.space };
    },
  });
}

/** Returns the pages as readers see them: with included content and the values of expressions. */
export function renderForReaders(content: Content): PageRecord[] {
  return content.pages.map((page) => ({
    ...page,
    body: evaluate(content, page, withIncludes(content, page.body), false),
  }));
}
