import { parse } from 'tldts';
import type { Finder, Found } from './found.ts';

/** The longest local part and domain (RFC 5321, section 4.5.3.1). */
const LOCAL = 64;
const DOMAIN = 253;
/** Labels of a domain that are looked at: what follows is text that ran into it. */
const LABELS = 10;

const LOCAL_CHARACTER = /[\p{L}\p{N}\p{M}._%+'-]/u;
const DOMAIN_TEXT = /^(?:\s{0,2}\r?\n[ \t>]{0,8})?([\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}.-]{0,252}[\p{L}\p{N}\p{M}])?)/u;
/** Not in any list of public suffixes, and yet what addresses end in: reserved names (RFC 2606) and private networks. */
const PRIVATE_SUFFIXES = new Set(['example', 'test', 'invalid', 'local', 'internal', 'lan', 'corp']);

/** Addresses: `local@domain` with a real public suffix, in any script, and `local (at) domain (dot) com`. */
export const findEmails: Finder = (text) => [...plain(text), ...spelledOut(text)];

function plain(text: string): readonly Found[] {
  const found: Found[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const start = startOfLocal(text, at);
    const domain = start === at ? null : domainAfter(text, at + 1);
    if (domain !== null && !isAddressOfMachine(text, start, at, domain.end)) {
      found.push(email(start, domain.end, `${text.slice(start, at).replaceAll(/[\s>]/g, '')}@${domain.name}`));
    }
  }
  return found;
}

function email(start: number, end: number, key: string): Found {
  return { type: 'email', label: 'EMAIL', start, end, key: key.normalize('NFC').toLowerCase() };
}

/** Where the local part before an @ begins; `at` itself where there is none. */
function startOfLocal(text: string, at: number): number {
  if (text[at - 1] === '"') {
    const open = text.lastIndexOf('"', at - 2);
    return open >= 0 && at - open <= LOCAL + 2 && !text.slice(open, at).includes('\n') ? open : at;
  }
  // A line may end before the @: whoever wrapped it did not mean another address.
  const wrapped = /\S\s?\r?\n[ \t>]{0,8}$/.test(text.slice(Math.max(0, at - 12), at));
  const last = wrapped
    ? text
        .slice(0, at)
        .trimEnd()
        .replace(/[\s>]+$/, '').length
    : at;
  let start = last;
  while (start > 0 && last - start < LOCAL && LOCAL_CHARACTER.test(text[start - 1] as string)) {
    start -= 1;
  }
  // Letters beyond the BMP are two units.
  while (start > 0 && last - start < LOCAL && /[\ud800-\udfff]/.test(text[start - 1] as string)) {
    start -= 1;
  }
  while (start < last && /['.%-]/.test(text[start] as string)) {
    start += 1;
  }
  return start === last ? at : start;
}

/** The longest domain with a real suffix that begins here. */
function domainAfter(text: string, from: number): { readonly name: string; readonly end: number } | null {
  const stretch = text.slice(from, from + DOMAIN + 12);
  const literal = /^\[(?:IPv6:)?[0-9a-fA-F.:]{3,45}\]/.exec(stretch);
  if (literal !== null) {
    return { name: literal[0], end: from + literal[0].length };
  }
  const match = DOMAIN_TEXT.exec(stretch);
  if (match === null) {
    return null;
  }
  const [whole, name] = match as unknown as readonly [string, string];
  const labels = name.split('.').slice(0, LABELS);
  for (; labels.length > 1; labels.pop()) {
    const candidate = labels.join('.');
    if (isDomain(candidate)) {
      return { name: candidate, end: from + whole.length - name.length + candidate.length };
    }
  }
  return null;
}

function isDomain(name: string): boolean {
  if (/^-|-$|\.\.|-\.|\.-/.test(name)) {
    return false;
  }
  const { isIcann, isPrivate, publicSuffix, domain, isIp } = parse(name, { allowPrivateDomains: true });
  if (isIp === true || publicSuffix === null || domain === null) {
    return isPrivate === true && domain === null && name.includes('.');
  }
  return isIcann === true || isPrivate === true || PRIVATE_SUFFIXES.has(publicSuffix);
}

/** User info of a URL, `git@host:path` of git, and the prompt of a shell: nobody's address. */
function isAddressOfMachine(text: string, start: number, at: number, end: number): boolean {
  if (/:\/\/[^\s/?#"'<>]{0,200}$/.test(text.slice(Math.max(0, start - 220), start))) {
    // The user info of a URL: a secret, and its host may stay.
    return true;
  }
  const next = text.slice(end, end + 2);
  return (text.slice(start, at) === 'git' && /^[:/][^\s]/.test(next)) || /^:[~/]/.test(next);
}

const WORD = '[\\p{L}\\p{N}][\\p{L}\\p{N}_+-]{0,62}';
const BRACKETED = new RegExp(
  `(?<![\\p{L}\\p{N}._+-])(${WORD}(?:\\.${WORD}){0,3}) {0,2}[[({<] ?(?:at|@|ät) ?[\\])}>] {0,2}(${WORD}(?:(?: {0,2}[[({<] ?(?:dot|punkt|\\.) ?[\\])}>] {0,2}|\\.)${WORD}){1,4})`,
  'giu',
);
const SPOKEN = new RegExp(
  `(?<![\\p{L}\\p{N}._+-])(${WORD}(?: dot ${WORD}){0,2}) at (${WORD}(?: dot ${WORD}){1,3})(?![\\p{L}\\p{N}_-])`,
  'giu',
);

/** What each needs: quick to look for, and mostly not there. */
const SPELLINGS = [
  { needs: /[[({<] ?(?:at|@|ät) ?[\])}>]/iu, pattern: BRACKETED },
  { needs: / dot /iu, pattern: SPOKEN },
];

function spelledOut(text: string): readonly Found[] {
  return SPELLINGS.filter(({ needs }) => needs.test(text)).flatMap(({ pattern }) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const [whole, local, domain] = match as unknown as readonly [string, string, string];
      const name = domain.replace(/\s*[[({<]?\s?\b(?:dot|punkt)\b\s?[\])}>]?\s*|\s*[[({<]\s?\.\s?[\])}>]\s*/giu, '.');
      const key = `${local.replaceAll(/ dot /gi, '.')}@${name}`;
      return isDomain(name) ? [email(match.index, match.index + whole.length, key)] : [];
    }),
  );
}
