/** Finds email addresses in any script, also those that are spelled out: `ana (at) example (dot) com`. */

import { parse } from 'tldts';
import data from '../data/labels.json' with { type: 'json' };
import type { Finder, PrivateValue } from '../model/found.ts';
import { matchesIn } from '../model/matches.ts';
import { bitOf, type Reading } from '../model/reading.ts';

/** Suffixes of addresses that are not public suffixes: reserved names (RFC 2606) and names of private networks. */
const PRIVATE_SUFFIXES = new Set(['example', 'test', 'invalid', 'local', 'internal', 'lan', 'corp']);
/** Maximum number of labels in a domain; further ones are adjacent text. */
const LABELS = 10;
/** Longest local part and domain (RFC 5321, section 4.5.3.1), with a line end in between. */
const LOCAL_REACH = 80;
const DOMAIN_REACH = 265;

/** A local part, which may be wrapped before the @. */
const LOCAL = /(?:"[^"\n]{1,64}"|[\p{L}\p{N}\p{M}._%+'-]{1,64}(?:(?<=\S)\s?\r?\n[ \t>]{0,8})?)$/u;
const DOMAIN =
  /^(?:\s{0,2}\r?\n[ \t>]{0,8})?([\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}.-]{0,252}[\p{L}\p{N}\p{M}])?|\[(?:IPv6:)?[0-9a-fA-F.:]{3,45}\])/u;
/** An ASCII text at the end of one in a script without spaces between words. */
const ASCII_TAIL =
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Hangul}])[A-Za-z0-9][A-Za-z0-9._%+ -]*$/u;

export const findEmails: Finder = (reading) => [
  ...plainEmails(reading.text),
  ...(maySpellOut(reading) ? spelledOut(reading.text) : []),
];

function email(rule: string, start: number, end: number, key: string): PrivateValue {
  return { type: 'email', label: 'EMAIL', rule, start, end, key: key.normalize('NFC').toLowerCase() };
}

function plainEmails(text: string): readonly PrivateValue[] {
  const found: PrivateValue[] = [];
  for (let last = -1, at = text.indexOf('@'); at >= 0; last = at, at = text.indexOf('@', at + 1)) {
    const written = LOCAL.exec(text.slice(Math.max(last + 1, at - LOCAL_REACH), at))?.[0].replace(/^['.%-]+/, '') ?? '';
    const tail = /[\p{L}\p{N}]/u.test(written) ? DOMAIN.exec(text.slice(at + 1, at + DOMAIN_REACH)) : null;
    const name = tail?.[1]?.startsWith('[') ? tail[1] : domainOf(tail?.[1]?.split('.') ?? []);
    if (tail === null || name === null) {
      continue;
    }
    const local = (/^[\0-\x7f]*$/.test(name) && ASCII_TAIL.exec(written)?.[0]) || written;
    const end = at + 1 + tail[0].length - (tail[1] ?? '').length + name.length;
    if (!isOfMachine(text, at - local.length, at, end)) {
      found.push(email('email address', at - local.length, end, `${local.replaceAll(/[\s>]/g, '')}@${name}`));
    }
  }
  return found;
}

/** Returns the longest real domain at the start of labels; null if there is none. Words may adjoin it in some scripts. */
function domainOf(labels: readonly string[]): string | null {
  const whole = labels.slice(0, LABELS).join('.');
  const ascii = /^[a-z0-9.-]*[a-z0-9](?=[^\0-\x7f])/i.exec(whole)?.[0];
  return [whole, ...(ascii === undefined ? [] : [ascii])]
    .map((name) => longestDomain(name.split('.')))
    .reduce((best, name) => ((name?.length ?? 0) > (best?.length ?? 0) ? name : best));
}

function longestDomain(labels: readonly string[]): string | null {
  const counts = labels.map((_, index) => labels.length - index).filter((count) => count > 1);
  return counts.map((count) => labels.slice(0, count).join('.')).find(isDomain) ?? null;
}

/** Reports whether a name ends in a public, reserved or private suffix with a label before it. */
function isDomain(name: string): boolean {
  const { isIcann, isPrivate, publicSuffix, domain, isIp } = parse(name, { allowPrivateDomains: true });
  if (isIp === true || publicSuffix === null || /^-|-$|\.\.|-\.|\.-/.test(name)) {
    return false;
  }
  return isPrivate === true || (domain !== null && (isIcann === true || PRIVATE_SUFFIXES.has(publicSuffix)));
}

/** Reports whether it is the user info of a URL, `git@host:path` or a shell prompt, and not the address of a person. */
function isOfMachine(text: string, start: number, at: number, end: number): boolean {
  const next = text.slice(end, end + 2);
  // The user info of a URL is redacted as a secret; its host may be kept.
  const isUserInfo = /:\/\/[^\s/?#"'<>]{0,200}$/.test(text.slice(Math.max(0, start - 220), start));
  return isUserInfo || (text.slice(start, at) === 'git' && /^[:/]\S/.test(next)) || /^:[~/]/.test(next);
}

const { at, atUnspaced, dot, dotUnspaced, joiners, providers, proseBeforeAt } = data.email;
const OPEN = '[[({<«|*_~-]';
const CLOSE = '[\\])}>»|*_~-]';
const GAP = '[ \\t]{1,2}';
/** An @ that is a word, has brackets or spaces around it, or is before a domain that is spelled out; `=40` is one in mails. */
const AT = new RegExp(
  `${OPEN}[ \\t]?(?:${at}|${atUnspaced}|@|a)[ \\t]?${CLOSE}[ \\t]{0,2}|${GAP}(?:${at})${GAP}|(?:${atUnspaced})[ \\t]{0,2}|[ \\t]{0,2}@[ \\t]{0,2}|=40`,
  'giu',
);
const DOT = `(?:[ \\t]{0,2}${OPEN}[ \\t]?(?:${dot}|${dotUnspaced}|\\.)[ \\t]?${CLOSE}[ \\t]{0,2}|${GAP}(?:${dot})${GAP}|[ \\t]{0,2}(?:${dotUnspaced}|。)[ \\t]{0,2}|\\.|[ \\t]\\.[ \\t]?|=2E)`;
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}_+-]{0,61}[\\p{L}\\p{N}])?';
const SPELLED_DOMAIN = new RegExp(`${LABEL}(?:${DOT}${LABEL}){1,4}`, 'iuy');
const SPELLED_LOCAL = new RegExp(
  `(?<![\\p{L}\\p{N}@])[\\p{L}\\p{N}](?:[\\p{L}\\p{N}._%+'-]|=[0-9A-F]{2}){0,63}(?:(?:${DOT}|[ \\t](?:${joiners})[ \\t])[\\p{L}\\p{N}][\\p{L}\\p{N}._+-]{0,63}){0,3}[ \\t]{0,2}$`,
  'iu',
);
const DOTS = new RegExp(DOT, 'giu');
/** Words for an @ and for a dot, also without spaces around them. */
const AT_WORD = bitOf([...at.split('|'), 'a']);
const OTHER_WORD = bitOf([...atUnspaced.split('|'), ...dot.split('|'), ...dotUnspaced.split('|')]);
/** A word for an @ before a provider, in brackets, or in capitals. */
const CLEAR_AT = new RegExp(
  `(?:[ \\t](?:${at})[ \\t]{1,2}|${CLOSE}[ \\t]{0,2})(?:${providers})\\.|${OPEN}[ \\t]?(?:${at}|a)[ \\t]?${CLOSE}|[ \\t][Aa][Tt][ \\t]`,
  'iu',
);

/** Quick test for an address that is spelled out; most texts have none. */
function maySpellOut({ text, bits }: Reading): boolean {
  return (
    (bits & OTHER_WORD) !== 0 ||
    text.includes('@') ||
    text.includes('=40') ||
    ((bits & AT_WORD) !== 0 && CLEAR_AT.test(text))
  );
}

/** Domains that make an address even if only the @ is a word; "look at example.com" is not an address. */
const PROVIDER = new RegExp(`^(?:${providers})\\.[a-z.]{2,7}$`, 'i');
const PROSE = new RegExp(`^(?:${proseBeforeAt})$`, 'i');
const CYRILLIC_ENDS: Readonly<Record<string, string>> = { ру: 'ru', ком: 'com', нет: 'net', орг: 'org', юа: 'ua' };

function spelledOut(text: string): readonly PrivateValue[] {
  let last = 0;
  return matchesIn(text, AT).flatMap(({ index, 0: sign }) => {
    const from = Math.max(last, index - SPOKEN_REACH);
    last = index + sign.length;
    SPELLED_DOMAIN.lastIndex = index + sign.length;
    const written = SPELLED_DOMAIN.exec(text)?.[0] ?? '';
    const domain = sign === '@' && PLAIN.test(written) ? null : spelledDomain(written);
    const spoken = domain === null ? null : SPELLED_LOCAL.exec(text.slice(from, index));
    if (domain === null || spoken === null) {
      return [];
    }
    const name = ASCII_TAIL.exec(spoken[0])?.[0] ?? spoken[0];
    const local = name.trimEnd();
    const key = `${local.replaceAll(DOTS, '.')}@${domain.name}`;
    const end = index + sign.length + domain.length;
    // "stop at any point as", "looking at GNU .mo".
    const dotted = text.slice(end - domain.length, end);
    const isProse =
      /^\s+at\s+$/i.test(sign) && (/\spoint\s/i.test(dotted) || (PROSE.test(local) && /\s\./.test(dotted)));
    return isAddress(local, sign, domain) && !isProse
      ? [email('email address in words', index - name.length, end, key)]
      : [];
  });
}

/** A domain without a spelled-out dot. */
const PLAIN = /^[\w.+-]*$/;
/** Longest distance from a spelled-out local part to its @, in characters. */
const SPOKEN_REACH = 120;

interface SpelledDomain {
  readonly name: string;
  /** Its length as written. */
  readonly length: number;
  /** True if a dot of it is a word or in brackets. */
  readonly hasSpelledDot: boolean;
}

function spelledDomain(written: string): SpelledDomain | null {
  const dots = matchesIn(written, DOTS);
  const starts = [0, ...dots.map(({ index, 0: dot }) => index + dot.length)];
  const labels = starts.map((start, index) => written.slice(start, dots[index]?.index ?? written.length));
  const name = domainOf(labels.map((label) => CYRILLIC_ENDS[label.toLowerCase()] ?? label));
  const own = name?.split('.') ?? [];
  const length = (starts[own.length - 1] ?? 0) + (own.at(-1)?.length ?? 0);
  return name === null
    ? null
    : { name, length, hasSpelledDot: dots.slice(0, own.length - 1).some(([dot]) => dot !== '.') };
}

function isAddress(local: string, sign: string, { name, hasSpelledDot }: SpelledDomain): boolean {
  if (sign === '@' || hasSpelledDot) {
    return hasSpelledDot;
  }
  if (sign.includes('@') || /[^\p{L}\p{N}\s]/u.test(sign)) {
    // "(a)" may be the first item of a list, and a word before " @" may precede the name of an account.
    return /^\s@$/.test(sign) ? !PROSE.test(local) : !/^\W*a\W*$/i.test(sign) || PROVIDER.test(name);
  }
  const isShouted = /\bAT\b/.test(sign) && local !== local.toUpperCase();
  return isShouted || (PROVIDER.test(name) && (/[._\d]/.test(local) || !PROSE.test(local)));
}
