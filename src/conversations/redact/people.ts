import type { Person } from '../ticket.ts';
import type { Finder, Found } from './found.ts';

/** The fewest letters of a first or last name that is looked for by itself. */
const FEWEST = 3;
/** Between two words of a name: at most so many characters that are no letter or digit. */
const GAP = /^(?:['’`´.\-_ \t]|\s?\r?\n[ \t>]?|, ?|\. ){0,3}$/;

/** Parts of names and words of roles: by themselves they say nothing of anybody. */
const NEVER = new Set(
  (
    'van von den der des dem del della dos das les the and bin bint ben ibn abu zur zum mrs miss herr frau madame monsieur prof ' +
    'doctor sir jun sen iii phd support team help desk helpdesk service services customer customers client user users admin ' +
    'administrator sales info office docs documentation billing account accounts agent system bot noreply reply mail email ' +
    'postmaster webmaster contact success care operations dev developer developers engineering security test demo guest ' +
    'anonymous unknown nobody company inc ltd llc gmbh corp group technical product marketing finance legal hr'
  ).split(' '),
);
/** Names that are words as well: taken for a name only where they are written and placed like one. */
const WORDS = new Set(
  (
    'mark will bill may june april august grace hope faith joy rose lily daisy iris ivy art frank jack rob bob pat sue drew ' +
    'rich dick don ray guy gene max miles chase grant chance hunter mason carter cooper parker taylor tyler page baker smith ' +
    'cook fisher king queen bishop knight law young brown black white green gray grey rusty sandy dawn eve summer autumn ' +
    'winter angel christian victor sky skye star ruby jade amber pearl crystal cherry olive ginger pepper penny dale glen cliff ' +
    'heath forest woods wood stone rock brook lane street hill field fields banks ford bush park long short little best good ' +
    'swift sharp strong power love case price rate cash bond wells major minor dean earl duke marshall porter potter mars nick ' +
    'trip skip chip tab tag rev van lee see sun day week moon west east north south holiday weekend key keys lock code data ' +
    'image link list note port root script set table text type view test ash bay buck bud chuck curt dash dot fox gale gay gus ' +
    'harry herb jean jerry jewel jimmy job josh kit lance levy mercy merit misty norm opal pierce reed robin sage sally ' +
    'shell stew trace wade ward warren wolf worth zip bitte danke klein gross lange kurz weiss schwarz braun'
  ).split(' '),
);

/** A name as words, each folded. */
interface Phrase {
  readonly words: readonly string[];
  readonly key: string;
  /** Whether it is a word of the language as well. */
  readonly isWord: boolean;
}

/** The address or name of a person: `[PERSON_1]` for all of what one person is called. */
export interface People {
  readonly finder: Finder;
  /** The person that an address belongs to, as a key; or undefined. */
  ownerOf(email: string): string | undefined;
}

/** What the ticket's own people are called, looked for as whole words: case, accents and line ends do not matter. */
export function peopleOf(people: readonly Person[], isAllowed: (value: string) => boolean): People {
  const owners = new Map<string, string>();
  const phrases = new Map<string, Phrase[]>();
  const glyphs: { text: string; key: string }[] = [];
  const known = new Set<string>();
  for (const [index, person] of people.entries()) {
    const emails = person.emails
      .map((email) => email.trim().normalize('NFC').toLowerCase())
      .filter((email) => email !== '');
    const key =
      emails.map((email) => owners.get(email)).find((owner) => owner !== undefined) ?? keyOf(person, index, people);
    for (const email of emails) {
      owners.set(email, owners.get(email) ?? key);
    }
    for (const name of person.names.filter((each) => !each.includes('@') && !isAllowed(each))) {
      if (UNSPACED.test(name)) {
        glyphs.push({ text: fold(name).text.trim(), key });
      }
      for (const words of phrasesOf(name)) {
        const id = words.join(' ');
        if (!known.has(id)) {
          known.add(id);
          const first = words[0] as string;
          const isWord = words.length === 1 && WORDS.has(first);
          phrases.set(
            first,
            [...(phrases.get(first) ?? []), { words, key, isWord }].sort((a, b) => b.words.length - a.words.length),
          );
        }
      }
    }
  }
  return { finder: (text) => findPeople(text, phrases, glyphs), ownerOf: (email) => owners.get(email) };
}

/** One person may come twice, as who asked and as who wrote: equal names without other addresses are one person. */
function keyOf(person: Person, index: number, people: readonly Person[]): string {
  const names = new Set(person.names.map((name) => fold(name).text.trim()).filter((name) => name.includes(' ')));
  const same = people.findIndex((other) => other.names.some((name) => names.has(fold(name).text.trim())));
  return `person ${same < 0 ? index : Math.min(same, index)}`;
}

/** The ways to write a name: whole, joined, its umlauts spelled out, and each part that is long enough. */
function phrasesOf(name: string): readonly (readonly string[])[] {
  const spellings = [name, name.replaceAll(/[äöüÄÖÜ]/g, (umlaut) => `${fold(umlaut).text}e`)];
  return spellings.flatMap((spelling) => {
    const parts = spelling
      .split(/[\s,;()"]+/)
      .map((part) => wordsOf(fold(part).text).map(({ word }) => word))
      .filter((part) => part.length > 0);
    const whole = parts.flat();
    const isRole = whole.every((word) => NEVER.has(word));
    const all = isRole || whole.length < 2 ? [] : [whole, [whole.join('')], [...whole.slice(1), whole[0] as string]];
    const single = parts.filter((part) => part.join('').length >= FEWEST && !part.every((word) => NEVER.has(word)));
    return [...all, ...single, ...single.filter((part) => part.length > 1).map((part) => [part.join('')])];
  });
}

const WORD = /[\p{L}\p{N}]+/gu;
/** Scripts that put no space between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Hangul}]{2}/u;

function wordsOf(text: string): readonly { readonly word: string; readonly start: number; readonly end: number }[] {
  return [...text.matchAll(WORD)].map(({ index, 0: word }) => ({ word, start: index, end: index + word.length }));
}

function findPeople(
  text: string,
  phrases: ReadonlyMap<string, readonly Phrase[]>,
  glyphs: readonly { readonly text: string; readonly key: string }[],
): readonly Found[] {
  if (phrases.size === 0 && glyphs.length === 0) {
    return [];
  }
  const folded = fold(text);
  const words = wordsOf(folded.text);
  const found: Found[] = [];
  const add = (start: number, end: number, key: string) =>
    found.push({ type: 'person', label: 'PERSON', key, start: folded.from(start), end: folded.to(end) });
  for (let index = 0; index < words.length; index += 1) {
    const here = words[index] as (typeof words)[number];
    const phrase = phrases.get(here.word)?.find((each) => matches(each, words, index, folded.text));
    const last = phrase === undefined ? undefined : words[index + phrase.words.length - 1];
    if (
      phrase !== undefined &&
      last !== undefined &&
      !(phrase.isWord && !isNameHere(text, folded.from(here.start), folded.to(here.end)))
    ) {
      add(here.start, last.end, phrase.key);
      index += phrase.words.length - 1;
    }
  }
  for (const glyph of glyphs) {
    for (
      let at = folded.text.indexOf(glyph.text);
      at >= 0;
      at = folded.text.indexOf(glyph.text, at + glyph.text.length)
    ) {
      add(at, at + glyph.text.length, glyph.key);
    }
  }
  return found;
}

function matches({ words }: Phrase, text: ReturnType<typeof wordsOf>, index: number, folded: string): boolean {
  return words.every((word, offset) => {
    const here = text[index + offset];
    const before = text[index + offset - 1];
    return (
      here?.word === word && (offset === 0 || before === undefined || GAP.test(folded.slice(before.end, here.start)))
    );
  });
}

const GREETING =
  /(?:^|\W)(?:hi|hello|hey|dear|hallo|liebe[r]?|bonjour|hola|thanks|thank you|thx|cheers|regards|mr|mrs|ms|dr|from|by|with|to|for|cc|ask|tell|told|@)[,:.]?\s{1,3}$/i;

/** A word that is a name as well: capitalised inside a sentence, after a greeting, with a possessive, or on its own line. */
function isNameHere(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 30), start);
  const after = text.slice(end, end + 4);
  const isCapital = /^\p{Lu}\p{Ll}/u.test(text.slice(start, end));
  const isAlone = /(?:^|\n)[\s>*_~-]{0,6}$/.test(before) && /^[\s,.!*_]{0,3}(?:\r?\n|$)/.test(text.slice(end, end + 6));
  if (!isCapital) {
    return isAlone || /(?:^|\W)(?:hi|hello|hey|dear|hallo) $/i.test(before);
  }
  const opensSentence = /(?:^|[.!?:\n"“(*>-])\s{0,3}$/.test(before);
  return !opensSentence || isAlone || /^['’]s/.test(after) || GREETING.test(before);
}

/** A text with case, accents and ligatures away, and where each of its characters comes from. */
function fold(text: string): { readonly text: string; from(at: number): number; to(end: number): number } {
  if (/^[\0-\x7f]*$/.test(text)) {
    return { text: text.toLowerCase(), from: (at) => at, to: (end) => end };
  }
  const origins: number[] = [];
  const ends: number[] = [];
  let folded = '';
  let at = 0;
  for (const character of text) {
    const plain = foldCharacter(character);
    for (const _unit of plain.split('')) {
      origins.push(at);
      ends.push(at + character.length);
    }
    if (plain === '' && ends.length > 0) {
      ends[ends.length - 1] = at + character.length;
    }
    folded += plain;
    at += character.length;
  }
  return { text: folded, from: (start) => origins[start] ?? text.length, to: (end) => ends[end - 1] ?? text.length };
}

const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
};

function foldCharacter(character: string): string {
  if (character < '\u0080') {
    return character.toLowerCase();
  }
  const plain = character.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll(/\p{M}/gu, '');
  return LETTERS[plain] ?? plain;
}
