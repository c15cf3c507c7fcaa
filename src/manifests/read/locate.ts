import { isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml';
import type { EntryPath } from '../../kinds/model/manifest.ts';
import { type Converter, keyText, offsetOf } from './convert.ts';

/** Nodes of an entry of a manifest: its key and its value. */
export interface EntryNodes {
  readonly key: ParsedNode;
  readonly value: ParsedNode | null;
}

/** Finds the offsets of paths inside an entry. */
export class Locator {
  private readonly converter: Converter;
  private readonly members = new WeakMap<YAMLMap.Parsed, Map<string, EntryNodes>>();

  constructor(converter: Converter) {
    this.converter = converter;
  }

  /** Returns the offset of the value at a path, or of the nearest key above it if there is no value. */
  offsetOfValue(entry: EntryNodes, path: EntryPath): number {
    const { found, pair, item } = this.walk(entry, path);
    if (path.length === 0) {
      return offsetOf(entry.key);
    }
    const value = pair === null ? item : pair.value;
    return found && value !== null && !isEmpty(value) ? offsetOf(value) : offsetOf(pair?.key ?? item);
  }

  /** Returns the offset of the key at a path, or of the item of a list. */
  offsetOfKey(entry: EntryNodes, path: EntryPath): number {
    const { pair, item } = this.walk(entry, path);
    return offsetOf(pair?.key ?? item);
  }

  private walk(entry: EntryNodes, path: EntryPath) {
    let pair: EntryNodes | null = entry;
    let item: ParsedNode | null = null;
    for (const segment of path) {
      const holder: ParsedNode | null = this.converter.resolve(pair === null ? item : pair.value);
      if (isMap(holder)) {
        const next = this.membersOf(holder as YAMLMap.Parsed).get(String(segment));
        if (next === undefined) {
          return { found: false, pair, item };
        }
        pair = next;
        item = null;
      } else if (isSeq(holder) && typeof segment === 'number' && segment < holder.items.length) {
        pair = null;
        item = holder.items[segment] as ParsedNode;
      } else {
        return { found: false, pair, item };
      }
    }
    return { found: true, pair, item };
  }

  private membersOf(map: YAMLMap.Parsed): Map<string, EntryNodes> {
    let members = this.members.get(map);
    if (members === undefined) {
      members = new Map();
      for (const pair of map.items) {
        const key = keyText(pair.key);
        if (!members.has(key)) {
          members.set(key, pair);
        }
      }
      this.members.set(map, members);
    }
    return members;
  }
}

function isEmpty(node: ParsedNode): boolean {
  return isScalar(node) && node.source === '';
}
