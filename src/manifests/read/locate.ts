import type { EntryPath } from '../../kinds/model/manifest.ts';
import type { Converter } from './convert.ts';
import { keyText, type MapNode, type NodePair, offsetOf, type YamlNode } from './nodes.ts';

/** Finds the offsets of paths inside an entry. */
export class Locator {
  private readonly converter: Converter;
  private readonly members = new WeakMap<MapNode, Map<string, NodePair>>();

  constructor(converter: Converter) {
    this.converter = converter;
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
      const holder: YamlNode | null = this.converter.resolve(pair === null ? item : pair.value);
      if (holder?.type === 'map') {
        const next = this.membersOf(holder).get(String(segment));
        if (next === undefined) {
          return { found: false, pair, item };
        }
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

  private membersOf(map: MapNode): Map<string, NodePair> {
    let members = this.members.get(map);
    if (members === undefined) {
      members = new Map();
      for (const pair of map.pairs) {
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

function isEmpty(node: YamlNode): boolean {
  return node.type === 'scalar' && node.source === '';
}
