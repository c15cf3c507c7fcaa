/** Rich documents: those that the emulator writes, and the check of those that it receives. */

import { isObject, type Json } from '../../core/json.ts';
import { ApiError } from '../model/answers.ts';

/** Rich documents that the emulator itself writes. Source: docs/platform-notes.md#rich-documents */
function text(words: string): unknown {
  return { object: 'text', leaves: [{ object: 'leaf', text: words, marks: [] }] };
}

export function paragraph(words: string): unknown {
  return { object: 'block', type: 'paragraph', nodes: [text(words)] };
}

export function linkParagraph(words: string, url: string): unknown {
  const link = { object: 'inline', type: 'link', data: { ref: { kind: 'url', url } }, nodes: [text(words)] };
  return { object: 'block', type: 'paragraph', nodes: [link] };
}

export function bullets(items: readonly string[]): unknown {
  const nodes = items.map((item) => ({ object: 'block', type: 'list-item', nodes: [paragraph(item)] }));
  return { object: 'block', type: 'list-unordered', nodes };
}

export function richDocument(nodes: readonly unknown[]): unknown {
  return { object: 'document', data: {}, nodes };
}

/* Validation of rich documents. Every problem names its place. Source: docs/platform-notes.md#rich-documents */

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const MARKS = words('bold italic code keyboard strikethrough superscript subscript color');

const INLINES = words('link mention emoji icon inline-math inline-image expression annotation button');

const VOID = words('divider emoji mention embed math inline-math inline-image icon');

/** Blocks whose content is text and inlines. */
const TEXT_BLOCKS = words('paragraph heading-1 heading-2 heading-3 code-line');

/** Blocks that contain only one kind of block. */
const CHILD_OF: Readonly<Record<string, string>> = {
  code: 'code-line',
  'list-ordered': 'list-item',
  'list-unordered': 'list-item',
  'list-tasks': 'list-item',
};

/** Blocks that are allowed only inside their parent. */
const NESTED_ONLY = words('list-item code-line');

const DATA_REQUIRED = words('heading-1 heading-2 heading-3 list-ordered divider hint code code-line');

const OTHER_BLOCKS =
  words(`images file drawing embed math expandable tabs table openapi-operation swagger content-ref integration
  reusable-content stepper`);

const BLOCKS = new Set([
  ...TEXT_BLOCKS,
  ...Object.keys(CHILD_OF),
  ...NESTED_ONLY,
  ...OTHER_BLOCKS,
  'hint',
  'blockquote',
  'divider',
]);

const HINT_STYLES = words('info warning danger success');

/** Returns the value as a rich document, or throws a 400 that names every problem. */
export function requireDocument(value: unknown, place: string): Json {
  const faults = value === undefined ? [`${place}: required`] : findDocumentProblems(value, place);
  if (faults.length > 0) {
    throw new ApiError(400, faults.join('; '));
  }
  return value as Json;
}

/** Returns the value as a rich document if there is one, or throws a 400. */
export function optionalDocument(value: unknown, place: string): Json | undefined {
  return value === undefined ? undefined : requireDocument(value, place);
}

/** Returns all problems of a rich document as `place: problem`. */
export function findDocumentProblems(value: unknown, place: string): string[] {
  if (!isObject(value) || value.object !== 'document') {
    return [`${place}.object: must be document`];
  }
  const faults = [
    ...unknownMembers(value, ['object', 'data', 'nodes', 'meta'], place),
    ...dataFaults(value, place, true),
  ];
  return [...faults, ...nodeFaults(value.nodes, `${place}.nodes`, (node, at) => topLevelFaults(node, at))];
}

function unknownMembers(node: Record<string, unknown>, known: readonly string[], place: string): string[] {
  return Object.keys(node)
    .filter((key) => !known.includes(key))
    .map((key) => `${place}.${key}: unknown field`);
}

function dataFaults(node: Record<string, unknown>, place: string, required: boolean): string[] {
  if (node.data === undefined) {
    return required ? [`${place}.data: required`] : [];
  }
  return isObject(node.data) ? [] : [`${place}.data: must be an object`];
}

function nodeFaults(nodes: unknown, place: string, check: (node: unknown, at: string) => string[]): string[] {
  if (!Array.isArray(nodes)) {
    return [`${place}: must be an array`];
  }
  return nodes.flatMap((node, at) => check(node, `${place}.${at}`));
}

function topLevelFaults(node: unknown, place: string): string[] {
  if (isObject(node) && node.object === 'block' && !NESTED_ONLY.has(String(node.type))) {
    return blockFaults(node, place);
  }
  const what = isObject(node) ? String(node.type ?? node.object) : typeof node;
  return [`${place}: ${what} is not allowed at this level`];
}

function blockFaults(node: Record<string, unknown>, place: string): string[] {
  const type = String(node.type);
  if (!BLOCKS.has(type)) {
    return [`${place}.type: unknown block "${type}"`];
  }
  const faults = [...dataFaults(node, place, DATA_REQUIRED.has(type)), ...voidFaults(node, type, place)];
  if (type === 'hint' && isObject(node.data) && !HINT_STYLES.has(String(node.data.style))) {
    faults.push(`${place}.data.style: must be one of ${[...HINT_STYLES].join(', ')}`);
  }
  return OTHER_BLOCKS.has(type) || VOID.has(type) ? faults : [...faults, ...contentFaults(node, type, place)];
}

function voidFaults(node: Record<string, unknown>, type: string, place: string): string[] {
  return VOID.has(type) && node.isVoid !== true ? [`${place}.isVoid: must be true`] : [];
}

function contentFaults(node: Record<string, unknown>, type: string, place: string): string[] {
  const nodes = `${place}.nodes`;
  if (TEXT_BLOCKS.has(type)) {
    return nodeFaults(node.nodes, nodes, textOrInlineFaults);
  }
  const only = CHILD_OF[type];
  if (only === undefined) {
    return nodeFaults(node.nodes, nodes, topLevelFaults);
  }
  return nodeFaults(node.nodes, nodes, (child, at) =>
    isObject(child) && child.object === 'block' && child.type === only
      ? blockFaults(child, at)
      : [`${at}: ${type} contains ${only} blocks only`],
  );
}

function textOrInlineFaults(node: unknown, place: string): string[] {
  if (isObject(node) && node.object === 'text') {
    return nodeFaults(node.leaves, `${place}.leaves`, leafFaults);
  }
  if (!isObject(node) || node.object !== 'inline') {
    return [`${place}: must be text or an inline`];
  }
  const type = String(node.type);
  if (!INLINES.has(type)) {
    return [`${place}.type: unknown inline "${type}"`];
  }
  return [
    ...voidFaults(node, type, place),
    ...inlineDataFaults(node, type, place),
    ...inlineContent(node, type, place),
  ];
}

function inlineContent(node: Record<string, unknown>, type: string, place: string): string[] {
  return type === 'link' || type === 'annotation' ? nodeFaults(node.nodes, `${place}.nodes`, textOrInlineFaults) : [];
}

function inlineDataFaults(node: Record<string, unknown>, type: string, place: string): string[] {
  const data = isObject(node.data) ? node.data : {};
  if ((type === 'link' || type === 'mention') && !isObject(data.ref)) {
    return [`${place}.data.ref: required`];
  }
  return type === 'emoji' && typeof data.code !== 'string' ? [`${place}.data.code: required`] : [];
}

function leafFaults(leaf: unknown, place: string): string[] {
  if (!isObject(leaf) || leaf.object !== 'leaf') {
    return [`${place}.object: must be leaf`];
  }
  const faults = typeof leaf.text === 'string' ? [] : [`${place}.text: required`];
  if (!Array.isArray(leaf.marks)) {
    return [...faults, `${place}.marks: required`];
  }
  const marks = leaf.marks.flatMap((mark: unknown, at) => {
    const known = isObject(mark) && mark.object === 'mark' && MARKS.has(String(mark.type));
    return known ? [] : [`${place}.marks.${at}: unknown mark`];
  });
  return [...faults, ...marks];
}
