/** Finds names of people in paths and commands: `/home/ana`, `ssh ana@host`, `passport-maria-lopez.pdf`. */
import data from '../data/name-words.json' with { type: 'json' };
import type { Finder, PrivateValue } from '../model/found.ts';
import { matchesIn } from '../model/matches.ts';
import { bitOf, type Reading, startsOf } from '../model/reading.ts';
import { isCommon, isGivenName, isParticle } from './name-words.ts';

const listOf = (lists: readonly string[]) => new Set(lists.join(' ').split(' '));
/** Words for personal documents, common words in file names, and accounts that belong to no person. */
const PAPERS = listOf(data.papers);
const COMMON = listOf(data.fileWords);
const SYSTEM = listOf(data.systemUsers);

const LOGIN = '[\\p{L}\\p{N}_][\\p{L}\\p{M}\\p{N}._-]{1,38}[\\p{L}\\p{N}]';
const USER_LABEL = `(?<![\\p{L}\\p{N}./])(?:${data.userLabels.join('|')})`;
const LABELLED = bitOf(data.userLabels.flatMap((labels) => labels.split('|')));
const PATH = bitOf(['users', 'home']);
const COMMAND = bitOf(
  'ssh scp sftp rsync mosh sshfs docker podman buildah helm oras skopeo npm mysql psql mongo mongosh svn az oc ldapsearch smbclient sudo wget'.split(
    ' ',
  ),
);
/** Places of user names: folders, commands, settings, each with the bit of its words. The start of a name after `\\Users` may be read as an escape. */
const USERS: readonly { readonly bit: number; readonly place: RegExp }[] = [
  {
    bit: PATH,
    place: new RegExp(`(?<![\\w.)}\\]-])(?:/(?:mnt/)?[a-z])?/(?:Users|home)/(${LOGIN})(?=[/\\s"'\`:;,)\\]<]|$)`, 'gu'),
  },
  {
    bit: PATH,
    place: new RegExp(
      `(?<![\\p{L}\\p{N}])[A-Za-z]:[\\\\/]{1,2}[Uu]sers(?:[\\\\/]{1,2}|(?=[\\t\\n]))([\\t\\n]?${LOGIN}(?: [\\p{L}\\p{N}._-]{1,30}(?=[ \\\\/])){0,2})(?=[\\\\/\\s"'\`;,)\\]<]|$)`,
      'gu',
    ),
  },
  {
    bit: COMMAND,
    place: new RegExp(
      `(?<![\\w/.-])(?:ssh|scp|sftp|rsync|mosh|sshfs|ssh-copy-id)(?= )[^\\n]{0,80}? (${LOGIN})@[\\p{L}\\p{N}]`,
      'gu',
    ),
  },
  {
    bit: COMMAND,
    place: new RegExp(
      `(?<![\\w/.-])(?:docker|podman|buildah|helm|oras|skopeo|npm|mysql|psql|mongo|mongosh|svn|az|oc|ldapsearch|smbclient|sudo|wget)(?= )[^\\n|;&]{0,80}? (?:-u|-U|--user(?:name)?)[ =]?["']?(${LOGIN})(?=["'\\s]|$)`,
      'gu',
    ),
  },
  {
    bit: LABELLED,
    place: new RegExp(`(?<![\\p{L}\\p{N}._-])user=(${LOGIN})(?=["',;&<)}\\]\\s]|$)`, 'gu'),
  },
  {
    bit: LABELLED,
    place: new RegExp(`"user": ?"(${LOGIN})"`, 'gu'),
  },
  {
    bit: LABELLED,
    place: new RegExp(
      `${USER_LABEL}["']?[ \\t]{0,2}(?:[:=：]|(?<= as))[ \\t]{0,2}["']?(${LOGIN})(?=["',;&<)}\\]]|[ \\t]{0,2}(?:\\r?\\n|$))`,
      'iuy',
    ),
  },
  {
    bit: LABELLED,
    place: new RegExp(`${USER_LABEL}=(${LOGIN})(?=["',;&<)}\\]\\s]|$)`, 'iuy'),
  },
];

/** Finds user names of people in paths, commands and settings. Accounts of systems are kept. */
export const findUserNames: Finder = (reading) =>
  USERS.flatMap(({ bit, place }) =>
    ((reading.bits & bit) === 0 ? [] : placesOf(reading, bit, place)).flatMap(
      ({ index, 0: whole, 1: login = '' }): readonly PrivateValue[] => {
        const start = index + whole.lastIndexOf(login);
        const written = /^\s/.test(login) ? ['n', 'r', 't'].map((letter) => letter + login.slice(1)) : [login];
        const isSystem = written.some((each) => SYSTEM.has(each.toLowerCase()) || isCommon(each));
        return isSystem || /^\d+(?:\.\d.*)?$|^[A-Z_]+$|\.(?:[cm]?[jt]sx?|py|rb|sh|username|user|login)$/.test(login)
          ? []
          : [
              {
                type: 'person',
                label: 'PERSON',
                key: `person ${login.toLowerCase()}`,
                start,
                end: start + login.length,
              },
            ];
      },
    ),
  );

/** Returns the matches of a pattern: anywhere, or of a sticky one at the words with a bit. */
function placesOf(reading: Reading, bit: number, place: RegExp): readonly RegExpExecArray[] {
  if (!place.sticky) {
    return matchesIn(reading.text, place);
  }
  return startsOf(reading, bit).flatMap((start) => {
    place.lastIndex = start;
    const match = place.exec(reading.text);
    return match === null ? [] : [match];
  });
}

const ENDING =
  /\.(?:pdf|docx?|odt|rtf|pages|png|jpe?g|heic|heif|tiff?|webp|gif|bmp|xlsx?|ods|csv|pptx?|key|zip|rar|7z|eml|msg|vcf|ics|mp[34]|mov|avi|wav|m4a|txt)(?![\p{L}\p{N}_]|\.\w)/giu;
const ENDINGS = bitOf(
  'pdf doc docx odt rtf pages png jpg jpeg heic heif tif tiff webp gif bmp xls xlsx ods csv ppt pptx key zip rar z eml msg vcf ics mp mov avi wav m txt'.split(
    ' ',
  ),
);
/** Characters of a file name, including spaces only if it contains a word for a document. */
const STEM = /[\p{L}\p{N}][\p{L}\p{M}\p{N}._'’+%-]{1,100}$/u;
const SPACED = /(?:^|[\s"'(/\\[:：=>,*`])((?:[\p{L}\p{M}\p{N}._'’+()-]{1,30} ){1,5}[\p{L}\p{M}\p{N}._'’+()-]{1,40})$/u;

/** Finds file names that contain the name of a person, and redacts them as a whole. */
export const findNamedFiles: Finder = ({ text, bits }) => {
  const found: PrivateValue[] = [];
  for (const { index, 0: ending } of (bits & ENDINGS) === 0 ? [] : matchesIn(text, ENDING)) {
    const before = text.slice(Math.max(0, index - 160), index);
    const stem = stemOf(before);
    if (stem !== null) {
      const start = index - stem.length;
      const key = text.slice(start, index + ending.length);
      found.push({ type: 'person', label: 'FILE', start, end: index + ending.length, key: key.toLowerCase() });
    }
  }
  return found;
};

/**
 * Returns the file name without its extension if it contains the name of a person, else null. Spaces are included only
 * from a word for a document on.
 */
function stemOf(before: string): string | null {
  const plain = STEM.exec(before)?.[0];
  if (plain !== undefined && namesPerson(plain)) {
    return plain;
  }
  const words = SPACED.exec(before)?.[1]?.split(' ') ?? [];
  for (let from = words.length - 2; from >= 0; from -= 1) {
    const stem = words.slice(from).join(' ');
    const first = words[from] as string;
    const isStart = PAPERS.has(first.toLowerCase().split(/[_-]/)[0] as string) || /^\p{Lu}/u.test(first);
    if (isStart && namesPerson(stem)) {
      return withPaper(words, fromFirst(words, from)).join(' ');
    }
  }
  return null;
}

/** Returns the start of the name, including preceding words that may be names of the same person. */
function fromFirst(words: readonly string[], from: number): number {
  let first = from;
  while (first > 0 && words.length - first < 5 && isNameWord(words[first - 1] as string)) {
    first -= 1;
  }
  return first;
}

function isNameWord(word: string): boolean {
  const lower = word.toLowerCase();
  return /^\p{Lu}[\p{L}\p{M}'’-]{1,}$/u.test(word) && !COMMON.has(lower) && !PAPERS.has(lower);
}

/** Returns the words from an index on, including a word for a document directly before them. */
function withPaper(words: readonly string[], from: number): readonly string[] {
  const before = words[from - 1]?.toLowerCase() ?? '';
  return words.slice(PAPERS.has(before) && from > 0 ? from - 1 : from);
}

function namesPerson(stem: string): boolean {
  const tokens = stem
    .replaceAll(/%20/g, ' ')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[\s._+()-]+/)
    .filter((token) => token !== '');
  const rest = tokens.filter((token) => /^[\p{L}\p{M}'’]{2,}$/u.test(token));
  const words = rest.map((token) => token.toLowerCase());
  const isPaper = words.some((word) => PAPERS.has(word));
  const unknown = words.filter((word) => !PAPERS.has(word) && !COMMON.has(word) && !isParticle(word));
  const given = words.filter((word) => isGivenName(word, true) && !COMMON.has(word));
  if (isPaper) {
    // "See LICENSE.txt and CONTRIBUTORS": a phrase is a name only if its words are written like names.
    const isPhrase = stem.includes(' ') && !isCapital(rest.filter((token) => unknown.includes(token.toLowerCase())));
    return unknown.length >= 1 && unknown.length <= 4 && (given.length > 0 || (!isPhrase && isLikeName(rest, unknown)));
  }
  const isAllNames = words.every((word) => unknown.includes(word) || isParticle(word));
  if (DATED.test(stem) && isAllNames && isCapital(rest)) {
    return unknown.length >= 2 && unknown.length <= 4;
  }
  return given.length > 0 && unknown.length >= 2 && unknown.length <= 4 && isAllNames;
}

/** Date at the start of the name of a scanned file. */
const DATED = /^(?:19|20)\d\d[-_.]?\d\d[-_.]?\d\d[-_.+ ]/;

function isCapital(tokens: readonly string[]): boolean {
  return tokens.every((token) => /^\p{Lu}|^\p{Lo}/u.test(token) || isParticle(token));
}

function isLikeName(tokens: readonly string[], unknown: readonly string[]): boolean {
  const isWritten = isCapital(tokens.filter((token) => unknown.includes(token.toLowerCase())));
  return (
    unknown.length >= 2 ||
    (isWritten &&
      unknown.some((word) => word.length >= 2 && /[\p{Script=Han}\p{Script=Hangul}\p{Script=Katakana}]/u.test(word)))
  );
}
