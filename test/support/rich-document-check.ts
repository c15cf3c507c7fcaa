/*
 * Checks rich documents against their documented rules only. Shares no code with the modules that create documents or
 * with the embedded platform, so that it does not repeat their mistakes.
 * Source: docs/platform-notes.md#rich-documents
 */

type Fields = Readonly<Record<string, unknown>>;

/** One violated rule, with its path: `nodes.0.nodes.1.data: …`. */
type Report = (path: string, problem: string) => void;

const MARKS = 'bold italic code keyboard strikethrough superscript subscript color'.split(' ');
const INLINES = 'link mention emoji icon inline-math inline-image expression annotation button'.split(' ');
const TEXTUAL = 'paragraph heading-1 heading-2 heading-3 code-line'.split(' ');
const LISTS = 'list-ordered list-unordered list-tasks'.split(' ');
const DATA_REQUIRED = 'heading-1 heading-2 heading-3 list-ordered divider hint code code-line'.split(' ');
/** Blocks whose content the section does not describe. */
const OTHERS = [
  'images file drawing embed math expandable tabs table openapi-operation swagger content-ref integration',
  'reusable-content stepper',
].flatMap((names) => names.split(' '));
const BLOCKS = [...TEXTUAL, ...LISTS, ...OTHERS, 'list-item', 'blockquote', 'hint', 'code', 'divider'];
const VOID = 'divider emoji mention embed math inline-math'.split(' ');
const HINT_STYLES = 'info warning danger success'.split(' ');

/** Fields of a reference by kind: the required ones, and the optional ones. */
const REFERENCES: Readonly<Record<string, readonly [required: readonly string[], optional: readonly string[]]>> = {
  file: [['file'], ['space']],
  url: [['url'], []],
  page: [['page'], ['space']],
  anchor: [['anchor'], ['page', 'space']],
  user: [['user'], []],
  collection: [['collection'], []],
  space: [['space'], []],
  'reusable-content': [['reusableContent'], ['space']],
  openapi: [['spec'], []],
  tag: [['tag'], []],
};

/** Returns every violated rule of a rich document, with its path; empty if the document is valid. */
export function violationsOf(document: unknown): string[] {
  const violations: string[] = [];
  const report: Report = (path, problem) => violations.push(`${path || 'document'}: ${problem}`);
  if (!isFields(document)) {
    return ['document: is no object'];
  }
  if (document.object !== 'document') {
    report('object', 'is not document');
  }
  onlyFields(document, ['object', 'data', 'nodes', 'meta'], '', report);
  if (!isFields(document.data)) {
    report('data', 'is no object');
  } else if (document.data.schemaVersion !== undefined && !Number.isInteger(document.data.schemaVersion)) {
    report('data.schemaVersion', 'is no integer');
  }
  each(document.nodes, 'nodes', report, (node, path) => freeBlock(node, path, report));
  return violations;
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

/** A block where any block is allowed: at the top, in a quote, a hint or a list item. */
function freeBlock(node: unknown, path: string, report: Report): void {
  if (!isFields(node) || node.object !== 'block') {
    report(path, `${isFields(node) ? String(node.object) : typeof node} where a block has to be`);
  } else if (node.type === 'list-item' || node.type === 'code-line') {
    report(path, `${node.type} outside of what holds it`);
  } else {
    block(node, path, report);
  }
}

function block(node: Fields, path: string, report: Report): void {
  const type = String(node.type);
  if (!BLOCKS.includes(type)) {
    report(`${path}.type`, `${type} is no block`);
    return;
  }
  onlyFields(node, ['object', 'type', 'data', 'isVoid', 'nodes'], path, report);
  blockData(node, type, path, report);
  voidness(node, type, path, report);
  if (OTHERS.includes(type) || type === 'divider') {
    return;
  }
  const nodes = `${path}.nodes`;
  if (TEXTUAL.includes(type)) {
    each(node.nodes, nodes, report, (child, at) => textual(child, at, report));
    oneLineOfCode(node, type, nodes, report);
  } else if (LISTS.includes(type)) {
    each(node.nodes, nodes, report, (child, at) => only('list-item', child, at, report));
  } else if (type === 'code') {
    each(node.nodes, nodes, report, (child, at) => only('code-line', child, at, report));
  } else {
    if (type === 'list-item' && arrayOf(node.nodes).length === 0) {
      report(nodes, 'has no block');
    }
    each(node.nodes, nodes, report, (child, at) => freeBlock(child, at, report));
  }
}

function only(type: string, node: unknown, path: string, report: Report): void {
  if (isFields(node) && node.object === 'block' && node.type === type) {
    block(node, path, report);
  } else {
    report(path, `is no ${type}`);
  }
}

function blockData(node: Fields, type: string, path: string, report: Report): void {
  const at = `${path}.data`;
  if (!isFields(node.data)) {
    if (node.data !== undefined || DATA_REQUIRED.includes(type)) {
      report(at, 'is no object');
    }
    return;
  }
  const { start, checked, style, syntax } = node.data;
  if (type === 'list-ordered' && start !== undefined && typeof start !== 'number') {
    report(`${at}.start`, 'is no number');
  }
  if (type === 'list-item' && checked !== undefined && typeof checked !== 'boolean') {
    report(`${at}.checked`, 'is no boolean');
  }
  if (type === 'hint' && !HINT_STYLES.includes(String(style))) {
    report(`${at}.style`, 'is no style of a hint');
  }
  if (type === 'code' && syntax !== undefined && typeof syntax !== 'string') {
    report(`${at}.syntax`, 'is no string');
  }
}

function oneLineOfCode(node: Fields, type: string, path: string, report: Report): void {
  if (type === 'code-line' && /[\r\n]/.test(textIn(node))) {
    report(path, 'is more than one line');
  }
}

function voidness(node: Fields, type: string, path: string, report: Report): void {
  if (VOID.includes(type) && node.isVoid !== true) {
    report(`${path}.isVoid`, 'is not true');
  }
}

function textual(node: unknown, path: string, report: Report): void {
  if (!isFields(node) || (node.object !== 'text' && node.object !== 'inline')) {
    report(path, 'is neither text nor inline');
  } else if (node.object === 'text') {
    onlyFields(node, ['object', 'leaves'], path, report);
    each(node.leaves, `${path}.leaves`, report, (leaf, at) => checkLeaf(leaf, at, report));
  } else {
    inline(node, path, report);
  }
}

function inline(node: Fields, path: string, report: Report): void {
  const type = String(node.type);
  if (!INLINES.includes(type)) {
    report(`${path}.type`, `${type} is no inline`);
    return;
  }
  onlyFields(node, ['object', 'type', 'data', 'isVoid', 'nodes'], path, report);
  voidness(node, type, path, report);
  const data = isFields(node.data) ? node.data : {};
  if (type === 'link' || type === 'mention') {
    reference(data.ref, `${path}.data.ref`, report);
  }
  if (type === 'emoji' && typeof data.code !== 'string') {
    report(`${path}.data.code`, 'is no string');
  }
  if (type === 'link') {
    each(node.nodes, `${path}.nodes`, report, (child, at) => textual(child, at, report));
  }
}

function reference(ref: unknown, path: string, report: Report): void {
  const rule = isFields(ref) ? REFERENCES[String(ref.kind)] : undefined;
  if (!isFields(ref) || rule === undefined) {
    report(path, 'is no reference');
    return;
  }
  const [required, optional] = rule;
  onlyFields(ref, ['kind', ...required, ...optional], path, report);
  for (const name of [...required, ...optional]) {
    if (typeof ref[name] !== 'string' && (ref[name] !== undefined || required.includes(name))) {
      report(`${path}.${name}`, 'is no string');
    }
  }
}

function checkLeaf(leaf: unknown, path: string, report: Report): void {
  if (!isFields(leaf) || leaf.object !== 'leaf') {
    report(path, 'is no leaf');
    return;
  }
  onlyFields(leaf, ['object', 'text', 'marks'], path, report);
  if (typeof leaf.text !== 'string') {
    report(`${path}.text`, 'is no string');
  }
  each(leaf.marks, `${path}.marks`, report, (mark, at) => checkMark(mark, at, report));
}

function checkMark(mark: unknown, path: string, report: Report): void {
  if (!isFields(mark) || mark.object !== 'mark' || !MARKS.includes(String(mark.type))) {
    report(path, 'is no mark');
    return;
  }
  onlyFields(mark, ['object', 'type', 'data'], path, report);
  if (mark.type === 'color' && !(isFields(mark.data) && ('text' in mark.data || 'background' in mark.data))) {
    report(`${path}.data`, 'has no color');
  }
}

function onlyFields(fields: Fields, known: readonly string[], path: string, report: Report): void {
  for (const name of Object.keys(fields)) {
    if (!known.includes(name)) {
      report(path === '' ? name : `${path}.${name}`, 'is not a field here');
    }
  }
}

function each(list: unknown, path: string, report: Report, check: (item: unknown, path: string) => void): void {
  if (!Array.isArray(list)) {
    report(path, 'is no array');
    return;
  }
  for (const [index, item] of list.entries()) {
    check(item, `${path}.${index}`);
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
