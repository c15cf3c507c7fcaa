import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Delivery, Heard } from '../model/source.ts';

type Refused = Extract<Heard, { readonly kind: 'refused' }>;

/** A header that was sent once and is not empty; null otherwise. `name` is in lower case. */
export function headerOf(headers: Delivery['headers'], name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Whether the body is said to be JSON; parameters such as a charset may follow. */
export function isJson(headers: Delivery['headers']): boolean {
  return /^application\/json\s*(?:;|$)/i.test(headerOf(headers, 'content-type') ?? '');
}

/** Whether `given` is the HMAC of the chunks, in an encoding that has one spelling. Takes equally long either way. */
export function isSignedBy(
  given: string,
  { algorithm, secret, encoding }: { algorithm: 'sha1' | 'sha256'; secret: string; encoding: 'hex' | 'base64' },
  ...chunks: readonly (string | Uint8Array)[]
): boolean {
  const hmac = createHmac(algorithm, secret);
  for (const chunk of chunks) {
    hmac.update(chunk);
  }
  const expected = Buffer.from(hmac.digest(encoding));
  const actual = Buffer.from(given);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** The JSON of a request whose signature is good; undefined where it is none, or no UTF-8. */
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
