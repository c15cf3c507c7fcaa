/** Shared checks of webhook requests: headers, content type, signature and body. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Delivery, WebhookResult } from '../model/source.ts';

type Refused = Extract<WebhookResult, { readonly kind: 'refused' }>;

/** Returns a header that was sent exactly once and is not empty, otherwise null. `name` is in lower case. */
export function headerOf(headers: Delivery['headers'], name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Reports whether the content type is JSON, with or without parameters such as a charset. */
export function isJson(headers: Delivery['headers']): boolean {
  return /^application\/json\s*(?:;|$)/i.test(headerOf(headers, 'content-type') ?? '');
}

interface Hmac {
  readonly algorithm: 'sha1' | 'sha256';
  readonly secret: string | Uint8Array;
  readonly encoding: 'hex' | 'base64';
}

/**
 * Reports whether one of the given signatures is the HMAC of the chunks, in canonical encoding. Every signature is
 * compared in constant time, and the HMAC is computed once for all of them.
 */
export function isSignedBy(
  given: readonly string[],
  { algorithm, secret, encoding }: Hmac,
  ...chunks: readonly (string | Uint8Array)[]
): boolean {
  const hmac = createHmac(algorithm, secret);
  for (const chunk of chunks) {
    hmac.update(chunk);
  }
  const expected = Buffer.from(hmac.digest(encoding));
  return given
    .map((signature) => Buffer.from(signature))
    .map((signature) => signature.length === expected.length && timingSafeEqual(signature, expected))
    .includes(true);
}

/** Parses the body of a request; undefined if it is not JSON or not UTF-8. */
export function jsonOfBody(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

export function refused(status: Refused['status'], reason: string): Refused {
  return { kind: 'refused', status, reason };
}
