/** Syntax trees of Octavo's source, for rules that the linter cannot express. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));

/** A node of a syntax tree (ESTree). */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly [member: string]: unknown;
}

/** Calls with every node of every source file and its position, `file:line`. */
export function visitSources(visitor: (node: SyntaxNode, place: () => string) => void): void {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((each) => each.endsWith('.ts') && !each.endsWith('.d.ts'))) {
    const text = readFileSync(`${SOURCES}${file}`, 'utf8');
    const visit = (node: unknown): void => {
      if (Array.isArray(node)) {
        node.forEach(visit);
      } else if (typeof node === 'object' && node !== null) {
        if (isSyntaxNode(node)) {
          visitor(node, () => `${file}:${text.slice(0, node.start).split('\n').length}`);
        }
        Object.values(node).forEach(visit);
      }
    };
    visit(parseSync(file, text).program);
  }
}

export function isSyntaxNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
