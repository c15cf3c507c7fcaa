import { findPairs } from './credential-pairs.ts';
import type { Finder, Found } from './found.ts';
import { AWS_ID, AWS_REACH, AWS_SECRET, KEY_SHAPES } from './key-shapes.ts';

/** Keys, tokens and passwords: by their shape, by the words before them, and by their place in a URL or a header. */
export const findSecrets: Finder = (text) => [
  ...pemBlocks(text),
  ...KEY_SHAPES.flatMap((shape) => [...text.matchAll(shape)].map((match) => whole(match))),
  ...awsSecrets(text),
  ...authorizations(text),
  ...userInfo(text),
  ...findPairs(text),
];

/** A secret from one place to another; it is compared as it is. */
function secret(text: string, start: number, end: number): Found {
  return { type: 'secret', label: 'SECRET', start, end, key: text.slice(start, end) };
}

function whole({ index, input, 0: { length } }: RegExpExecArray): Found {
  return secret(input, index, index + length);
}

const PEM_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PEM_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** The longest private key, in characters. */
const PEM_LONGEST = 20_000;
/** A piece of a block that has no end: base64, its headers, and what may be around its lines. */
const PEM_PIECE =
  /\\n|[\s>|"']{1,64}|[A-Za-z0-9+/=]{16,256}|[A-Za-z0-9+/=]{1,15}(?=\\n|\r?\n|$)|(?:Proc-Type|DEK-Info|Version|Comment):[^\n]{0,200}\n/y;

function pemBlocks(text: string): readonly Found[] {
  const found: Found[] = [];
  const ends = [...text.matchAll(PEM_END)].map((match) => match.index + match[0].length);
  let nextEnd = 0;
  let done = 0;
  for (const {
    index,
    0: { length },
  } of text.matchAll(PEM_BEGIN)) {
    if (index < done) {
      continue;
    }
    while ((ends[nextEnd] ?? Number.POSITIVE_INFINITY) < index) {
      nextEnd += 1;
    }
    const end = ends[nextEnd];
    const isWhole = end !== undefined && end - index <= PEM_LONGEST;
    done = isWhole ? end : endOfRest(text, index + length);
    found.push(secret(text, index, done));
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

function awsSecrets(text: string): readonly Found[] {
  return [...text.matchAll(AWS_ID)].flatMap(({ index, 0: { length } }) => {
    const from = index + length;
    return [...text.slice(from, from + AWS_REACH).matchAll(AWS_SECRET)]
      .filter(([value]) => /[A-Z]/.test(value) && /[a-z]/.test(value) && /\d/.test(value))
      .map((match) => secret(text, from + match.index, from + match.index + match[0].length));
  });
}

const HEADER =
  /(?<![A-Za-z0-9])(?:proxy-)?authorization\\{0,2}["']?\s{0,3}[:=]\s{0,3}\\{0,2}["']?(?:(?:bearer|basic|token|digest|negotiate|apikey|api-key|key)\s{1,3})?([^\s"'\\,;<>]{4,4000})/dgi;
const BEARER = /(?<![A-Za-z0-9])bearer:?\s{1,3}["'`]?([A-Za-z0-9._~+/=-]{8,4000})/dgi;
const BASIC = /(?<![A-Za-z0-9])basic\s{1,3}["'`]?([A-Za-z0-9+/_-]{6,2000}={0,2})/dgi;
const COOKIE = /(?<![A-Za-z0-9])(?:set-)?cookie["']?\s{0,3}:\s{0,3}["']?([A-Za-z0-9_.-]{1,80}=[^\r\n"']{4,4000})/dgi;

function authorizations(text: string): readonly Found[] {
  return [
    ...groupsOf(HEADER, text, (value) => !/^(?:bearer|basic|required|header|token|none|null|\[|<|\{|\$)/i.test(value)),
    ...groupsOf(BEARER, text, (value) => /\d/.test(value) && /[A-Za-z]/.test(value) && value.length >= 12),
    ...groupsOf(BASIC, text, isBasic),
    ...groupsOf(COOKIE, text, () => true),
  ];
}

/** What the first group of each match says, where it says what is looked for. */
function groupsOf(pattern: RegExp, text: string, isSecret: (value: string) => boolean): readonly Found[] {
  const found: Found[] = [];
  for (const { 1: value, indices } of text.matchAll(pattern)) {
    const [start, end] = indices?.[1] ?? [0, 0];
    if (value !== undefined && isSecret(value)) {
      found.push(secret(text, start, end));
    }
  }
  return found;
}

/** Basic credentials are a name, a colon and a password, as base64; two words of prose are not. */
function isBasic(value: string): boolean {
  const decoded = Buffer.from(value, 'base64').toString('latin1');
  return decoded.includes(':') && /^[\x20-\x7e\xa0-\xff]{3,}$/.test(decoded);
}

/** What a URL may hold before its host. A password that nobody has encoded may have a slash or an @ in it. */
const AUTHORITY = /:\/\/([^\s/?#"'<>`\\]{1,512}(?=@)|[^\s/:@"'<>`]{1,64}:(?!\d{1,5}\/)[^\s@"'<>`]{1,128}(?=@))/dg;
const SSH_USER = /^(?:git|hg|svn)$/;

function userInfo(text: string): readonly Found[] {
  return groupsOf(AUTHORITY, text, (value) => !SSH_USER.test(value));
}
