/** Finds names that a conversation announces: after a greeting, below a closing, after "my name is". */
import { append } from '../../../core/lists.ts';
import { CLOSINGS, GREETINGS, INTRODUCTIONS, NOT_A_NAME, PARTICLES, TITLES } from './greeting-words.ts';
import { labelledNames } from './labelled-names.ts';
import { mailboxNames } from './mailbox-names.ts';
import { NEVER } from './name-words.ts';

const PARTICLE = `(?:${PARTICLES})`;
const TOKEN = "(?:\\p{Lu}\\p{M}?(?:[\\p{L}\\p{M}]|['’.-](?=\\p{L})){0,30}\\.?|\\p{Lo}[\\p{L}\\p{M}]{1,20})";
const NAME = `(?:${PARTICLE}[ ’']){0,3}${TOKEN}(?:[ \\u00a0]${PARTICLE}){0,3}(?:[ \\u00a0](?:${PARTICLE}[ ’']){0,3}${TOKEN}){0,3}`;
/** A name after a greeting, up to punctuation or the end of the line. */
const GREETED = new RegExp(
  `[ \\t,]{1,3}(?:(?:${TITLES})\\.? {1,2}){0,2}(${NAME})(?=[ \\t]{0,3}(?:[,!:;.،，！—–]|\\r?\\n|$| -| (?:and|und|et|y|e|og|och|en|&|и|і) ))`,
  'uy',
);
/** A name that makes up a line, or starts a line with a role or a company. */
const SIGNED = new RegExp(
  `[ \\t>*_~–—-]{0,8}(?:(?:${TITLES})\\.? {1,2}){0,2}(${NAME})[*_]{0,2}[ \\t.]{0,3}(?=\\r?\\n|$|[,|(/•·–—]| [|–—-])`,
  'uy',
);
const INTRODUCED = new RegExp(`(?:${INTRODUCTIONS})[: ]{1,3}(?:(?:${TITLES})\\.? ){0,2}(${NAME})`, 'uy');
const WEAK = new RegExp(
  `(?:I am|I['’]m|[Ii]t['’]s|[Tt]his is|[Ii]ch bin|[Hh]ier ist|[Jj]e suis|[Ss]oy|[Ss]ou(?: [oa])?|[Ss]ono|[Ii]k ben|[Jj]ag är|[Jj]eg er|[Oo]len|[Jj]estem|[Яя]) (${PARTICLE}? ?${TOKEN}(?: ${PARTICLE}){0,3} ${TOKEN}(?: ${TOKEN})?)(?=,| here| calling| speaking| hier| from| of | at | with | von | aus | de | da | di | van | från | fra | из |\\.\\s|\\n|$)`,
  'uy',
);
const WORD_AT = /^[\p{L}\p{M}]{1,14}/u;
/** Longest greeting and closing, in words. */
const WORDS = 4;
/** Maximum number of characters that are read of a line. */
const LINE = 120;

/** Returns the names that any of the texts announces, without duplicates, longest first. */
export function announcedNames(texts: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (const text of texts) {
    for (const name of [...namesByLines(text), ...introduced(text), ...labelledNames(text), ...mailboxNames(text)]) {
      const bare = name.replace(/[.\s]+$/, '');
      if (isName(bare)) {
        names.add(bare);
      }
    }
  }
  return [...names].sort((a, b) => b.length - a.length);
}

/** Returns the names after phrases such as "my name is" at the start of a sentence or a clause. */
function introduced(text: string): readonly string[] {
  const names: string[] = [];
  for (const clause of clausesOf(text)) {
    let at = clause;
    let first = wordAt(text, at);
    while (JOINERS.has(first)) {
      at += first.length + 1;
      first = wordAt(text, at);
    }
    if (INTRODUCTION_STARTS.has(first)) {
      for (const pattern of [INTRODUCED, WEAK]) {
        pattern.lastIndex = at;
        append(
          names,
          match(pattern, text).map((name) => withoutVerb(name)),
        );
      }
    }
  }
  return names;
}

/** Removes a verb after a Thai name, because only a space separates the name from the sentence. */
function withoutVerb(name: string): string {
  return /^\p{Script=Thai}/u.test(name) ? name.split(' ', 2).join(' ') : name;
}

function wordAt(text: string, at: number): string {
  return WORD_AT.exec(text.slice(at, at + MAX_FIRST_LENGTH))?.[0].toLowerCase() ?? '';
}

const MAX_FIRST_LENGTH = 14;
/** First words of all introductions, with character classes of two letters expanded. */
const INTRODUCTION_STARTS = new Set(
  `${INTRODUCTIONS}|I|[Ii]t|[Tt]his|[Ii]ch|[Hh]ier|[Jj]e|[Ss]oy|[Ss]ou|[Ss]ono|[Ii]k|[Jj]ag|[Jj]eg|[Oo]len|[Jj]estem|[Яя]`
    .split('|')
    .map((introduction) => /^(?:\[(\p{L})\p{L}\])?([\p{L}\p{M}]*)/u.exec(introduction) ?? [])
    .map(([, head = '', rest = '']) => `${head}${rest}`.toLowerCase()),
);
/** Characters after which a clause may begin. */
const CLAUSE_SIGNS = new Set([...'\n.!?,;:()"“”«»>|-–—*_'].map((sign) => sign.charCodeAt(0)));
const ASCII_SIGNS = Uint8Array.from({ length: 128 }, (_, code) => (CLAUSE_SIGNS.has(code) ? 1 : 0));
/** Words after which a clause may begin: "Hello and my name is". */
const JOINERS = new Set(
  'and und et y e og och en и і hi hello hey hallo hola bonjour olá ciao merhaba cześć привет สวัสดี สวัสดีค่ะ สวัสดีครับ so but'.split(
    ' ',
  ),
);

/** Returns the start positions of the clauses of a text. */
function clausesOf(text: string): readonly number[] {
  const starts: number[] = [];
  let isOpen = true;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 128 ? ASCII_SIGNS[code] === 1 : code > 0x2000 && CLAUSE_SIGNS.has(code)) {
      isOpen = true;
    } else if (isOpen && code !== 32 && code !== 9 && code !== 13) {
      starts.push(index);
      isOpen = false;
    }
  }
  return starts;
}

function* namesByLines(text: string): Generator<string> {
  let isClosed = false;
  for (let start = 0; start >= 0 && start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const from = start + indentOf(text, start, end);
    if (from < end) {
      const size = phraseAt(text, from, Math.min(end, from + LINE));
      if (size > 0) {
        GREETED.lastIndex = from + size;
        yield* match(GREETED, text);
        isClosed = isClosing(text.slice(from, end));
      } else {
        if (isClosed || isDash(text, start, from)) {
          SIGNED.lastIndex = start;
          yield* match(SIGNED, text);
        }
        isClosed = isDashes(text, start, end) || isClosing(lastSentence(text.slice(Math.max(from, end - LINE), end)));
      }
    }
    start = newline < 0 ? -1 : newline + 1;
  }
}

function match(pattern: RegExp, text: string): readonly string[] {
  const name = pattern.exec(text)?.[1];
  return name === undefined ? [] : [name];
}

function indentOf(text: string, start: number, end: number): number {
  let index = start;
  while (index < end && ' \t>*_~-–—'.includes(text[index] as string)) {
    index += 1;
  }
  return index - start;
}

/** Reports whether a line starts with a dash before a name, as in a signature: `— Maria`. */
function isDash(text: string, start: number, from: number): boolean {
  return /^[ \t>]{0,4}(?:[–—~]|--)[ \t]?$/.test(text.slice(start, from));
}

/** Reports whether a line is the separator before an email signature: `-- `. */
function isDashes(text: string, start: number, end: number): boolean {
  return end - start <= 6 && /^(?:--|__|—) ?\r?$/.test(text.slice(start, end));
}

const FIRST_WORDS = new Set([...GREETINGS, ...CLOSINGS].map((phrase) => phrase.split(' ')[0] as string));

/** Returns the length of the greeting or closing that starts here, or zero. */
function phraseAt(text: string, from: number, to: number): number {
  const first = /^[\p{L}\p{M}'’]{1,20}/u.exec(text.slice(from, Math.min(to, from + 20)))?.[0].toLowerCase();
  if (first === undefined || !FIRST_WORDS.has(first)) {
    return 0;
  }
  const words = [...text.slice(from, to).matchAll(/[\p{L}\p{M}'’]+/gu)].slice(0, WORDS);
  for (let count = words.length; count > 0; count -= 1) {
    const phrase = words
      .slice(0, count)
      .map(([word]) => word.toLowerCase())
      .join(' ');
    if (GREETINGS.has(phrase) || CLOSINGS.has(phrase)) {
      const last = words[count - 1] as RegExpExecArray;
      return last.index + last[0].length;
    }
  }
  return 0;
}

/** Reports whether a whole line is a closing, so that the next one is a signature. */
function isClosing(line: string): boolean {
  const first = WORD_AT.exec(line)?.[0].toLowerCase();
  if (first === undefined || line.length > MAX_CLOSING_LENGTH || !FIRST_WORDS.has(first)) {
    return false;
  }
  const words = line.toLowerCase().match(/[\p{L}\p{M}'’]+/gu) ?? [];
  return words.some((_, index) => CLOSINGS.has(words.slice(0, index + 1).join(' ')));
}

/** Longest sentence that counts as a closing, in characters. */
const MAX_CLOSING_LENGTH = 60;

/** Returns the text of a line after its last full stop; empty if it contains only one sentence. */
function lastSentence(line: string): string {
  const stop = Math.max(line.lastIndexOf('. '), line.lastIndexOf('! '), line.lastIndexOf('? '));
  return stop < 0 ? '' : line.slice(stop + 2);
}

const ONLY_TITLES = new RegExp(`^(?:(?:${TITLES})\\.? ?){1,3}$`, 'u');

/** Reports whether a phrase is a name, and not only capitals, a role or a word that starts sentences. */
function isName(name: string): boolean {
  const words = name
    .toLowerCase()
    .split(/[\s.'’-]+/)
    .filter((word) => word !== '');
  return (
    words.length > 0 &&
    name.length >= 2 &&
    !words.some((word) => NOT_A_NAME.has(word) || (words.length === 1 && NEVER.has(word))) &&
    !words.every((word) => NEVER.has(word)) &&
    !ONLY_TITLES.test(name) &&
    !/\p{Lu}{2,}\p{Ll}|\p{Ll}\p{Lu}{2}/u.test(name)
  );
}
