/** Checks rich documents against the vendor's schema of them, and reads their text. */
import { openDocument } from '../vendor/document.ts';
import { undeclared } from '../vendor/undeclared.ts';

type Fields = Readonly<Record<string, unknown>>;

const vendor = openDocument('0.146');
const SCHEMA = { $ref: '#/components/schemas/JSONDocument' };

/** Returns every violated rule of a rich document, with its path; empty if the document is valid. */
export function violationsOf(document: unknown): string[] {
  const broken = nodesIn(document).filter(
    ({ type, nodes }) => type === 'code-line' && /[\r\n]/.test(textIn({ nodes })),
  );
  return [
    ...vendor
      .check(SCHEMA, 'JSONDocument', document)
      // The vendor's schema has no code in quotes; the API document does not forbid it, and wins.
      .filter(({ error }) => !(error.keyword === 'enum' && error.data === 'code'))
      .map(({ error }) => `${error.instancePath}: ${error.message}`),
    ...undeclared(vendor, SCHEMA, 'JSONDocument', document).map(({ pointer, property }) => `${pointer}: ${property}`),
    ...broken.map((line) => `${textIn(line)}: is more than one line of code`),
  ];
}

/** Returns all text of a document as a reader sees it, with newlines between blocks and lines. */
export function textIn(node: unknown): string {
  if (!isFields(node)) {
    return '';
  }
  const leaves = arrayOf(node.leaves).map((leaf) => (isFields(leaf) ? String(leaf.text) : ''));
  const below = arrayOf(node.nodes).map(textIn);
  const blocks = arrayOf(node.nodes).some((child) => isFields(child) && child.object === 'block');
  return leaves.join('') + below.join(blocks ? '\n' : '');
}

/** Returns every node of a document, at any depth. */
export function nodesIn(node: unknown): Fields[] {
  return isFields(node) ? [node, ...arrayOf(node.nodes).flatMap(nodesIn)] : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
