/** Reads a webhook request of a forge as a hint that the repository has new commits. */
import { createHash } from 'node:crypto';
import { headerOf, jsonOfBody, type WebhookRequest } from '../../core/signature.ts';
import type { ForgeName } from '../pull-request.ts';
import { DIALECTS, type WebhookDialect } from './dialects.ts';

/** The webhook of one repository. */
export interface PushWebhook {
  readonly forge: ForgeName;
  readonly secret: string;
  /** `owner/name`; at GitLab also the project's number. */
  readonly repository: string;
  /** Branch, tag or full ref that is followed. */
  readonly ref: string;
}

/**
 * Result of a request. `push`: the followed ref has moved; `id` tells deliveries apart. Nothing else of a body is used,
 * since only its sender vouches for it.
 */
export type PushResult =
  | { readonly kind: 'push'; readonly id: string }
  | { readonly kind: 'ping' }
  | { readonly kind: 'ignored'; readonly reason: 'event' | 'repository' | 'ref' }
  /** `reason` is returned to the sender, and reveals nothing about the secret. */
  | { readonly kind: 'refused'; readonly status: 400 | 401 | 415; readonly reason: string };

/** Verifies the signature, and compares a push with the followed ref. */
export function readPush({ forge, secret, repository, ref }: PushWebhook, request: WebhookRequest): PushResult {
  const dialect = DIALECTS[forge];
  const { headers } = request;
  if (!dialect.isGenuine(request, secret)) {
    return { kind: 'refused', status: 401, reason: 'the signature is missing, wrong or too old' };
  }
  const event = firstHeader(headers, dialect.eventHeaders) ?? '';
  if (dialect.pingEvents.includes(event)) {
    return { kind: 'ping' };
  }
  if (!dialect.pushEvents.includes(event)) {
    return { kind: 'ignored', reason: 'event' };
  }
  const text = payloadOf(request);
  if (text === null) {
    return { kind: 'refused', status: 415, reason: 'the content type is not application/json' };
  }
  const push = dialect.body.safeParse(jsonOfBody(text));
  if (!push.success) {
    return { kind: 'refused', status: 400, reason: 'the body is not a push event' };
  }
  if (!push.data.repository.some((name) => name.toLowerCase() === repository.toLowerCase())) {
    return { kind: 'ignored', reason: 'repository' };
  }
  const followed = [ref, `refs/heads/${ref}`, `refs/tags/${ref}`];
  return push.data.refs.some((moved) => followed.includes(moved))
    ? { kind: 'push', id: deliveryId(dialect, request) }
    : { kind: 'ignored', reason: 'ref' };
}

/** Returns the JSON of a body, also from a form, which GitHub's settings select by default; null for other types. */
function payloadOf({ headers, body }: WebhookRequest): Uint8Array | null {
  const [type = ''] = (headerOf(headers, 'content-type') ?? '').toLowerCase().split(/\s*;/);
  if (type === 'application/json') {
    return body;
  }
  return type === 'application/x-www-form-urlencoded'
    ? Buffer.from(new URLSearchParams(Buffer.from(body).toString()).get('payload') ?? '')
    : null;
}

/** Returns a short id of a delivery: the digest of the forge's id, or of the body if there is none. */
function deliveryId({ idHeaders }: WebhookDialect, { headers, body }: WebhookRequest): string {
  return createHash('sha256')
    .update(firstHeader(headers, idHeaders) ?? body)
    .digest('base64url')
    .slice(0, 22);
}

function firstHeader(headers: WebhookRequest['headers'], names: readonly string[]): string | null {
  return names.map((name) => headerOf(headers, name)).find((value) => value !== null) ?? null;
}
