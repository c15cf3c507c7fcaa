/** Conversion of YAML nodes to plain data, and the offsets of paths in it. */
import { quote } from '../core/text/suggest.ts';
import type { EntryPath } from '../kinds/model/manifest.ts';
import {
  type AliasNode,
  keyText,
  type MapNode,
  type NodePair,
  offsetOf,
  type ScalarNode,
  type SequenceNode,
  type YamlNode,
} from './yaml.ts';

/** Maximum nesting: deeper than any manifest, and shallow enough for every recursive walk. */
const MAX_DEPTH = 100;

/** Every 2^6 characters of a string count as one more value, because validating an expanded alias takes as long. */
const LONG_TEXT = 6;

/** A `{ file: path }` whose file has not been read yet. */
export interface NamedFile {
  /** As written. */
  readonly file: string;
  readonly offset: number;
  /** Replaces the mapping with the content. */
  put(value: unknown): void;
}

/** Number of values that the aliases of one file expand to, and its limit. */
export interface AliasBudget {
  used: number;
  readonly most: number;
}

/** Converts the nodes of one document to plain data, and finds the offsets of paths in it. */
export class Converter {
  readonly files: NamedFile[] = [];
  /** True once the data differs from the manifest because of a problem. */
  broken = false;
  /** Target of each alias. */
  private readonly aliases = new Map<AliasNode, YamlNode>();
  private readonly anchors = new Map<string, { node: YamlNode; value: unknown; size: number }>();
  private readonly members = new WeakMap<MapNode, ReadonlyMap<string, NodePair>>();
  private readonly report: (offset: number, message: string) => void;
  private readonly place: (offset: number) => string;
  private readonly budget: AliasBudget;
  private size = 0;
  private findFiles = false;

  /** @param place `file:line` of an offset */
  constructor(
    report: (offset: number, message: string) => void,
    place: (offset: number) => string,
    budget: AliasBudget,
  ) {
    this.report = report;
    this.place = place;
    this.budget = budget;
  }

  /** Converts a section's value. A `{ file }` is recognized from `filesFrom` levels below it on; null: never. */
  convert(node: YamlNode | null, filesFrom: number | null): unknown {
    this.findFiles = filesFrom !== null;
    return this.value(node, 0, filesFrom ?? 0);
  }

  /** Returns the node, or the target of an alias. */
  resolve(node: YamlNode | null | undefined): YamlNode | null {
    return (node?.type === 'alias' ? this.aliases.get(node) : node) ?? null;
  }

  private value(node: YamlNode | null, depth: number, filesFrom: number): unknown {
    if (node === null) {
      return null;
    }
    if (node.type === 'alias') {
      return this.alias(node);
    }
    const before = this.size;
    this.size += 1 + (node.type === 'scalar' && typeof node.value === 'string' ? node.value.length >> LONG_TEXT : 0);
    const value = node.type === 'scalar' ? this.scalar(node) : this.collection(node, depth, filesFrom);
    if (node.anchor !== undefined) {
      this.anchors.set(node.anchor, { node, value, size: this.size - before });
    }
    return value;
  }

  private collection(node: MapNode | SequenceNode, depth: number, filesFrom: number): unknown {
    if (depth >= MAX_DEPTH) {
      this.fail(offsetOf(node), `is nested more than ${MAX_DEPTH} levels deep`);
      return null;
    }
    if (node.type === 'map') {
      return this.mapping(node, depth, filesFrom);
    }
    const list: unknown[] = [];
    for (const [index, item] of node.items.entries()) {
      list.push(this.value(item, depth + 1, filesFrom));
      this.noteFile(list, index, item, depth + 1, filesFrom);
    }
    return list;
  }

  private mapping(node: MapNode, depth: number, filesFrom: number): Record<string, unknown> {
    // No prototype: lookups find only written keys, and arbitrary keys do not create a V8 hidden class each.
    const object: Record<string, unknown> = Object.create(null);
    for (const { key: keyNode, value: valueNode } of node.pairs) {
      const key = keyText(keyNode);
      if (key === '__proto__' || key === '<<') {
        const reason = key === '<<' ? ': merge keys are not YAML 1.2; write the fields out' : '';
        this.report(offsetOf(keyNode), `${quote(key)} cannot be used as a key${reason}`);
      } else if (Object.hasOwn(object, key)) {
        const first = this.place(offsetOf(this.membersOf(node).get(key)?.key));
        this.report(offsetOf(keyNode), `${quote(key)} is written twice; first at ${first}`);
      } else {
        object[key] = this.value(valueNode, depth + 1, filesFrom);
        this.noteFile(object, key, valueNode, depth + 1, filesFrom);
      }
    }
    return object;
  }

  private noteFile(holder: object, key: string | number, written: YamlNode | null, depth: number, from: number): void {
    if (!this.findFiles || depth < from) {
      return;
    }
    const node = this.resolve(written);
    const [pair] = node?.type === 'map' && node.pairs.length === 1 ? node.pairs : [];
    const value = this.resolve(pair?.value);
    if (keyText(pair?.key) === 'file' && value?.type === 'scalar' && typeof value.value === 'string') {
      const put = (content: unknown) => void Reflect.set(holder, key, content);
      this.files.push({ file: value.value, offset: offsetOf(value), put });
    }
  }

  private scalar(node: ScalarNode): unknown {
    const { value, source, start } = node;
    if (typeof value === 'number' && !Number.isFinite(value)) {
      this.report(start, `${source} is not a finite number; use a finite number`);
      return 0;
    }
    return value;
  }

  private alias(node: AliasNode): unknown {
    const { name, start: offset } = node;
    const target = this.anchors.get(name);
    if (target === undefined) {
      this.fail(offset, `the anchor &${name} is not defined before this alias`);
      return null;
    }
    this.size += target.size;
    this.budget.used += target.size;
    if (this.budget.used > this.budget.most) {
      if (!this.broken) {
        this.fail(offset, `the aliases of this file expand to more than ${this.budget.most} values; use fewer aliases`);
      }
      return null;
    }
    this.aliases.set(node, target.node);
    return target.value;
  }

  private fail(offset: number, message: string): void {
    this.broken = true;
    this.report(offset, message);
  }

  /** Returns the offset of the value at a path, or of the nearest key above it if there is no value. */
  offsetOfValue(entry: NodePair, path: EntryPath): number {
    const { found, pair, item } = this.walk(entry, path);
    if (path.length === 0) {
      return offsetOf(entry.key);
    }
    const value = pair === null ? item : pair.value;
    return found && value !== null && !isEmpty(value) ? offsetOf(value) : offsetOf(pair?.key ?? item);
  }

  /** Returns the offset of the key at a path, or of the item of a list. */
  offsetOfKey(entry: NodePair, path: EntryPath): number {
    const { pair, item } = this.walk(entry, path);
    return offsetOf(pair?.key ?? item);
  }

  private walk(entry: NodePair, path: EntryPath) {
    let pair: NodePair | null = entry;
    let item: YamlNode | null = null;
    for (const segment of path) {
      const holder: YamlNode | null = this.resolve(pair === null ? item : pair.value);
      const next = holder?.type === 'map' ? this.membersOf(holder).get(String(segment)) : undefined;
      if (next !== undefined) {
        pair = next;
        item = null;
      } else if (holder?.type === 'sequence' && typeof segment === 'number' && segment < holder.items.length) {
        pair = null;
        item = holder.items[segment] ?? null;
      } else {
        return { found: false, pair, item };
      }
    }
    return { found: true, pair, item };
  }

  /** Returns the first pair of each key. */
  private membersOf(map: MapNode): ReadonlyMap<string, NodePair> {
    const known = this.members.get(map);
    const members = known ?? new Map(map.pairs.toReversed().map((pair) => [keyText(pair.key), pair]));
    this.members.set(map, members);
    return members;
  }
}

function isEmpty(node: YamlNode): boolean {
  return node.type === 'scalar' && node.source === '';
}
