/** Recognizes real email domains, and creates the results of the email finders. */
import { parse } from 'tldts';
import type { PrivateValue } from '../model/found.ts';

/** Suffixes of addresses that are not public suffixes: reserved names (RFC 2606) and names of private networks. */
const PRIVATE_SUFFIXES = new Set(['example', 'test', 'invalid', 'local', 'internal', 'lan', 'corp']);

export function email(start: number, end: number, key: string): PrivateValue {
  return { type: 'email', label: 'EMAIL', start, end, key: key.normalize('NFC').toLowerCase() };
}

/** Reports whether a name ends in a public, reserved or private suffix with a label before it. */
export function isDomain(name: string): boolean {
  if (/^-|-$|\.\.|-\.|\.-/.test(name)) {
    return false;
  }
  const { isIcann, isPrivate, publicSuffix, domain, isIp } = parse(name, { allowPrivateDomains: true });
  if (isIp === true || publicSuffix === null || domain === null) {
    return isPrivate === true && domain === null && name.includes('.');
  }
  return isIcann === true || isPrivate === true || PRIVATE_SUFFIXES.has(publicSuffix);
}
