/** Chooses keys that differ from each other, derived from the names of resources. */
import { createHash } from 'node:crypto';
import { parse as parseYaml } from 'yaml';
import { compareText } from '../core/lists.ts';

/** Resource that needs a key, different from those of the others. */
export interface UnkeyedResource<Item> {
  readonly item: Item;
  readonly kind: string;
  /** Names from which its key can be derived, best first. */
  readonly names: readonly string[];
  /** Sort key of resources with the same names, so that the order in which they are listed does not matter. */
  readonly order: string;
}

/** Chosen key, with a note about the choice. */
export interface ChosenKey {
  readonly key: string;
  readonly note: string | null;
}

interface Candidate<Item> extends UnkeyedResource<Item> {
  readonly slugs: readonly string[];
  /** True if its first name has no letters that a key can contain, so that its key is derived from its parent. */
  readonly isBorrowed: boolean;
  /** True if no name has letters that a key can contain. */
  readonly isMadeUp: boolean;
}

/** Longest key derived from a title, in characters: it is part of every address. */
const MAX_LENGTH = 50;

/** Letters that do not decompose into a Latin letter and marks; the first of each row replaces those after it. */
const LETTERS: ReadonlyMap<string, string> = new Map(
  [
    'ss ß,ẞ', 'ae æ', 'oe œ', 'o ø', 'd đ ð', 'th þ θ', 'l ł', 'i ı', 'h ħ', 'n ŋ', 't ŧ',
    // Cyrillic, as it is mostly written in Latin letters.
    'a а', 'b б', 'v в', 'g г ґ', 'd д', 'e е э', 'ye є', 'zh ж', 'z з', 'i и і', 'k к', 'l л', 'm м', 'n н', 'o о',
    'p п', 'r р', 's с', 't т', 'u у', 'f ф', 'kh х', 'ts ц', 'ch ч', 'sh ш', 'shch щ', 'y ы', 'yu ю', 'ya я',
    // Greek.
    'a α', 'v β', 'g γ', 'd δ', 'e ε', 'z ζ', 'i η', 'i ι', 'k κ', 'l λ', 'm μ', 'n ν', 'x ξ', 'o ο', 'p π', 'r ρ',
    's σ ς', 't τ', 'y υ', 'f φ', 'ch χ', 'ps ψ', 'o ω',
  ].flatMap((row) => {
    const [latin = '', ...letters] = row.split(/[ ,]/);
    return letters.map((letter) => [letter, latin] as const);
  }), // biome-ignore format: a table
);

/** Letters without a sound of their own. */
const SILENT = new Set(['ь', 'ъ']);

/** Names that some file systems reserve; keys become file names. */
const RESERVED = ['con', 'prn', 'aux', 'nul'];

/**
 * Chooses keys that differ from each other and from those taken, also on case-insensitive file systems. A resource with
 * a unique name gets that name. Resources that share a name get their next name if it is unique; the others are
 * numbered. Resources that borrow a name come last, so that the owner of the name gets it.
 */
export function chooseKeys<Item>(
  items: readonly UnkeyedResource<Item>[],
  taken: Iterable<string>,
): ReadonlyMap<Item, ChosenKey> {
  const used = new Set([...taken, ...RESERVED].map((key) => key.toLowerCase()));
  const chosen = new Map<Item, ChosenKey>();
  const rounds = Map.groupBy(items.map(candidate), ({ isBorrowed }) => isBorrowed);
  for (const round of [rounds.get(false) ?? [], rounds.get(true) ?? []]) {
    chooseAmong(round, used, ({ item, isMadeUp, names }, key, note) => {
      used.add(key);
      const madeUpNote = `cannot derive a key from ${JSON.stringify(names[0] ?? '')}; a better one can be chosen until it is applied`;
      chosen.set(item, { key, note: isMadeUp ? madeUpNote : note });
    });
  }
  return chosen;
}

function chooseAmong<Item>(
  round: readonly Candidate<Item>[],
  used: ReadonlySet<string>,
  choose: (candidate: Candidate<Item>, key: string, note: string | null) => void,
): void {
  const sharing: (readonly [slug: string, sharers: readonly Candidate<Item>[]])[] = [];
  const groups = Map.groupBy(round, ({ slugs: [first = ''] }) => first);
  for (const [slug, sharers] of [...groups].sort(([a], [b]) => compareText(a, b))) {
    const [only] = sharers;
    if (only !== undefined && sharers.length === 1 && !used.has(slug)) {
      choose(only, slug, null);
    } else {
      sharing.push([slug, sharers.toSorted((a, b) => compareText(a.order, b.order))]);
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

function candidate<Item>(nameless: UnkeyedResource<Item>): Candidate<Item> {
  const { kind, names } = nameless;
  const own = names.map(slugOf);
  const slugs = [...new Set(own.filter((slug) => slug !== null))].map((slug) => unquoted(kind, slug));
  const isMadeUp = slugs.length === 0;
  return {
    ...nameless,
    slugs: isMadeUp ? [fallbackKey(nounOf(kind), names[0] ?? '')] : slugs,
    isBorrowed: own[0] === null,
    isMadeUp,
  };
}

/** Changes keys such as `2024`, `no` or `1e3`, which would need quotes in YAML. */
function unquoted(kind: string, slug: string): string {
  const isText = ['1.1', '1.2'].every((version) => typeof parseYaml(slug, { version: version as '1.2' }) === 'string');
  return isText ? slug : `${nounOf(kind)}-${slug}`;
}

/** Returns the common name of a kind: `space` for a site space. */
function nounOf(kind: string): string {
  return kind.slice(kind.lastIndexOf('-') + 1);
}

/** Appends a free number. `numbers`: the last number tried for each slug; those before are in use. */
function numbered(slug: string, used: ReadonlySet<string>, numbers: Map<string, number>): string {
  for (let number = (numbers.get(slug) ?? 0) + 1; ; number += 1) {
    const key = number === 1 ? slug : `${slug}-${number}`;
    if (!used.has(key)) {
      numbers.set(slug, number);
      return key;
    }
  }
}

/**
 * Derives a key from a title: `Docs & guides` becomes `docs-guides`. Null if the title has no letters, or most of them
 * have no Latin equivalent.
 */
export function slugOf(title: string): string | null {
  let slug = '';
  let kept = 0;
  let lost = 0;
  const plain = title
    .toLowerCase()
    .normalize('NFKD')
    .replace(/['’\p{M}]/gu, '');
  for (const character of plain) {
    if (/[a-z0-9]/.test(character)) {
      slug += character;
      kept += 1;
    } else if (LETTERS.has(character) || SILENT.has(character)) {
      slug += LETTERS.get(character) ?? '';
      kept += 1;
    } else {
      slug += '-';
      lost += /\p{L}/u.test(character) ? 1 : 0;
    }
  }
  const whole = slug.replace(/-+/g, '-').replace(/^-|-$/g, '');
  return whole === '' || lost > kept ? null : shortened(whole);
}

function shortened(slug: string): string {
  if (slug.length <= MAX_LENGTH) {
    return slug;
  }
  const cut = slug.slice(0, MAX_LENGTH + 1);
  const end = cut.lastIndexOf('-');
  return end > MAX_LENGTH / 2 ? cut.slice(0, end) : cut.slice(0, MAX_LENGTH);
}

/** Returns a key for a resource whose names give no key. It depends on the name only, not on the id. */
function fallbackKey(kind: string, name: string): string {
  const digest = createHash('sha256').update(name.normalize('NFC')).digest('hex');
  return `${kind}-${digest.slice(0, 6)}`;
}
