/** Decides which words can be part of a name: not roles, products, weekdays and words that open sentences. */
import data from '../data/name-words.json' with { type: 'json' };
import { fold } from '../model/fold.ts';

/** Folds a word for comparison. */
export function plain(word: string): string {
  return fold(word).text;
}

const setOf = (...lists: readonly string[]) => new Set(lists.flatMap((list) => list.split(' ')).map(plain));

/** Words for roles, which identify no person on their own. */
export const NEVER: ReadonlySet<string> = setOf(...data.roleWords);
const PARTICLES = setOf(...data.particles);
const NOT_A_NAME = setOf(...data.notNames);
/** With their accents: `dan` is a word, `Đan` a name. */
const COMMON: ReadonlySet<string> = new Set([
  ...data.commonWords.flatMap((list) => list.split(' ')),
  ...data.laterHonorifics.flatMap((list) => list.toLowerCase().split('|')),
]);
/** Names that are also words: they match only if they are capitalized and placed like a name. */
const WORDS = setOf(...data.namesThatAreWords);
const TITLES = new Set(
  [...data.honorifics, ...data.foreignHonorifics].flatMap((list) => list.split('|')).map((title) => plain(title)),
);

/** A particle of a family name, as in `van der Berg`. */
const PARTICLE = `(?:${data.particles
  .join(' ')
  .split(' ')
  .flatMap((each) => [each, `${each.slice(0, 1).toUpperCase()}${each.slice(1)}`])
  .join('|')})`;
/** A capitalized word, or a word in a script without capitals. */
export const TOKEN = "(?:\\p{Lu}\\p{M}?(?:[\\p{L}\\p{M}]|['’.-](?=\\p{L})){0,30}\\.?|\\p{Lo}[\\p{L}\\p{M}]{1,20})";

/** Returns the pattern of a name with up to `most` words, not counting particles. */
export function namePattern(most: number): string {
  return `(?:${PARTICLE}[ \\u00a0’']){0,3}${TOKEN}(?:[ \\u00a0](?:${PARTICLE}[ \\u00a0’']){0,3}${TOKEN}){0,${most - 1}}`;
}

/** Reports whether a folded name is also an ordinary word. */
export function isWordToo(name: string): boolean {
  return WORDS.has(name);
}

/** Reports whether a folded word is a particle of family names. */
export function isParticle(word: string): boolean {
  return PARTICLES.has(word);
}

/** Reports whether a word has a meaning in support conversations that is more frequent than a name. */
export function isCommon(word: string): boolean {
  const folded = plain(word);
  return COMMON.has(word.toLowerCase()) || NOT_A_NAME.has(folded) || NEVER.has(folded);
}

let given: { readonly alone: ReadonlySet<string>; readonly inPairs: ReadonlySet<string> } | undefined;

/**
 * Reports whether a word is a given name of some language and has no other meaning. With `isPair`, names that have one
 * count too: a family name follows.
 */
export function isGivenName(word: string, isPair = false): boolean {
  given ??= { alone: setOf(...data.givenNames), inPairs: setOf(...data.givenNamesInPairs) };
  const folded = plain(word);
  const [first = ''] = folded.split('-');
  return (
    (given.alone.has(folded) || given.alone.has(first) || (isPair && given.inPairs.has(first))) &&
    !COMMON.has(word.toLowerCase())
  );
}

/** Certainty that a place in a text has a name: `strong` after a greeting, `weak` after a role. */
export type Evidence = 'strong' | 'weak';

/**
 * Returns the name in a phrase, without titles before it and ordinary words after it; null if there is none. With weak
 * evidence the first word must not be an ordinary word either.
 */
export function nameIn(phrase: string, evidence: Evidence): string | null {
  const words = phrase.split(/[\s\u00a0]+/).filter((word) => word !== '');
  while (words.length > 0 && TITLES.has(plain(bare(words[0] ?? '')))) {
    words.shift();
  }
  const kept: string[] = [];
  let names = 0;
  for (const word of words) {
    const folded = plain(bare(word));
    if (!PARTICLES.has(folded)) {
      const isNone =
        folded.split(/[.'’-]/).some((part) => NOT_A_NAME.has(part) || NEVER.has(part)) ||
        ((names > 0 || evidence === 'weak') && COMMON.has(bare(word).toLowerCase()));
      if (isNone || /\p{Lu}{2,}\p{Ll}|\p{Ll}\p{Lu}{2}/u.test(word)) {
        break;
      }
      names += 1;
    }
    kept.push(word);
  }
  while (kept.length > 0 && PARTICLES.has(plain(bare(kept.at(-1) ?? '')))) {
    kept.pop();
  }
  const name = bare(kept.join(' '));
  return names === 0 || [...name].length < 2 ? null : name;
}

function bare(word: string): string {
  return word.replace(/[.,\s]{1,4}$/, '');
}
