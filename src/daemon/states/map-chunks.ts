/** Large maps in parts, so that a change writes only the part that it is in. */

/** Entries of a part, on average. */
const CHUNK = 256;

/** Part of a map: its name, and its entries as JSON. */
export interface MapChunk {
  readonly part: string;
  readonly content: string;
}

/** Splits a map by its keys. The same key is in the same part until the map has doubled. */
export function splitMap<V>(name: string, map: ReadonlyMap<string, V>): readonly MapChunk[] {
  const count = chunkCount(map.size);
  const chunks: (readonly [string, V])[][] = Array.from({ length: count }, () => []);
  for (const entry of map) {
    chunks[hashOf(entry[0]) % count]?.push(entry);
  }
  return chunks.map((entries, index) => ({
    part: `${name}/${count}/${index}`,
    content: JSON.stringify(entries.sort(byKey)),
  }));
}

/** Joins the parts of a map, sorted by key. */
export function joinMap<V>(contents: readonly string[]): ReadonlyMap<string, V> {
  const entries = contents.flatMap((content) => JSON.parse(content) as [string, V][]);
  return new Map(entries.sort(byKey));
}

/** Returns a power of two, so that few keys change their part when the map grows. */
function chunkCount(size: number): number {
  let count = 1;
  while (count * CHUNK < size) {
    count *= 2;
  }
  return count;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
