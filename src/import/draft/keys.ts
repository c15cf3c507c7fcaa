import { parse as parseYaml } from 'yaml';
import { keyOfNothing, slugOf } from './slug.ts';

/** Resource that needs a key, different from those of the others. */
export interface Nameless<Item> {
  readonly item: Item;
  readonly kind: string;
  /** Names that its key can be derived from, the best first. */
  readonly names: readonly string[];
  /** Sort key of resources with the same names, independent of the order they are listed in. */
  readonly order: string;
}

/** A key that was chosen, and what a person should know about the choice. */
export interface ChosenKey {
  readonly key: string;
  readonly note: string | null;
}

interface Candidate<Item> extends Nameless<Item> {
  readonly slugs: readonly string[];
  /** True if its first name has no letters that a key can have, so that its key describes where it is. */
  readonly isBorrowed: boolean;
  /** True if no name has letters that a key can have. */
  readonly isMadeUp: boolean;
}

/** Names that some file systems keep for themselves, and keys become names of files. */
const RESERVED = ['con', 'prn', 'aux', 'nul'];

/**
 * Chooses keys that differ from each other and from those taken, also on file systems that do not tell `A` from `a`.
 * What has a name to itself has that; of those that share one, each has its next name where that is its own, and the
 * others are numbered. What has to borrow a name comes last: it takes none from whose own it is.
 */
export function chooseKeys<Item>(
  items: readonly Nameless<Item>[],
  taken: Iterable<string>,
): ReadonlyMap<Item, ChosenKey> {
  const used = new Set([...taken, ...RESERVED].map((key) => key.toLowerCase()));
  const chosen = new Map<Item, ChosenKey>();
  const rounds = Map.groupBy(items.map(candidate), ({ isBorrowed }) => isBorrowed);
  for (const round of [rounds.get(false) ?? [], rounds.get(true) ?? []]) {
    chooseAmong(round, used, ({ item, isMadeUp, names }, key, note) => {
      used.add(key);
      const unspeakable = `no key can be made of ${JSON.stringify(names[0] ?? '')}; a better one can be chosen until it is applied`;
      chosen.set(item, { key, note: isMadeUp ? unspeakable : note });
    });
  }
  return chosen;
}

type Choose<Item> = (candidate: Candidate<Item>, key: string, note: string | null) => void;

function chooseAmong<Item>(round: readonly Candidate<Item>[], used: ReadonlySet<string>, choose: Choose<Item>): void {
  const sharing: (readonly [slug: string, sharers: readonly Candidate<Item>[]])[] = [];
  for (const [slug, sharers] of sorted(Map.groupBy(round, ({ slugs: [first = ''] }) => first))) {
    const [only] = sharers;
    if (only !== undefined && sharers.length === 1 && !used.has(slug)) {
      choose(only, slug, null);
    } else {
      sharing.push([slug, sharers.toSorted((a, b) => (a.order < b.order ? -1 : 1))]);
    }
  }
  const left: (readonly [slug: string, candidate: Candidate<Item>])[] = [];
  for (const [slug, sharers] of sharing) {
    const seconds = Map.groupBy(sharers, ({ slugs }) => slugs[1]);
    for (const each of sharers) {
      const [, second] = each.slugs;
      if (second !== undefined && seconds.get(second)?.length === 1 && !used.has(second)) {
        choose(each, second, sharers.length > 1 ? `"${slug}" would be the key of ${sharers.length}` : null);
      } else {
        left.push([slug, each]);
      }
    }
  }
  const numbers = new Map<string, number>();
  for (const [slug, each] of left) {
    const key = numbered(slug, used, numbers);
    choose(each, key, key === slug ? null : `"${slug}" is the key of another ${each.kind}`);
  }
}

function candidate<Item>(nameless: Nameless<Item>): Candidate<Item> {
  const { kind, names } = nameless;
  const own = names.map(slugOf);
  const slugs = [...new Set(own.filter((slug) => slug !== null))].map((slug) => unquoted(kind, slug));
  const isMadeUp = slugs.length === 0;
  return {
    ...nameless,
    slugs: isMadeUp ? [keyOfNothing(nounOf(kind), names[0] ?? '')] : slugs,
    isBorrowed: own[0] === null,
    isMadeUp,
  };
}

/** `2024`, `no` or `1e3` would need quotes in YAML; nobody would choose such a key. */
function unquoted(kind: string, slug: string): string {
  const isText = ['1.1', '1.2'].every((version) => typeof parseYaml(slug, { version: version as '1.2' }) === 'string');
  return isText ? slug : `${nounOf(kind)}-${slug}`;
}

/** Returns the common name of a kind: `space` for a site space. */
function nounOf(kind: string): string {
  return kind.slice(kind.lastIndexOf('-') + 1);
}

function sorted<Value>(groups: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] {
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** `numbers` holds the last one tried for each slug: those before are used, and stay so. */
function numbered(slug: string, used: ReadonlySet<string>, numbers: Map<string, number>): string {
  for (let number = (numbers.get(slug) ?? 0) + 1; ; number += 1) {
    const key = number === 1 ? slug : `${slug}-${number}`;
    if (!used.has(key)) {
      numbers.set(slug, number);
      return key;
    }
  }
}
