/** Finds keys and tokens by the formats of their vendors (`data/key-formats.json`), and random strings. */
import { compilePattern, type Pattern } from '../../../core/text/pattern.ts';
import formats from '../data/key-formats.json' with { type: 'json' };
import { matchesIn } from '../model/matches.ts';

/** A part of a text, in UTF-16 code units. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
  /** Name of the rule that recognized it, in words. */
  readonly rule?: string;
}

/**
 * Format of a key, one of three: it starts with a prefix (`starts`), contains a mark (`contains`), or is recognized
 * only after the name of its vendor (`near`). `pattern` is in RE2 syntax: the rest after the prefix, or the whole key.
 */
export interface KeyFormat {
  readonly name: string;
  readonly starts?: readonly string[];
  readonly contains?: string;
  /** Lower case; matched in any case. */
  readonly near?: readonly string[];
  readonly pattern: string;
  /** No letter or digit may follow, for ambiguous prefixes. */
  readonly exact?: boolean;
  /** A digit is necessary, for prefixes that also start ordinary words. */
  readonly digit?: boolean;
}

export const KEY_FORMATS: readonly KeyFormat[] = formats;

/** Finds the keys of known formats, JSON Web Tokens, and random strings. Pure; takes linear time. */
export function findKeys(text: string): readonly TextSpan[] {
  const runs = longRuns(text);
  return [
    ...runs.flatMap((run) => [...byStart(text, run), ...byMark(text, run)]),
    ...byVendor(text, runs),
    ...(text.includes('eyJ') ? webTokens(text) : []),
    ...(runs.length === 0 ? [] : randomStrings(text)),
  ];
}

/** Length of the shortest key, in characters. Most words are shorter and are not searched. */
const MIN_LENGTH = 14;
/** Minimum length of a key without a digit. */
const LONG_ENOUGH = 30;
/** Longest key, in characters, of formats with a length and of others. */
const WINDOW = 600;
const MAX_LENGTH = 20_000;
const KEY_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789$+/_=:.~%-';
const IS_KEY_CHARACTER = Array.from({ length: 128 }, (_, code) => KEY_CHARACTERS.includes(String.fromCharCode(code)));

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

const compiled = new Map<string, Pattern>();

/** Compiles a pattern when a text first has its keyword: most texts have none. */
export function patternOf(source: string, flags = ''): Pattern {
  const key = flags + source;
  const known = compiled.get(key) ?? compilePattern(source, flags);
  compiled.set(key, known);
  return known;
}

const escapeLiteral = (literal: string) => literal.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
const prefixes = [...new Set(KEY_FORMATS.flatMap(({ starts = [] }) => starts))];
/** Prefixes that do not start with a shorter one, so that each occurrence of a key starts with exactly one of them. */
const ROOTS = prefixes.filter((prefix) => !prefixes.some((other) => other !== prefix && prefix.startsWith(other)));
const ROOT_PATTERN = new RegExp(`(?<![A-Za-z0-9])(?:${ROOTS.map(escapeLiteral).join('|')})`, 'g');
const BY_ROOT = new Map(
  ROOTS.map((root) => [
    root,
    KEY_FORMATS.flatMap((format) =>
      (format.starts ?? []).filter((prefix) => prefix.startsWith(root)).map((prefix) => ({ prefix, format })),
    ),
  ]),
);

function byStart(text: string, run: TextSpan): readonly TextSpan[] {
  const found: TextSpan[] = [];
  // The character before the run shows whether it starts a word.
  const from = Math.max(0, run.start - 1);
  const window = text.slice(from, run.end);
  ROOT_PATTERN.lastIndex = run.start - from;
  for (let match = ROOT_PATTERN.exec(window); match !== null; match = ROOT_PATTERN.exec(window)) {
    const { key, end } = longestFrom(text, from + match.index, match[0]);
    if (key !== undefined) {
      found.push(key);
    }
    // A sample is not searched again from each of its parts.
    ROOT_PATTERN.lastIndex = Math.max(ROOT_PATTERN.lastIndex, end - from);
  }
  return found;
}

/** Returns the longest key that starts here, and the end of what has its format: that may be a sample. */
function longestFrom(text: string, start: number, root: string): { readonly key?: TextSpan; readonly end: number } {
  let key: TextSpan | undefined;
  let last = start;
  for (const { prefix, format } of BY_ROOT.get(root) ?? []) {
    if (!text.startsWith(prefix, start)) {
      continue;
    }
    const pattern = patternOf(`(${format.pattern})${format.exact === true ? '(?:[^A-Za-z0-9]|$)' : ''}`);
    const from = start + prefix.length;
    const longest = format.pattern.includes(',}') ? MAX_LENGTH : WINDOW;
    const matcher = pattern.matcher(text.slice(from, from + longest));
    const body = matcher.lookingAt() ? (matcher.group(1) ?? '') : '';
    const end = from + body.length;
    last = body === '' ? last : Math.max(last, end);
    if (body !== '' && end > (key?.end ?? 0) && !isSample(body, format.digit === true) && !isCertificate(text, start)) {
      key = { start, end, rule: format.name };
    }
  }
  return { ...(key === undefined ? {} : { key }), end: last };
}

/** Reports whether the rest of a key is that of a sample: `xxxxxxxx`, `00000000`, `…EXAMPLE`, words without a digit. */
function isSample(body: string, needsDigit: boolean): boolean {
  return (
    (needsDigit && !/\d/.test(body)) ||
    /EXAMPLE|example|x{6}|X{6}|0{8}|(?:your|YOUR)[_-]|(?<![A-Za-z])[Pp]ersonalAccess|AccessToken|ActionToken/.test(body)
  );
}

/** Reports whether a text is the start of PEM in base64 that is not a private key. */
function isCertificate(text: string, start: number): boolean {
  const head = text.slice(start, start + 64);
  return head.startsWith('LS0tLS1C') && !Buffer.from(head, 'base64').toString('latin1').includes('PRIVATE');
}

const MARKED = KEY_FORMATS.flatMap((format) =>
  format.contains === undefined ? [] : [{ mark: format.contains, format }],
);
const ANY_MARK = new RegExp(MARKED.map(({ mark }) => escapeLiteral(mark)).join('|'));

function byMark(text: string, run: TextSpan): readonly TextSpan[] {
  const own = text.slice(run.start, run.end);
  return (ANY_MARK.test(own) ? MARKED : []).flatMap(({ mark, format: { pattern, name } }) =>
    (own.includes(mark)
      ? [...patternOf(`(?:^|[^A-Za-z0-9])(${pattern})(?:[^A-Za-z0-9]|$)`).matchAll(own)]
      : []
    ).flatMap(({ index = 0, 0: whole, 1: key = '' }) => {
      const start = run.start + index + whole.indexOf(key);
      return isSample(key, false) ? [] : [{ start, end: start + key.length, rule: name }];
    }),
  );
}

const VENDORS = new Map<string, KeyFormat[]>();
for (const format of KEY_FORMATS) {
  for (const vendor of format.near ?? []) {
    VENDORS.set(vendor, [...(VENDORS.get(vendor) ?? []), format]);
  }
}
const VENDOR_PATTERN = new RegExp([...VENDORS.keys()].toSorted().map(escapeLiteral).join('|'), 'gi');
/** Assignment after a vendor name: the rest of the name, a sign, and a value that is long enough for a key. */
const ASSIGNED =
  /[ \t\w.-]{0,20}[\s'"`]{0,3}(?:=>|:{1,3}=|\?=|\|\||[=:>,])[`'"\s=]{0,5}([\w.=/+%|:~-]{10,200})(?=[`'"\s;,)\]}<]|\\[nr]|$)/dy;
/** Longest distance from a vendor name to a value, in characters. */
const VENDOR_REACH = 60;

function byVendor(text: string, runs: readonly TextSpan[]): readonly TextSpan[] {
  return stretchesBefore(runs, VENDOR_REACH).flatMap(({ start: from, end: to }) =>
    matchesIn(text.slice(from, to), VENDOR_PATTERN).flatMap(({ index, 0: vendor }) => {
      ASSIGNED.lastIndex = from + index + vendor.length;
      const assigned = ASSIGNED.exec(text);
      const [start, end] = assigned?.indices?.[1] ?? [0, 0];
      const value = assigned?.[1] ?? '';
      const format = (VENDORS.get(vendor.toLowerCase()) ?? []).find(({ pattern }) =>
        patternOf(`^(?:${pattern})$`, 'i').test(value),
      );
      return format === undefined || !/\d/.test(value) || isSample(value, false)
        ? []
        : [{ start, end, rule: format.name }];
    }),
  );
}

/** Returns spans with the text before them, merged, so that no text is searched twice. */
function stretchesBefore(spans: readonly TextSpan[], reach: number): readonly TextSpan[] {
  const merged: { start: number; end: number }[] = [];
  for (const { start, end } of spans) {
    const last = merged.at(-1);
    if (last !== undefined && start - reach <= last.end) {
      last.end = end;
    } else {
      merged.push({ start: Math.max(0, start - reach), end });
    }
  }
  return merged;
}

/** JSON Web Token, which may be wrapped at the end of a line. */
const WEB_TOKEN =
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}(?:\s?\r?\n[A-Za-z0-9_-]{20,2000}){0,8}\s{0,2}\.\s{0,2}eyJ[A-Za-z0-9_-]{4,4000}(?:\s?\r?\n[A-Za-z0-9_-]{20,2000}){0,20}\s{0,2}\.\s{0,2}[A-Za-z0-9_-]{0,2000}(?:\r?\n[A-Za-z0-9_-]{20,2000}){0,8}/g;

function webTokens(text: string): readonly TextSpan[] {
  return matchesIn(text, WEB_TOKEN).map(({ index, 0: { length } }) => ({
    start: index,
    end: index + length,
    rule: 'JSON Web Token',
  }));
}

const RANDOM = /(?<![\w+/=.~%@&?#$-])(?!sha\d{3}-|\/)[A-Za-z0-9+/_-]{24,120}={0,2}(?![\w+/=.~%@-])/g;
/** Words before a string that is random, and not a secret: a hash, an id, the content of a file. */
const PUBLIC_BEFORE =
  /(?:sha-?\d{1,3}|md5|integrity|base64,?|etag|digest|checksum|hash|fingerprint|commit|revision|nonce|cursor|rsa|ed25519|ecdsa[\w-]*|(?:^|[\W_a-z])(?:id(?:-\d)?|ids|uid|ref|ray|trace|request|signature-?input|kid|thumbprint|serial|cert(?:ificate)?))["'`]?[ \t]{0,3}[:=-]{0,2}[ \t]{0,3}["'`([]{0,2}$/i;

/** An id that starts with the kind of its object, as the interfaces of many services have them: `cus_…`, `evt_…`. */
const PUBLIC_ID =
  /^(?:acct|batch|ch|chatcmpl|cus|dpl|evt|file|msg|org|pi|pm|prj|price|prod|proj|req|run|seti|sub|team|thread|txn|user|usr)[_-](?!.*secret)/;

/** Returns strings that nobody chose: letters of both cases and digits that change often, and no words among them. */
function randomStrings(text: string): readonly TextSpan[] {
  return matchesIn(text, RANDOM).flatMap(({ index: start, 0: value }) => {
    const end = start + value.length;
    // Lines of a certificate, a picture or another file.
    const isInBlock =
      /[A-Za-z0-9+/=]{40}["\\n]{0,3}\r?\n[>\s]{0,12}$/.test(text.slice(Math.max(0, start - 60), start)) ||
      /^["\\n]{0,3}\r?\n[>\s]{0,12}[A-Za-z0-9+/]{8,}={0,2}\s/.test(text.slice(end, end + 100));
    const isPublic = PUBLIC_BEFORE.test(text.slice(Math.max(0, start - 32), start));
    return looksDrawn(value) && !PUBLIC_ID.test(value) && !isInBlock && !isPublic
      ? [{ start, end, rule: 'random string' }]
      : [];
  });
}

/** Reports whether the kind of character changes as often as in a random string, and each kind occurs. */
export function looksDrawn(value: string): boolean {
  const kinds = [...value].map((sign) => (/\d/.test(sign) ? 0 : /[a-z]/.test(sign) ? 1 : /[A-Z]/.test(sign) ? 2 : 3));
  const changes = kinds.filter((kind, at) => at > 0 && kind !== kinds[at - 1]).length;
  const count = (kind: number) => kinds.filter((each) => each === kind).length;
  return (
    count(0) >= 2 &&
    count(1) >= 4 &&
    count(2) >= 4 &&
    count(3) <= value.length / 8 &&
    changes >= 0.4 * (value.length - 1) &&
    !/[a-z]{7}|[A-Z]{8}|(.)\1{3}/.test(value) &&
    new Set(value).size >= Math.min(16, value.length / 2)
  );
}
