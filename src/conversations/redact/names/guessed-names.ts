/** Guesses the names of people in prose that nothing announces: "ask Priya Nair", "laut Sabine Vogt". */
import { createRequire } from 'node:module';
import data from '../data/name-words.json' with { type: 'json' };
import { fold } from '../model/fold.ts';
import { matchesIn } from '../model/matches.ts';
import { PLACEHOLDER } from '../model/placeholder.ts';
import { isCommon, isGivenName, nameIn, namePattern } from './name-words.ts';

const require = createRequire(import.meta.url);
type English = typeof import('compromise/two').default;
/** Loads the reader of English with the first sentence that may contain a name: it takes 200 ms. */
function english(): English {
  const loaded = require('compromise/two') as English | { readonly default: English };
  // The build keeps it as the default export of a file of its own.
  return 'default' in loaded ? loaded.default : loaded;
}

/** Names that are also products, places and words, and tell nothing without a family name. */
const NOT_ALONE = new Set(data.notAlone.join(' ').split(' '));

/** Guesses names in the texts of one conversation. Remembers the sentences that it has read. */
export type NameGuesser = (texts: readonly string[]) => readonly string[];

/** Maximum number of sentences that are read as English, and of characters of one: together about 200 ms. */
const SENTENCES = 100;
const SENTENCE_LENGTH = 300;

const CAPITAL =
  /(?<![\p{L}\p{N}@#./_:\\‐-]|\d )\p{Lu}\p{Ll}[\p{L}'’-]{0,30}(?![\p{L}\p{N}_(‐]|[.:/@\\][\p{L}\p{N}]| \d)/gu;
const FAMILY = new RegExp(`[ \\u00a0]((?:\\p{Lu}\\. )?${namePattern(2)})`, 'uy');
const SENTENCE_END = /[.!?…]["”»)]?\s|[:;•]\s|$/g;
/** The end of the text before the first word of a sentence. */
const OPENS_SENTENCE = /(?:^|[.!?…:;•*>"“„«(|–—-])[\s*_"“„«(>-]{0,6}$/;
/** Text after a name that opens a sentence. */
const ACTS =
  /^ (?:said|says|told|tells|asked|asks|wrote|writes|replied|mentioned|confirmed|wants|thinks|needs|is|was|has|had|can|cannot|could|will|would|did|does|left|joined|and|from|hat|ist|kann|war|sagt|schreibt|möchte|will|wird|und|aus|von|a|est|peut|était|dit|veut|et|de|du|ha|es|está|puede|tiene|dijo|dice|quiere|y|é|pode|tem|disse|quer|e|è|può|vuole|heeft|kan|zegt|wil|en|är|har|kan|säger|vill|och|er|og|ma|jest|może|chce|i|je|má|může|a|van|може|може|сказал|сказала|пишет|может|хочет|и|має|каже|та)(?!\p{L})/u;
const ENGLISH =
  /(?<!\p{L})(?:the|and|is|are|was|were|with|this|that|we|you|it|have|has|had|can|could|would|will|please|from|for|our|my|your|not|but|when|what|about|there|they|to|of|in|on|he|she|his|her|me|us|i)(?!\p{L})/giu;
const GERMAN = /(?<!\p{L})(?:der|die|das|und|ist|nicht|hat|ich|wir|dass|bei|mit|ein|eine|von|zu)(?!\p{L})/iu;
/** Endings of German nouns, which are written like names. */
const GERMAN_NOUN =
  /(?:ung|heit|keit|schaft|tion|tät|ment|ismus|daten|seiten?|fehler|zugang|zugriff|konto|zeit|liste|rechte?|nummer|adresse|gruppe|bereich|ordner|datei|zeichen|sicht|stand|bericht|vertrag|kunden?|anbieter|system|dienst|plan|formular|problem[e]?|status|name|wort|wörter|er?in?nerung)(?:en|s|n)?$/u;
/** English words before a name that is that of a thing or a place: "the language Idris", "Santa Cruz". */
const THING_BEFORE =
  /(?<!\p{L})(?:[Ll]anguage|[Ll]ibrary|[Ff]ramework|[Pp]ackage|[Mm]odule|[Cc]ompiler|[Ff]ont|[Tt]ypeface|[Aa]lgorithm|[Dd]atabase|[Dd]istribution|[Dd]istro|[Cc]odename[d]?|[Pp]lug-?in|[Tt]heme|[Pp]rotocol|San|Santa|Santo|St\.?|Saint|Port|Fort|Mount|Lake|New|Los|Las|Cape)[ \u00a0]["“‘']?$/u;
/** A determiner before a name: "a Vera release", but not "the engineer Vera". */
const DETERMINED = /(?<!\p{L})(?:the|an?|each|every|any|no|some|this|that|these|those)[ \u00a0]["“‘']?$/iu;
/** Nouns for things, and those that are also verbs, directly after a name or after one more word: "the Carmen HTTP server". */
const THING =
  'algorithms?|apis?|backends?|bots?|bundlers?|class|classes|cli|clients?|clusters?|codecs?|compilers?|components?|conjecture|connectors?|constants?|containers?|databases?|distributions?|distros?|drivers?|engines?|fonts?|formula|frameworks?|interpreters?|kernels?|languages?|librar(?:y|ies)|licen[cs]es?|linters?|modules?|notation|operation|packages?|parsers?|plug-?ins?|protocols?|runners?|runtimes?|sans|schedulers?|schema|sdk|serif|servers?|shells?|syntax|theorem|themes?|toolkit|typeface|widgets?';
const THING_AFTER = new RegExp(`^[ \\u00a0](?:[\\p{L}\\d+.-]{2,14} )?(?:${THING})(?!\\p{L})`, 'iu');
const DETERMINED_THING_AFTER = new RegExp(
  `^[ \\u00a0](?:[\\p{L}\\d+.-]{2,14} )?(?:${THING}|builds?|bugs?|charts?|config|docs|formats?|functions?|images?|instances?|issues?|methods?|models?|problem|programs?|projects?|releases?|scripts?|services?|suite|tests?|tools?|trees?|versions?)(?!\\p{L})`,
  'iu',
);
/** Names of nobody, in samples: Jane Doe, Max Mustermann. */
const NOBODY = /(?:^| )(?:Doe|Mustermann|Musterfrau)$/u;
const FENCE = /^[ \t>]{0,8}(?:```|~~~)/;
/** Lines without prose: code, markup, settings, tables, logs, paths. */
const NO_PROSE =
  /[{}=<>\\|;]|\w\(|::|->|^[ \t>]{0,8}(?:\$ |#!|(?:at|import|export|const|let|var|def|class|return|function|npm|npx|git|docker|kubectl|curl|GET|POST|PUT|DELETE|SELECT|INSERT|FROM|RUN|COPY)[ \t]|["']?[a-z][\w.-]*["']?:[ \t]|["'[]|[[(]?\d{2,4}[-/.:]\d{1,2}|\S{0,12}(?:INFO|WARN|ERROR|DEBUG|TRACE|FATAL)\b)/;
const NOISE = /`[^`\n]{0,200}`|(?:https?|ftp):\/\/\S{1,500}|\S{1,64}@\S{1,200}|<[^<>\n]{0,200}>/g;

/** Returns the words of titles and keys: "Payments API", `getting-started`. */
export function productWords(products: readonly string[]): ReadonlySet<string> {
  return new Set(products.flatMap((product) => fold(product).text.match(/[\p{L}\p{N}]{2,}/gu) ?? []));
}

/** Creates a guesser. `products` are words of the organization's own documentation, which are never names. */
export function createNameGuesser(products: ReadonlySet<string>): NameGuesser {
  const read = new Map<string, readonly string[]>();
  let left = SENTENCES;
  const people = (sentence: string) => {
    const known = read.get(sentence);
    if (known !== undefined || left === 0 || !namesAnyone(sentence)) {
      return known ?? [];
    }
    left -= 1;
    const found: readonly string[] = english()(sentence).match('#Person+').out('array');
    read.set(sentence, found);
    return found;
  };
  const isName = (name: string | null) =>
    name !== null &&
    !NOBODY.test(name) &&
    !fold(name)
      .text.split(/[\s'’-]/)
      .some((word) => products.has(word));
  return (texts) => {
    const names = new Set<string>();
    for (const sentence of texts.flatMap((text) => proseOf(text))) {
      const isEnglishOne = isEnglish(sentence);
      const found = [
        ...namesByFirst(sentence, isEnglishOne || /(?<!\p{L})the /u.test(sentence)),
        ...(isEnglishOne ? namesByReading(sentence, people(sentence)) : []),
      ];
      for (const name of found.filter((each) => isName(each))) {
        names.add(name);
      }
    }
    return [...names];
  };
}

/**
 * Returns the sentences of prose that may contain a name, without code and addresses. A line with a placeholder was read
 * before its redaction.
 */
function proseOf(text: string): readonly string[] {
  const sentences: string[] = [];
  let isCode = false;
  for (const line of text.split('\n')) {
    isCode = FENCE.test(line.slice(0, 16)) ? !isCode : isCode;
    if (isCode || line.length > MAX_LINE || !/\p{Lu}\p{Ll}/u.test(line) || line.search(PLACEHOLDER) >= 0) {
      continue;
    }
    const plain = line.replaceAll(NOISE, 'something');
    if (NO_PROSE.test(plain) || isHeading(plain)) {
      continue;
    }
    let from = 0;
    for (const { index, 0: end } of matchesIn(plain, SENTENCE_END)) {
      const sentence = plain.slice(from, index + end.length).trim();
      if (sentence.length <= SENTENCE_LENGTH && mayName(sentence)) {
        sentences.push(sentence);
      }
      from = index + end.length;
    }
  }
  return sentences;
}

/** Longest line of prose, in characters. */
const MAX_LINE = 20_000;

/** Reports whether a line is written like a title: only short words without a capital. */
function isHeading(line: string): boolean {
  return /^[ \t>]{0,4}#/.test(line) || !/(?<![\p{L}\p{N}])\p{Ll}{4}/u.test(line);
}

/** Reports whether a sentence has a capitalized word that is not an ordinary one. */
function mayName(sentence: string): boolean {
  return matchesIn(sentence, CAPITAL).some(
    ({ index, 0: word }) => (index > 0 || isGivenName(withoutPossessive(word), true)) && !isCommon(word),
  );
}

/** Tags of the words that the reader of English knows. */
interface EnglishModel {
  readonly one: { readonly lexicon: Readonly<Record<string, string | readonly string[]>> };
}

function withoutPossessive(word: string): string {
  return word.replace(/['’]s?$/, '');
}

/** Reports whether the reader of English knows one of the capitalized words as a name. */
function namesAnyone(sentence: string): boolean {
  const { lexicon } = (english().model() as EnglishModel).one;
  return matchesIn(sentence, CAPITAL).some(({ 0: word }) => {
    const [first = ''] = word.toLowerCase().split(/['’-]/);
    return [lexicon[first] ?? []].flat().some((tag) => /Name$|^Person$/.test(tag));
  });
}

/** Reports whether a sentence has two words that only English has. */
function isEnglish(sentence: string): boolean {
  return new Set((sentence.match(ENGLISH) ?? []).map((word) => word.toLowerCase())).size > 1;
}

/** Reports whether the words around a name in an English sentence show that a thing or a place has it. */
function isOfThing(sentence: string, start: number, name: string): boolean {
  const before = sentence.slice(Math.max(0, start - 24), start);
  const after = sentence.slice(start + name.length, start + name.length + 40);
  const isDetermined = DETERMINED.test(before) || /(?<!\p{L})(?:the|an?) \p{Ll}{3,12} $/u.test(before);
  return (
    THING_BEFORE.test(before) ||
    THING_AFTER.test(after) ||
    (isDetermined && DETERMINED_THING_AFTER.test(after)) ||
    (DETERMINED.test(before) && !name.includes(' ') && !/^ (?:who|from|in|at) /.test(after))
  );
}

/** Returns the names that begin with a frequent given name of any language. */
function namesByFirst(sentence: string, isEnglishOne: boolean): readonly string[] {
  return matchesIn(sentence, CAPITAL).flatMap(({ index, 0: word }): readonly string[] => {
    const first = withoutPossessive(word);
    const name = nameByFirst(sentence, index, word, first);
    return name === null || (isEnglishOne && isOfThing(sentence, index, name)) ? [] : [name];
  });
}

function nameByFirst(sentence: string, index: number, word: string, first: string): string | null {
  const opens = OPENS_SENTENCE.test(sentence.slice(Math.max(0, index - 12), index));
  const family = isGivenName(first, true) ? familyAfter(sentence, index + word.length) : null;
  const isAlone = isGivenName(first) && !isCommon(first);
  if (family !== null && (isAlone || !opens)) {
    return `${first} ${family}`;
  }
  return isAlone &&
    (!opens || first !== word || ACTS.test(sentence.slice(index + word.length, index + word.length + 14)))
    ? first
    : null;
}

/** Returns the family name after a given name, or null. */
function familyAfter(sentence: string, end: number): string | null {
  FAMILY.lastIndex = end;
  const phrase = FAMILY.exec(sentence)?.[1];
  const family = phrase === undefined ? null : nameIn(phrase, 'weak');
  return family === null || /^\P{Lu}|^\p{Lu}{2}/u.test(family) || (GERMAN.test(sentence) && GERMAN_NOUN.test(family))
    ? null
    : family;
}

/** Returns the names that the reader of English found. A single word has to be clearly a given name. */
function namesByReading(sentence: string, found: readonly string[]): readonly string[] {
  return found.flatMap((phrase): readonly string[] => {
    // The reader takes words without a capital for names too: "the Lena parser".
    const [written] = phrase.split(/ (?=\p{Ll}+$)/u);
    const name =
      written !== undefined && /^\p{Lu}\p{Ll}/u.test(written)
        ? nameIn(written.replaceAll(/['’]s?(?=\s|$)|[^\p{L}\p{M}'’. -]/gu, ''), 'weak')
        : null;
    const at = name === null ? -1 : sentence.indexOf(name);
    if (name === null || at < 0 || isOfThing(sentence, at, name)) {
      return [];
    }
    if (name.includes(' ')) {
      return name.split(' ').every((word) => NOT_ALONE.has(fold(word).text)) ? [] : [name];
    }
    const family = familyAfter(sentence, at + name.length);
    const isAlone = !NOT_ALONE.has(fold(name).text) && isGivenName(name);
    return family === null ? (isAlone ? [name] : []) : NOT_ALONE.has(fold(name).text) ? [] : [`${name} ${family}`];
  });
}
