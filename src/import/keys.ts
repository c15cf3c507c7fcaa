import { keyOfNothing, slugOf } from './slug.ts';

/** What asks for a key, among others whose keys must differ from its own. */
export interface Nameless<Item> {
  readonly item: Item;
  readonly kind: string;
  /** What its key can be made of, the best first. */
  readonly names: readonly string[];
  /** By which equals are told apart, the same whatever order they are listed in. */
  readonly order: string;
}

/** A key that was chosen, and what a person should know about the choice. */
export interface ChosenKey {
  readonly key: string;
  readonly note: string | null;
}

interface Candidate<Item> extends Nameless<Item> {
  readonly slugs: readonly string[];
  /** Where no name has letters that a key can have. */
  readonly isMadeUp: boolean;
}

/** Names that some file systems keep for themselves, and keys become names of files. */
const RESERVED = ['con', 'prn', 'aux', 'nul'];

/**
 * Chooses keys that differ from each other and from those taken, also on file systems that do not tell `A` from `a`.
 * What has a name to itself has that; of those that share one, each has its next name where that is its own, and the
 * others are numbered.
 */
export function chooseKeys<Item>(
  items: readonly Nameless<Item>[],
  taken: Iterable<string>,
): ReadonlyMap<Item, ChosenKey> {
  const used = new Set([...taken, ...RESERVED].map((key) => key.toLowerCase()));
  const chosen = new Map<Item, ChosenKey>();
  const choose = ({ item, isMadeUp, names }: Candidate<Item>, key: string, note: string | null) => {
    used.add(key);
    const unspeakable = `no key can be made of ${JSON.stringify(names[0] ?? '')}; a better one can be chosen until it is applied`;
    chosen.set(item, { key, note: isMadeUp ? unspeakable : note });
  };
  const sharing: (readonly [slug: string, sharers: readonly Candidate<Item>[]])[] = [];
  for (const [slug, sharers] of sorted(Map.groupBy(items.map(candidate), ({ slugs: [first = ''] }) => first))) {
    const [only] = sharers;
    if (only !== undefined && sharers.length === 1 && !used.has(slug)) {
      choose(only, slug, null);
    } else {
      sharing.push([slug, sharers.toSorted((a, b) => (a.order < b.order ? -1 : 1))]);
    }
  }
  for (const [slug, sharers] of sharing) {
    const seconds = Map.groupBy(sharers, ({ slugs }) => slugs[1]);
    for (const each of sharers) {
      const [, second] = each.slugs;
      if (second !== undefined && seconds.get(second)?.length === 1 && !used.has(second)) {
        choose(each, second, sharers.length > 1 ? `"${slug}" would be the key of ${sharers.length}` : null);
      }
    }
  }
  for (const [slug, sharers] of sharing) {
    for (const each of sharers.filter(({ item }) => !chosen.has(item))) {
      const key = numbered(slug, used);
      choose(each, key, key === slug ? null : `"${slug}" is the key of another ${each.kind}`);
    }
  }
  return chosen;
}

function candidate<Item>(nameless: Nameless<Item>): Candidate<Item> {
  const slugs = [...new Set(nameless.names.map(slugOf).filter((slug) => slug !== null))];
  const isMadeUp = slugs.length === 0;
  return { ...nameless, slugs: isMadeUp ? [keyOfNothing(nameless.kind, nameless.names[0] ?? '')] : slugs, isMadeUp };
}

function sorted<Value>(groups: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] {
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

function numbered(slug: string, used: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const key = number === 1 ? slug : `${slug}-${number}`;
    if (!used.has(key)) {
      return key;
    }
  }
}
