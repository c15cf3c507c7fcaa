/** Finds keys, tokens and passwords by their shape, by the words before them, and in URLs, headers and files. */

import { fold } from '../model/fold.ts';
import type { Finder } from '../model/found.ts';
import { findCommandSecrets } from './command-line.ts';
import { findFileSecrets } from './credential-files.ts';
import { findPairs } from './credential-pairs.ts';
import { findTableSecrets } from './credential-tables.ts';
import { findHeaderSecrets } from './http-headers.ts';
import { findKeys } from './key-shapes.ts';
import { isPlaceholder } from './non-secrets.ts';
import { matchSpans, type TextSpan } from './spans.ts';

export const findSecrets: Finder = (text) => {
  const view = fold(text);
  return [
    ...pemBlocks(text),
    ...findKeys(text),
    ...findHeaderSecrets(text),
    ...userInfo(text),
    ...grants(text),
    ...findPairs(text, view),
    ...findCommandSecrets(text),
    ...findFileSecrets(text),
    ...findTableSecrets(text, view),
  ].map(({ start, end }) => ({ type: 'secret', label: 'SECRET', start, end, key: text.slice(start, end) }));
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
    found.push({ start: index, end: done });
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

/** User info of a URL. An unencoded password may contain a slash or an @. */
const AUTHORITY = /:\/\/([^\s/?#"'<>`\\]{1,512}(?=@)|[^\s/:@"'<>`]{1,64}:(?!\d{1,5}\/)[^\s@"'<>`]{1,128}(?=@))/dg;
const SSH_USER = /^(?:git|hg|svn)$/;
/** User info in documentation: `user:password@`, `${USER}:${PASSWORD}@`. */
const SAMPLE_USER =
  /^(?:user(?:name)?|usr|me|name|login|my-?user|your-?user(?:name)?|x-access-token|oauth2)?:(?:pass|pwd)$/i;

function userInfo(text: string): readonly TextSpan[] {
  return matchSpans(AUTHORITY, text, (value) => {
    const password = value.slice(value.indexOf(':') + 1);
    return !SSH_USER.test(value) && !SAMPLE_USER.test(value) && !isPlaceholder(password);
  });
}

/** Query parameters whose code grants access to anyone who has it. */
const GRANT =
  /[?&](?:code|key|auth|sid|session|state|otp|magic|invite|invitation|ticket|hash)=([A-Za-z0-9._~-]{16,512})/dg;
/** Password in a list of accounts: `ana@example.com:password`. */
const AFTER_EMAIL = /@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}:([^\s"'<>,;:/]{5,128})(?=[\s"',;<)]|$)/dg;

function grants(text: string): readonly TextSpan[] {
  return [
    ...matchSpans(GRANT, text, (value) => /\d/.test(value) && /[A-Za-z]/.test(value) && !isPlaceholder(value)),
    ...matchSpans(AFTER_EMAIL, text, (value) => /\d/.test(value) && /\p{L}/u.test(value)),
  ];
}
