/** Shared checks of webhook requests: headers, content type, body, and signatures, also as Standard Webhooks defines them. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { parseBounded } from './json.ts';

/** A webhook request as it was received. Header names are in lower case. */
export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Raw bytes, over which signatures are computed. */
  readonly body: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** Returns a header that was sent exactly once and is not empty, otherwise null. `name` is in lower case. */
export function headerOf(headers: WebhookRequest['headers'], name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Reports whether the content type is JSON, with or without parameters such as a charset. */
export function isJson(headers: WebhookRequest['headers']): boolean {
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

/** Parses the body of a request; undefined if it is not JSON within the limits or not UTF-8. */
export function jsonOfBody(body: Uint8Array): unknown {
  try {
    return parseBounded(new TextDecoder('utf-8', { fatal: true }).decode(body), 'the body');
  } catch {
    return undefined;
  }
}

/** Compares two secrets in constant time. Their digests have the same length, so the time does not reveal any length. */
export function isSameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(digest(given), digest(secret));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Maximum difference between the timestamp and the time of receipt, in milliseconds. */
const TOLERANCE = 300_000;

/** Reads a key such as `whsec_…`; null if it is not base64 of at least 16 bytes. */
export function readSigningKey(secret: string): Buffer | null {
  const encoded = secret.trim().replace(/^whsec_/, '');
  return /^[A-Za-z0-9+/]{20,}={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64') : null;
}

/** Reports whether a request has an id, a recent timestamp, and a signature with one of the keys. */
export function hasStandardSignature({ headers, body, receivedAt }: WebhookRequest, keys: readonly Buffer[]): boolean {
  const id = headerOf(headers, 'webhook-id') ?? '';
  const timestamp = headerOf(headers, 'webhook-timestamp') ?? '';
  if (id === '' || !/^\d{1,12}$/.test(timestamp) || Math.abs(receivedAt - Number(timestamp) * 1000) > TOLERANCE) {
    return false;
  }
  const given = (headerOf(headers, 'webhook-signature') ?? '').split(' ').flatMap((one) => {
    const [version, signature = ''] = one.split(',');
    return version === 'v1' ? [signature] : [];
  });
  // Try every key, so that the time does not reveal which one matched.
  return keys
    .map((secret) =>
      isSignedBy(given, { algorithm: 'sha256', secret, encoding: 'base64' }, `${id}.${timestamp}.`, body),
    )
    .includes(true);
}
