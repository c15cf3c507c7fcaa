/** Spellings of a person's name, and checks whether a word is used as a name. */
import { fold } from './fold-name.ts';
import { NEVER } from './name-words.ts';

/** Minimum length of a first or last name that is searched for on its own. */
const FEWEST = 3;

/** A name as a list of folded words. */
export interface Phrase {
  readonly words: readonly string[];
  readonly key: string;
  /** Evidence that is required for a match: none, a capital letter, or also the position. */
  readonly needs: 'nothing' | 'capital' | 'place';
}

/** Returns the spellings of a name: complete, joined, with umlauts spelled out, and each part that is long enough. */
export function phrasesOf(name: string): readonly (readonly string[])[] {
  const spellings = [name, name.replaceAll(/[äöüÄÖÜ]/g, (umlaut) => `${fold(umlaut).text}e`)];
  return [...new Set(spellings)].flatMap((spelling) => phrasesOfSpelling(spelling));
}

function phrasesOfSpelling(spelling: string): readonly (readonly string[])[] {
  const parts = spelling
    .split(/[\s,;()"]+/)
    .map((part) => wordsOf(fold(part).text))
    .filter((part) => part.length > 0);
  const whole = parts.flat();
  const isRole = whole.every((word) => NEVER.has(word));
  const all = isRole || whole.length < 2 ? [] : [whole, [whole.join('')], [...whole.slice(1), whole[0] as string]];
  const single = parts.filter((part) => part.join('').length >= FEWEST && !part.every((word) => NEVER.has(word)));
  const bare = single.flatMap((part) => withoutArticle(part));
  const joined = single.filter((part) => part.length > 1).map((part) => [part.join('')]);
  return [...all, ...withParticles(parts), ...single, ...joined, ...bare];
}

/** Returns a last name with its particles: `van der Heyden`, `v.d. Heyden`, `vanderheyden`, `de la Cruz`. */
function withParticles(parts: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return parts.flatMap((part, index) => {
    let from = index;
    while (from > 0 && PARTICLES.has((parts[from - 1] as readonly string[]).join(''))) {
      from -= 1;
    }
    const particles = parts.slice(from, index).flat();
    if (particles.length === 0 || PARTICLES.has(part.join(''))) {
      return [];
    }
    const shorter = particles.map((_, at) => [...particles.slice(at), ...part]);
    const initials = particles.map((particle) => particle.slice(0, 1));
    return [
      ...shorter,
      [...initials, ...part],
      [...particles, ...part].length > 1 ? [[...particles, ...part].join('')] : part,
    ];
  });
}

const PARTICLES = new Set(
  'van von der den dem del della delle di da do dos das du de des la le los las el al bin bint ibn ben abu ter ten te op zu zum zur af av san st mac mc o d l'.split(
    ' ',
  ),
);

/** Returns a name without its article: `Rashid` for `Al-Rashid`. */
function withoutArticle(part: readonly string[]): readonly (readonly string[])[] {
  const [first = '', ...rest] = part;
  return /^(?:al|el|abd|ben|bin)$/.test(first) && rest.join('').length > FEWEST ? [rest] : [];
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}]+/gu) ?? [];
}

const GREETING =
  /(?:^|\W)(?:hi|hello|hey|dear|hallo|liebe[r]?|bonjour|hola|thanks|thank you|thx|cheers|regards|mr|mrs|ms|dr|from|by|with|to|for|cc|ask|tell|told|@)[,:.]?\s{1,3}$/i;

/** Reports whether a phrase is used as a name here. */
export function isUsedAsName({ needs }: Phrase, text: string, start: number, end: number): boolean {
  return (
    needs === 'nothing' ||
    (needs === 'capital' && /^[\p{Lu}\p{Lo}]/u.test(text.slice(start, start + 2))) ||
    isNameHere(text, start, end)
  );
}

/** Reports whether a word is used as a name: capitalized in a sentence, greeted, possessive, or alone on its line. */
function isNameHere(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 30), start);
  const after = text.slice(end, end + 4);
  const isCapital = /^\p{Lu}\p{Ll}/u.test(text.slice(start, end)) || /^\p{Lo}/u.test(text.slice(start, end));
  const isAlone =
    /(?:^|\n)[\s>*_~–—-]{0,6}$/.test(before) && /^[\s,.!*_]{0,3}(?:\r?\n|$)/.test(text.slice(end, end + 6));
  if (!isCapital) {
    return isAlone || /(?:^|\W)(?:hi|hello|hey|dear|hallo) $/i.test(before);
  }
  const opensSentence = /(?:^|[.!?:\n"“(*>-])\s{0,3}$/.test(before);
  return (
    !opensSentence ||
    isAlone ||
    (/(?:^|\n)[ \t>*_]{0,6}$/.test(before) && /^\*{0,2}[:：]/.test(after)) ||
    /^['’]s/.test(after) ||
    GREETING.test(before)
  );
}
