// Finder for email addresses.

import type { Finder, PrivateValue } from '../model/found.ts';
import { findDisguisedEmails } from './disguised-email.ts';
import { email, isDomain } from './email-domain.ts';

/** Longest local part and domain (RFC 5321, section 4.5.3.1). */
const LOCAL = 64;
const DOMAIN = 253;
/** Maximum number of labels in a domain; further ones are adjacent text. */
const LABELS = 10;

const LOCAL_CHARACTER = /[\p{L}\p{N}\p{M}._%+'-]/u;
const DOMAIN_TEXT = /^(?:\s{0,2}\r?\n[ \t>]{0,8})?([\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}.-]{0,252}[\p{L}\p{N}\p{M}])?)/u;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Hangul}]/u;
/** ASCII local part after a letter of such a script. */
const ASCII_TAIL =
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Hangul}])[A-Za-z0-9][A-Za-z0-9._%+-]*$/u;

/** Finds email addresses with a real public suffix, in any script; also disguised: `local (at) domain (dot) com`. */
export const findEmails: Finder = (text) => [...plain(text), ...findDisguisedEmails(text)];

function plain(text: string): readonly PrivateValue[] {
  const found: PrivateValue[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const first = startOfLocal(text, at);
    const domain = first === at ? null : domainAfter(text, at + 1);
    if (domain !== null && !isAddressOfMachine(text, first, at, domain.end)) {
      const start = afterUnspaced(text, first, at, domain.name);
      found.push(email(start, domain.end, `${text.slice(start, at).replaceAll(/[\s>]/g, '')}@${domain.name}`));
    }
  }
  return found;
}

/** Returns the start of an email address. In a script without spaces, a sentence may adjoin it. */
function afterUnspaced(text: string, start: number, at: number, domain: string): number {
  const local = text.slice(start, at);
  const tail = /^[\0-\x7f]*$/.test(domain) ? ASCII_TAIL.exec(local)?.[0] : undefined;
  return tail === undefined ? start : at - tail.length;
}

/** Returns the start of the local part before an @, or `at` if there is none. */
function startOfLocal(text: string, at: number): number {
  if (text[at - 1] === '"') {
    const open = text.lastIndexOf('"', at - 2);
    return open >= 0 && at - open <= LOCAL + 2 && !text.slice(open, at).includes('\n') ? open : at;
  }
  // An address may be wrapped before the @.
  const wrapped = /\S\s?\r?\n[ \t>]{0,8}$/.test(text.slice(Math.max(0, at - 12), at));
  let last = at;
  while (wrapped && last > 0 && /[\s>]/.test(text[last - 1] as string)) {
    last -= 1;
  }
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
  // A pattern such as `.+@example\.com` is not an address.
  return start === last || !/[\p{L}\p{N}]/u.test(text.slice(start, last)) ? at : start;
}

/** Returns the longest domain with a real suffix that starts here. */
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
  const shorter = UNSPACED.test(name) ? (/^[a-z0-9.-]*[a-z0-9]/i.exec(name)?.[0] ?? '') : '';
  const [mixed, ascii] = [longestDomain(name), longestDomain(shorter)];
  const domain = (ascii?.length ?? 0) > (mixed?.length ?? 0) ? ascii : mixed;
  return domain === null ? null : { name: domain, end: from + whole.length - name.length + domain.length };
}

function longestDomain(name: string): string | null {
  const labels = name.split('.').slice(0, LABELS);
  for (; labels.length > 1; labels.pop()) {
    const candidate = labels.join('.');
    if (isDomain(candidate)) {
      return candidate;
    }
  }
  return null;
}

/** Reports whether it is the user info of a URL, `git@host:path` or a shell prompt, and not the address of a person. */
function isAddressOfMachine(text: string, start: number, at: number, end: number): boolean {
  if (/:\/\/[^\s/?#"'<>]{0,200}$/.test(text.slice(Math.max(0, start - 220), start))) {
    // The user info of a URL is redacted as a secret; its host may be kept.
    return true;
  }
  const next = text.slice(end, end + 2);
  return (text.slice(start, at) === 'git' && /^[:/][^\s]/.test(next)) || /^:[~/]/.test(next);
}
