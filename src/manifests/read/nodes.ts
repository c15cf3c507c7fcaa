/** Nodes of a YAML document. They have only what reading a manifest requires, because there is one for each value. */
import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml';

interface Span {
  /** Offset of the first character. */
  readonly start: number;
  /** Offset after the last character. */
  readonly end: number;
}

export interface ScalarNode extends Span {
  readonly type: 'scalar';
  readonly value: unknown;
  /** As written, without quotes. Empty for a value that is left out. */
  readonly source: string;
  readonly anchor?: string;
}

export interface NodePair {
  readonly key: YamlNode;
  readonly value: YamlNode | null;
}

export interface MapNode extends Span {
  readonly type: 'map';
  readonly pairs: readonly NodePair[];
  readonly anchor?: string;
}

export interface SequenceNode extends Span {
  readonly type: 'sequence';
  readonly items: readonly (YamlNode | null)[];
  readonly anchor?: string;
}

export interface AliasNode extends Span {
  readonly type: 'alias';
  readonly name: string;
}

export type YamlNode = ScalarNode | MapNode | SequenceNode | AliasNode;

/** Returns the text of a key. */
export function keyText(node: YamlNode | null | undefined): string {
  return node?.type === 'scalar' ? String(node.value ?? '') : '';
}

/** Returns the start offset of a node. */
export function offsetOf(node: YamlNode | null | undefined): number {
  return node?.start ?? 0;
}

/** Converts a node of the YAML library. */
export function nodeOf(node: ParsedNode): YamlNode {
  const [start, end] = node.range;
  if (isAlias(node)) {
    return { type: 'alias', start, end, name: node.source };
  }
  const anchor = node.anchor === undefined ? {} : { anchor: node.anchor };
  if (isMap(node)) {
    const pairs = (node as YAMLMap.Parsed).items.map(({ key, value }) => ({
      key: nodeOf(key),
      value: value === null ? null : nodeOf(value),
    }));
    return { type: 'map', start, end, pairs, ...anchor };
  }
  if (isSeq(node)) {
    return { type: 'sequence', start, end, items: node.items.map((item) => nodeOf(item as ParsedNode)), ...anchor };
  }
  const { value, source } = isScalar(node) ? node : { value: null, source: '' };
  return { type: 'scalar', start, end, value, source: source ?? '', ...anchor };
}
