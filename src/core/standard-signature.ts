/** Signatures of webhook requests as Standard Webhooks defines them. Source: docs/helpdesk-notes.md#standard-webhooks */
import { headerOf, isSignedBy, type WebhookRequest } from './signature.ts';

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
