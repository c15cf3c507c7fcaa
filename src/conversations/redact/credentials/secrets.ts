/** Finds keys, tokens and passwords: by their format, by the words before them, in URLs, headers and manifests. */
import shapes from '../data/credential-shapes.json' with { type: 'json' };
import { fold } from '../model/fold.ts';
import type { Finder } from '../model/found.ts';
import { matchesIn } from '../model/matches.ts';
import { bitOf, type Reading, startsOf } from '../model/reading.ts';
import { cellsUnder } from '../model/table-columns.ts';
import { NAMED, NAMES } from './credential-labels.ts';
import { findPairs, isSecretValue } from './credential-pairs.ts';
import { findKeys, looksDrawn, patternOf, type TextSpan } from './keys.ts';
import { findKubernetesSecrets } from './kubernetes.ts';
import { isAlgorithm, isExpression, isPlaceholder, isProse } from './non-secrets.ts';

export const findSecrets: Finder = (reading) => {
  const { text, bits } = reading;
  return [
    ...pemBlocks(text),
    ...findKeys(text),
    ...SHAPES.flatMap(({ pattern, isSecret, rule, sign }) =>
      (typeof sign === 'string' ? text.includes(sign) : (bits & sign) !== 0)
        ? matchSpans(pattern, text, isSecret, rule)
        : [],
    ),
    ...findKubernetesSecrets(text),
    ...inContext(reading),
    ...((bits & NAMED) === 0 ? [] : [...findPairs(text, fold(text)), ...inColumns(text)]),
  ].map(({ start, end, rule = 'password or key after its name' }) => ({
    type: 'secret',
    label: 'SECRET',
    start,
    end,
    key: text.slice(start, end),
    rule,
  }));
};

const PEM_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PEM_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** Longest private key, in characters. */
const PEM_LONGEST = 20_000;
/** Part of an incomplete PEM block: base64, a header, or the characters around its lines. */
const PEM_PIECE =
  /\\n|[\s>|"']{1,64}|[A-Za-z0-9+/=]{16,256}|[A-Za-z0-9+/=]{1,15}(?=\\n|\r?\n|$)|(?:Proc-Type|DEK-Info|Version|Comment):[^\n]{0,200}\n/y;

function pemBlocks(text: string): readonly TextSpan[] {
  const found: TextSpan[] = [];
  const begins = text.includes('PRIVATE KEY') ? matchesIn(text, PEM_BEGIN) : [];
  const ends = begins.length === 0 ? [] : matchesIn(text, PEM_END).map((match) => match.index + match[0].length);
  let nextEnd = 0;
  let done = 0;
  for (const {
    index,
    0: { length },
  } of begins) {
    if (index < done) {
      continue;
    }
    while ((ends[nextEnd] ?? Number.POSITIVE_INFINITY) < index) {
      nextEnd += 1;
    }
    const end = ends[nextEnd];
    const isWhole = end !== undefined && end - index <= PEM_LONGEST;
    done = isWhole ? end : endOfRest(text, index + length);
    found.push({ start: index, end: done, rule: 'private key' });
  }
  return found;
}

function endOfRest(text: string, start: number): number {
  let end = start;
  for (let at = start; at - start < PEM_LONGEST; at = PEM_PIECE.lastIndex) {
    PEM_PIECE.lastIndex = at;
    const piece = PEM_PIECE.exec(text)?.[0];
    if (piece === undefined) {
      break;
    }
    end = /[A-Za-z0-9]/.test(piece) ? at + piece.length : end;
  }
  return end;
}

interface Shape {
  readonly rule: string;
  /** A sign, or the bit of a word, that a text must have. Most texts have none. */
  readonly sign: string | number;
  readonly pattern: RegExp;
  readonly isSecret: (value: string) => boolean;
}

const HEADER = bitOf(['authorization', 'bearer', 'basic', 'auth', 'cookie']);

/** Credentials that their surroundings identify: the first group of each pattern. */
const SHAPES: readonly Shape[] = [
  {
    // An unencoded password may contain a slash or an @.
    rule: 'user and password in a URL',
    sign: '://',
    pattern: /:\/\/([^\s/?#"'<>`\\]{1,512}(?=@)|[^\s/:@"'<>`]{1,64}:(?!\d{1,5}\/)[^\s@"'<>`]{1,128}(?=@))/dg,
    isSecret: (value) => !PUBLIC_USER.test(value) && !isPlaceholder(value.slice(value.indexOf(':') + 1)),
  },
  {
    rule: 'password after an email address',
    sign: '@',
    pattern: /@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}:([^\s"'<>,;:/]{5,128})(?=[\s"',;<)]|$)/dg,
    isSecret: (value) => /\d/.test(value) && /\p{L}/u.test(value),
  },
  {
    rule: 'Authorization header',
    sign: HEADER,
    pattern:
      /(?<![A-Za-z0-9])(?:proxy-)?authorization\\{0,2}["']?[ \t]{0,3}[:=][ \t]{0,3}\\{0,2}["']?(?:[A-Za-z][\w-]{1,24}[ \t]{1,3})?([^\s"'`\\,;<>]{4,4000})/dgi,
    isSecret: isHeaderValue,
  },
  {
    rule: 'Authorization header',
    sign: HEADER,
    pattern:
      /(?<![A-Za-z0-9])(?:(?:bearer:?|basic)\s{1,3}["'`]?|_?auth\\{0,2}["']?[ \t]{0,3}[:=][ \t]{0,3}\\{0,2}["']?)([A-Za-z0-9._~+/=-]{8,4000})/dgi,
    isSecret: isHeaderValue,
  },
  {
    rule: 'cookie',
    sign: HEADER,
    pattern: /(?<![A-Za-z0-9])(?:set-)?cookie["']?\s{0,3}:\s{0,3}["']?([A-Za-z0-9_.-]{1,80}=[^\r\n"'`]{4,4000})/dgi,
    isSecret: (line) =>
      line
        .split(';')
        .some((pair) => /^(?! ?(?:expires|max-age|path|domain)=)[^=]+=(?!%?\{|\$|<)[^=]*\d[^=]{3}|=\S{16}/i.test(pair)),
  },
];

interface CredentialShape {
  readonly name: string;
  readonly after: readonly string[];
  /** The text after the keyword, in RE2 syntax; its groups are alternatives for the value. */
  readonly pattern: string;
  /** The keyword is a common word, so the value must be random. */
  readonly random?: boolean;
}

const BY_KEYWORD = Map.groupBy(
  (shapes as readonly CredentialShape[]).flatMap(({ after, ...shape }) =>
    after.map((keyword) => ({ keyword: keyword.toLowerCase(), ...shape })),
  ),
  ({ keyword }) => keyword,
);
const KEYWORD = new RegExp(
  `(?<![\\w.])(?:${[...BY_KEYWORD.keys()].toSorted((a, b) => b.length - a.length).join('|')})(?![A-Za-z])`,
  'iy',
);
const KEYWORD_BIT = bitOf(BY_KEYWORD.keys());
/** Longest distance from a keyword to the end of its value, in characters. */
const CONTEXT = 1000;

/** Finds the values that follow a keyword in a known way (`data/credential-shapes.json`): options of commands, SQL, forms. */
function inContext(reading: Reading): readonly TextSpan[] {
  const { text } = reading;
  let done = 0;
  return startsOf(reading, KEYWORD_BIT).flatMap((start) => {
    const keyword = start < done ? undefined : keywordAt(text, start);
    if (keyword === undefined) {
      return [];
    }
    const from = keyword.index + keyword[0].length;
    done = from;
    return (BY_KEYWORD.get(keyword[0].toLowerCase()) ?? []).flatMap(({ pattern, name, random }) => {
      const matcher = patternOf(pattern, 'i').matcher(text.slice(from, from + CONTEXT));
      const isMatch = matcher.lookingAt();
      const group = [1, 2, 3].find((each) => isMatch && each <= matcher.groupCount() && matcher.group(each)) ?? 0;
      const value = group === 0 ? '' : (matcher.group(group) ?? '');
      const start = from + (group === 0 ? 0 : matcher.start(group));
      if (value === '') {
        return [];
      }
      const password = value.slice(value.indexOf(':') + 1);
      const isNone =
        isPlaceholder(value) ||
        (password !== value && isPlaceholder(password)) ||
        isExpression(value) ||
        isProse(value) ||
        /^\d{1,6}:\d{1,6}$/.test(value) ||
        (random === true && !looksDrawn(value));
      return isNone ? [] : [{ start, end: start + value.length, rule: name }];
    });
  });
}

/** Returns the keyword whose first letter is here; some have up to two other signs before it: `<input`, `--from-literal`. */
function keywordAt(text: string, letter: number): RegExpExecArray | undefined {
  for (let start = letter; start >= 0 && start >= letter - 2; start -= 1) {
    if (start < letter && !/[<7-]/.test(text.charAt(start))) {
      return undefined;
    }
    KEYWORD.lastIndex = start;
    const keyword = KEYWORD.exec(text);
    if (keyword !== null) {
      return keyword;
    }
  }
  return undefined;
}

/** Finds the cells of columns whose heading is the name of a credential. */
function inColumns(text: string): readonly TextSpan[] {
  const kindOf = (heading: string) => NAMES.get(fold(heading).text.replace(/s$/, ''))?.[0]?.kind;
  return cellsUnder(text, (heading) => kindOf(heading) !== undefined).flatMap(
    ({ cell: { text: value, start, end }, heading }) => {
      const kind = kindOf(heading) ?? 'token';
      const isSecret = isSecretValue({ kind, isPlural: false, value, isQuoted: false, link: 'cell', rest: '' });
      return isSecret && value.length >= 4 && !/\s/.test(value) ? [{ start, end }] : [];
    },
  );
}

/** User info that is public, or documentation: `git@`, `user:password@`, `${USER}:${PASSWORD}@`. */
const PUBLIC_USER =
  /^(?:git|hg|svn|user(?:name)?|root|admin|postgres|mysql|(?:user(?:name)?|usr|me|name|login|my-?user|your-?user(?:name)?|x-access-token|oauth2)?:(?:pass|pwd))$/i;

/** Reports whether a value after `Authorization`, `Bearer` or `Basic` is one: a word, code or a placeholder is not. */
function isHeaderValue(value: string): boolean {
  if (isProse(value) || isPlaceholder(value) || isAlgorithm(value) || isExpression(value)) {
    return false;
  }
  const isMixed = value.length >= 24 && /[a-z]/.test(value) && /[A-Z]/.test(value);
  const decoded = Buffer.from(value, 'base64').toString('latin1');
  return (
    (/\d/.test(value) &&
      /[A-Za-z]/.test(value) &&
      value.length >= 8 &&
      !/^(?:[A-Za-z]+\d|(?:secret|token)\d{1,6})$/i.test(value)) ||
    isMixed ||
    (decoded.includes(':') && /^[\x20-\x7e\xa0-\xff]{3,}$/.test(decoded))
  );
}

/** Returns the span of the first group of each match whose text passes the test. `pattern` has the flags `d` and `g`. */
function matchSpans(
  pattern: RegExp,
  text: string,
  isSecret: (value: string) => boolean,
  rule?: string,
): readonly TextSpan[] {
  return matchesIn(text, pattern).flatMap(({ 1: value, indices }) => {
    const [start, end] = indices?.[1] ?? [0, 0];
    return value !== undefined && isSecret(value) ? [{ start, end, ...(rule === undefined ? {} : { rule }) }] : [];
  });
}
