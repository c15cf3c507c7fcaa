/** Finds credentials in HTTP headers: Authorization with any scheme, bearer and basic credentials, cookies. */

import { isAlgorithm, isExpression, isPlaceholder, isProse } from './non-secrets.ts';
import type { TextSpan } from './spans.ts';
import { matchSpans } from './spans.ts';

/** Words of these headers, for a quick test; most texts contain none. */
const HEADER_WORD = /authorization|bearer|basic|digest|cookie/i;

export function findHeaderSecrets(text: string): readonly TextSpan[] {
  if (!HEADER_WORD.test(text)) {
    return [];
  }
  return [
    ...authorizations(text),
    ...matchSpans(BEARER, text, isBearer),
    ...matchSpans(BASIC, text, isBasicCredentials),
    ...matchSpans(DIGEST, text, () => true),
    ...matchSpans(COOKIE, text, isCookie),
  ];
}

const HEADER =
  /(?<![A-Za-z0-9])(?:proxy-)?authorization\\{0,2}["']?[ \t]{0,3}[:=][ \t]{0,3}\\{0,2}["']?(?:([A-Za-z][\w-]{1,24})[ \t]{1,3})?([^\s"'`\\,;<>]{3,4000})/dgi;
const SCHEME =
  /^(?:bearer|basic|token|digest|negotiate|apikey|api-key|key|ntlm|hawk|splunk|sso-key|ssws|geniekey|jwt|oauth|aws4-hmac-sha256)$/i;
const BEARER = /(?<![A-Za-z0-9])bearer:?\s{1,3}["'`]?([A-Za-z0-9._~+/=-]{8,4000})/dgi;
const BASIC = /(?<![A-Za-z0-9])basic\s{1,3}["'`]?([A-Za-z0-9+/_-]{6,2000}={0,2})/dgi;
/** Response and nonces of digest authentication. */
const DIGEST =
  /(?=(?:response|cnonce|opaque)=)(?<=digest\s[^\r\n]{0,400}[\s,])[a-z]{6,8}=\\{0,2}["']?([0-9a-f]{16,128})/dgi;
const COOKIE = /(?<![A-Za-z0-9])(?:set-)?cookie["']?\s{0,3}:\s{0,3}["']?([A-Za-z0-9_.-]{1,80}=[^\r\n"'`]{4,4000})/dgi;

function authorizations(text: string): readonly TextSpan[] {
  const found: TextSpan[] = [];
  for (const { 1: scheme = '', 2: value = '', indices } of text.matchAll(HEADER)) {
    const [start, end] = indices?.[2] ?? [0, 0];
    const [schemeStart, schemeEnd] = indices?.[1] ?? [0, 0];
    if (isCredentials(value, scheme)) {
      found.push({ start, end });
    } else if (scheme !== '' && !SCHEME.test(scheme) && isCredentials(scheme, '')) {
      found.push({ start: schemeStart, end: schemeEnd });
    }
  }
  return found;
}

/**
 * Reports whether a value is a credential. After a known scheme it must not be a word; otherwise it must be long or
 * contain a digit.
 */
function isCredentials(value: string, scheme: string): boolean {
  if (SCHEME.test(value) || isProse(value) || isPlaceholder(value) || isAlgorithm(value) || isExpression(value)) {
    return false;
  }
  if (scheme === '' || !SCHEME.test(scheme)) {
    return value.length >= 8 && (/\d/.test(value) || value.length >= 24);
  }
  return value.length >= 4 && (/[^a-z]/.test(value) || value.length >= 12);
}

function isBearer(value: string): boolean {
  const hasBoth = /\d/.test(value) && /[A-Za-z]/.test(value);
  const isMixed = value.length >= 24 && /[a-z]/.test(value) && /[A-Z]/.test(value);
  return (
    ((hasBoth && value.length >= 10 && !/^[A-Za-z]+\d$/.test(value)) || isMixed) &&
    !isPlaceholder(value) &&
    !isExpression(value)
  );
}

/** Reports whether a value is `name:password` in base64. Two words of prose are not. */
export function isBasicCredentials(value: string): boolean {
  const decoded = Buffer.from(value, 'base64').toString('latin1');
  return decoded.includes(':') && /^[\x20-\x7e\xa0-\xff]{3,}$/.test(decoded);
}

/** Reports whether a cookie has a value that is neither a placeholder nor a cookie attribute. */
function isCookie(line: string): boolean {
  return line.split(';').some((pair) => {
    const [name = '', value = ''] = pair.trim().split(/=(.*)/s);
    return (
      (value.length >= 12 || (value.length >= 4 && /\d/.test(value))) &&
      !/^(?:path|domain|expires|max-age|samesite|priority)$/i.test(name) &&
      !isPlaceholder(value) &&
      !isExpression(value)
    );
  });
}
