/** Finds keys and tokens by their shape. One pass over the text searches for the prefixes of all rules. */
import { PREFIX_RULES } from './key-prefix-rules.ts';
import { ANCHOR_RULES, VENDOR_RULES } from './key-vendor-rules.ts';
import type { TextSpan } from './spans.ts';

/** Finds keys that match a rule, and JSON Web Tokens. Pure; takes linear time. */
export function findKeys(text: string): readonly TextSpan[] {
  const runs = longRuns(text);
  if (runs.length === 0) {
    return [];
  }
  return [
    ...runs.flatMap((run) => byPrefix(text, run)),
    ...runs.flatMap((run) => byVendor(text, run)),
    ...byAnchor(text),
    ...(text.includes('eyJ') ? matchesOf(JSON_WEB_TOKEN, text) : []),
    ...(/AKIA|ASIA/.test(text) ? awsSecrets(text) : []),
  ];
}

/** Length of the shortest key, in characters. Most words are shorter and are not searched. */
const MIN_LENGTH = 14;
/** Minimum length of a key without a digit. */
const LONG_ENOUGH = 30;
const KEY_CHARACTERS = new Set(
  [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789$+/_=:.~%-'].map((each) => each.charCodeAt(0)),
);
const IS_KEY_CHARACTER = Array.from({ length: 128 }, (_, code) => KEY_CHARACTERS.has(code));

/** Returns the spans that may contain a key: consecutive key characters, with a digit unless the span is long. */
function longRuns(text: string): readonly TextSpan[] {
  const runs: TextSpan[] = [];
  let start = 0;
  let hasDigit = false;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    if (IS_KEY_CHARACTER[code] === true) {
      hasDigit ||= code >= 48 && code <= 57;
      continue;
    }
    const length = at - start;
    if (length >= MIN_LENGTH && (hasDigit || length >= LONG_ENOUGH)) {
      runs.push({ start, end: at });
    }
    start = at + 1;
    hasDigit = false;
  }
  return runs;
}

/** JSON Web Token, which may be wrapped at the end of a line. */
const JSON_WEB_TOKEN =
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}(?:\s?\r?\n[A-Za-z0-9_-]{20,2000}){0,8}\s{0,2}\.\s{0,2}eyJ[A-Za-z0-9_-]{4,4000}(?:\s?\r?\n[A-Za-z0-9_-]{20,2000}){0,20}\s{0,2}\.\s{0,2}[A-Za-z0-9_-]{0,2000}(?:\r?\n[A-Za-z0-9_-]{20,2000}){0,8}/g;

function matchesOf(pattern: RegExp, text: string): readonly TextSpan[] {
  return [...text.matchAll(pattern)].map(({ index, 0: { length } }) => ({ start: index, end: index + length }));
}

interface CredentialCandidate {
  readonly prefix: string;
  readonly rule: RegExp;
  readonly digit: boolean;
}

const ALL_PREFIXES = PREFIX_RULES.flatMap(({ prefixes }) => prefixes);
/** Prefixes that do not start with a shorter one, so that each occurrence of a key starts with exactly one of them. */
const ROOTS = [...new Set(ALL_PREFIXES)].filter(
  (prefix) => !ALL_PREFIXES.some((other) => other !== prefix && prefix.startsWith(other)),
);
const ROOT_PATTERN = new RegExp(`(?<![A-Za-z0-9])(?:${ROOTS.toSorted().map(escapeLiteral).join('|')})`, 'g');
const CANDIDATES: ReadonlyMap<string, readonly CredentialCandidate[]> = new Map(
  ROOTS.map((root) => [
    root,
    PREFIX_RULES.flatMap(({ prefixes, body, exact, digit }) =>
      prefixes
        .filter((prefix) => prefix.startsWith(root))
        .map((prefix) => ({
          prefix,
          digit,
          rule: new RegExp(`${escapeLiteral(prefix)}(?:${body})${exact ? '(?![A-Za-z0-9])' : ''}`, 'y'),
        })),
    ),
  ]),
);

function escapeLiteral(literal: string): string {
  return literal.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

function byPrefix(text: string, run: TextSpan): readonly TextSpan[] {
  const found: TextSpan[] = [];
  // The character before the run shows whether it starts a word.
  const from = Math.max(0, run.start - 1);
  const window = text.slice(from, run.end);
  ROOT_PATTERN.lastIndex = run.start - from;
  for (let match = ROOT_PATTERN.exec(window); match !== null; match = ROOT_PATTERN.exec(window)) {
    const start = from + match.index;
    const end = longestFrom(text, start, match[0]);
    if (end > start) {
      found.push({ start, end });
      ROOT_PATTERN.lastIndex = end - from;
    }
  }
  return found;
}

/** Returns the end of the longest key that starts here, or `start` if there is none. */
function longestFrom(text: string, start: number, root: string): number {
  let end = start;
  for (const { prefix, rule, digit } of CANDIDATES.get(root) ?? []) {
    rule.lastIndex = start;
    const key = rule.exec(text)?.[0];
    if (key !== undefined && start + key.length > end && !isSample(key.slice(prefix.length), digit)) {
      end = start + key.length;
    }
  }
  return end;
}

/** Reports whether the rest of a key is that of a sample: `xxxxxxxx`, `00000000`, `…EXAMPLE`, words without a digit. */
function isSample(body: string, needsDigit: boolean): boolean {
  return (needsDigit && !/\d/.test(body)) || /EXAMPLE|example|x{6}|X{6}|0{12}|(?:your|YOUR)[_-]/.test(body);
}

const VENDORS = [...new Set(VENDOR_RULES.flatMap(({ vendors }) => vendors))].toSorted();
const VENDOR_PATTERN = new RegExp(VENDORS.map(escapeLiteral).join('|'), 'gi');
const VENDOR_SHAPES: ReadonlyMap<string, readonly RegExp[]> = new Map(
  VENDORS.map((vendor) => [
    vendor,
    VENDOR_RULES.filter(({ vendors }) => vendors.includes(vendor)).map(
      ({ value }) => new RegExp(`^(?:${value})$`, 'i'),
    ),
  ]),
);
/** Assignment after a vendor name: the rest of the name, a sign, and a value that is long enough for a key. */
const ASSIGNED =
  /[ \t\w.-]{0,20}[\s'"`]{0,3}(?:=>|:{1,3}=|\?=|\|\||[=:>,])[`'"\s=]{0,5}([\w.=/+%|:~-]{10,200})(?=[`'"\s;,)\]}<]|\\[nr]|$)/dy;

/** Longest distance from a vendor name to a value, in characters. */
const VENDOR_REACH = 60;

function byVendor(text: string, run: TextSpan): readonly TextSpan[] {
  const found: TextSpan[] = [];
  const from = Math.max(0, run.start - VENDOR_REACH);
  for (const match of text.slice(from, run.end).matchAll(VENDOR_PATTERN)) {
    const vendor = match[0];
    ASSIGNED.lastIndex = from + match.index + vendor.length;
    const assigned = ASSIGNED.exec(text);
    const [start, end] = assigned?.indices?.[1] ?? [0, 0];
    const value = assigned?.[1] ?? '';
    const shapes = VENDOR_SHAPES.get(vendor.toLowerCase()) ?? [];
    if (/\d/.test(value) && !isSample(value, false) && shapes.some((shape) => shape.test(value))) {
      found.push({ start, end });
    }
  }
  return found;
}

const ANCHORS = ANCHOR_RULES.map(({ anchor, shape }) => ({
  anchor,
  pattern: new RegExp(`(?<![A-Za-z0-9])(?:${shape})(?![A-Za-z0-9])`, 'g'),
}));

const ANY_ANCHOR = new RegExp(ANCHOR_RULES.map(({ anchor }) => anchor.source).join('|'));

function byAnchor(text: string): readonly TextSpan[] {
  if (!ANY_ANCHOR.test(text)) {
    return [];
  }
  return ANCHORS.filter(({ anchor }) => anchor.test(text)).flatMap(({ pattern }) =>
    matchesOf(pattern, text).filter(({ start, end }) => isRealKey(text.slice(start, end))),
  );
}

/** Reports whether base64-encoded PEM is a private key; a certificate is not a secret. */
function isRealKey(value: string): boolean {
  const isPem = value.startsWith('LS0tLS1CRUdJTi');
  return (
    !isSample(value, false) &&
    (!isPem || Buffer.from(value.slice(0, 64), 'base64').toString('latin1').includes('PRIVATE'))
  );
}

const AWS_ID = /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g;
/** Secret access key of AWS. It has no prefix, so the access key id before it identifies it. */
const AWS_SECRET = /(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/g;
/** Longest distance from an access key id to its secret, in characters. */
const AWS_REACH = 300;

function awsSecrets(text: string): readonly TextSpan[] {
  return [...text.matchAll(AWS_ID)].flatMap(({ index, 0: { length } }) => {
    const from = index + length;
    return [...text.slice(from, from + AWS_REACH).matchAll(AWS_SECRET)]
      .filter(([value]) => /[A-Z]/.test(value) && /[a-z]/.test(value) && /\d/.test(value) && !value.includes('EXAMPLE'))
      .map((match) => ({ start: from + match.index, end: from + match.index + match[0].length }));
  });
}
