/** Scopes distinguish the manifest directories of one organization in refs, comments, commit statuses and checksums. */

import { createHash } from 'node:crypto';
import { withoutTrailingSlashes } from './url.ts';

/** Scope of manifests at the root of their repository, or outside of any repository. */
export const ROOT_SCOPE = '.';

const NAMES = /^(?:\.|(?=.{1,200}$)[A-Za-z0-9_][\w.-]*(?:\/[A-Za-z0-9_][\w.-]*)*)$/;

/** Returns true if a text is a valid explicit scope: names separated by slashes, at most 200 characters, or `.`. */
export function isScope(text: string): boolean {
  return NAMES.test(text);
}

/** Longest encoded scope, in characters, before it is shortened by a hash: forges limit the names of statuses. */
const MAX_LENGTH = 100;

/**
 * Returns the default scope of a manifest folder: its path inside the repository, with forward slashes. It is the same
 * on every machine, whatever form of Unicode the file system uses.
 */
export function defaultScope(path: string): string {
  const plain = withoutTrailingSlashes(path.replaceAll('\\', '/')).normalize('NFC');
  return plain === '' ? ROOT_SCOPE : plain;
}

/**
 * Encodes a scope as one component of a ref name: letters, digits, `_` and `-` stay, other bytes become `%XX`.
 * Different scopes have different encodings.
 */
function encodeScope(scope: string): string {
  const bytes = Buffer.from(scope.toWellFormed()).toString('latin1');
  const encoded = bytes.replace(/[^\w-]/g, percent);
  // `applied` is the last component of the root scope's ref, and a ref cannot be a folder of refs too.
  const safe = encoded === 'applied' || encoded.startsWith('-') ? percent(encoded) + encoded.slice(1) : encoded;
  if (safe.length <= MAX_LENGTH) {
    return safe;
  }
  const digest = createHash('sha256').update(scope).digest('hex').slice(0, 32);
  return `${safe.slice(0, MAX_LENGTH - 40).replace(/%.?$/, '')}%00${digest}`;
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

/**
 * Returns the suffix that a scope adds to the name of the root scope: empty for the root, otherwise `/` and its
 * encoding.
 */
export function scopeSuffix(scope: string): string {
  return scope === ROOT_SCOPE ? '' : `/${encodeScope(scope)}`;
}
