/** Reads webhooks of forges as hints that a repository has new commits, and names the fields of the form that creates one. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import {
  hasStandardSignature,
  headerOf,
  isSameSecret,
  isSignedBy,
  jsonOfBody,
  readSigningKey,
  type WebhookRequest,
} from '../core/signature.ts';
import type { ForgeName } from './ci-job.ts';

/** Form of a forge for a new webhook. */
interface HookForm {
  /** Name of the forge. */
  readonly label: string;
  /** Path to the form in the forge's interface. */
  readonly place: string;
  readonly fields: readonly (readonly [label: string, value: string])[];
  /** Permission of a token that creates webhooks. */
  readonly permission: string;
}

/** Webhooks of one forge: the form, and the format. Source: docs/webhooks.md#formats */
interface WebhookDialect {
  /** `isSigningToken`: the secret is a signing token of GitLab. */
  form(url: string, isSigningToken: boolean): HookForm;
  /** Headers with the name of the event; the first that is present counts. */
  readonly eventHeaders: readonly string[];
  /** Headers with the id of the delivery, likewise. */
  readonly idHeaders: readonly string[];
  readonly pushEvents: readonly string[];
  readonly pingEvents: readonly string[];
  /** Names of the same repository (its path, and at GitLab its number), and full names of refs, such as `refs/heads/main`. */
  readonly body: z.ZodType<{ readonly repository: readonly string[]; readonly refs: readonly string[] }>;
  /** Reports whether the sender knows the secret. Takes the same time whichever part is wrong. */
  isGenuine(request: WebhookRequest, secret: string): boolean;
}

const SECRET = 'the value of forge.webhookSecret';

const oneRef = z
  .object({ ref: z.string(), repository: z.object({ full_name: z.string() }) })
  .transform(({ ref, repository }) => ({ repository: [repository.full_name], refs: [ref] }));

const gitlabPush = z
  .object({ ref: z.string(), project: z.object({ id: z.number().int(), path_with_namespace: z.string() }) })
  .transform(({ ref, project }) => ({ repository: [project.path_with_namespace, String(project.id)], refs: [ref] }));

const bitbucketRef = z.object({ type: z.string(), name: z.string() }).transform(({ type, name }) => {
  const folder = type === 'tag' ? 'tags' : 'heads';
  return `refs/${folder}/${name}`;
});
const bitbucketPush = z
  .object({
    repository: z.object({ full_name: z.string() }),
    push: z.object({ changes: z.array(z.object({ new: bitbucketRef.nullish(), old: bitbucketRef.nullish() })) }),
  })
  .transform(({ repository, push }) => ({
    repository: [repository.full_name],
    refs: push.changes.flatMap((change) => change.new ?? change.old ?? []),
  }));

/** Checks hexadecimal HMAC-SHA256 signatures in the given headers. */
function isHexSigned({ headers, body }: WebhookRequest, secret: string, names: readonly string[]): boolean {
  const given = names.map((name) => (headerOf(headers, name) ?? '').replace(/^sha256=/, ''));
  return isSignedBy(given, { algorithm: 'sha256', secret, encoding: 'hex' }, body);
}

/** A secret that starts with `whsec_` is a signing token; another one is sent as it is. */
function isGitLabGenuine(request: WebhookRequest, secret: string): boolean {
  const key = secret.startsWith('whsec_') ? readSigningKey(secret) : null;
  return key === null
    ? isSameSecret(headerOf(request.headers, 'x-gitlab-token') ?? '', secret)
    : hasStandardSignature(request, [key]);
}

const DIALECTS: Readonly<Record<ForgeName, WebhookDialect>> = {
  github: {
    form: (url) => ({
      label: 'GitHub',
      place: 'Settings > Webhooks > Add webhook',
      fields: [
        ['Payload URL', url],
        ['Content type', 'application/json'],
        ['Secret', SECRET],
        ['Events', 'Just the push event'],
      ],
      permission: 'Webhooks: read and write (fine-grained), or admin:repo_hook (classic)',
    }),
    eventHeaders: ['x-github-event'],
    idHeaders: ['x-github-delivery'],
    pushEvents: ['push'],
    pingEvents: ['ping'],
    body: oneRef,
    isGenuine: (request, secret) => isHexSigned(request, secret, ['x-hub-signature-256']),
  },
  gitlab: {
    form: (url, isSigningToken) => ({
      label: 'GitLab',
      place: 'Settings > Webhooks > Add new webhook',
      fields: [
        ['URL', url],
        [isSigningToken ? 'Signing token' : 'Secret token', SECRET],
        ['Trigger', 'Push events and Tag push events'],
      ],
      permission: 'the role Maintainer, with the scope api',
    }),
    eventHeaders: ['x-gitlab-event'],
    // The last one is the same for pushes that follow from each other.
    idHeaders: ['webhook-id', 'idempotency-key', 'x-gitlab-event-uuid'],
    pushEvents: ['Push Hook', 'Tag Push Hook'],
    pingEvents: [],
    body: gitlabPush,
    isGenuine: isGitLabGenuine,
  },
  gitea: {
    form: (url) => ({
      label: 'Gitea or Forgejo',
      place: 'Settings > Webhooks > Add webhook > Gitea or Forgejo',
      fields: [
        ['Target URL', url],
        ['HTTP method', 'POST'],
        ['Content type', 'application/json'],
        ['Secret', SECRET],
        ['Trigger on', 'Push events'],
      ],
      permission: 'write:repository, by an administrator of the repository',
    }),
    eventHeaders: ['x-gitea-event', 'x-forgejo-event'],
    idHeaders: ['x-gitea-delivery', 'x-forgejo-delivery'],
    pushEvents: ['push'],
    pingEvents: [],
    body: oneRef,
    isGenuine: (request, secret) =>
      isHexSigned(request, secret, ['x-gitea-signature', 'x-forgejo-signature', 'x-hub-signature-256']),
  },
  bitbucket: {
    form: (url) => ({
      label: 'Bitbucket',
      place: 'Repository settings > Webhooks > Add webhook',
      fields: [
        ['Title', 'Octavo'],
        ['URL', url],
        ['Secret', SECRET],
        ['Triggers', 'Repository push'],
      ],
      permission: 'Webhooks: read and write (webhook), by an administrator of the repository',
    }),
    eventHeaders: ['x-event-key'],
    idHeaders: ['x-request-uuid'],
    pushEvents: ['repo:push'],
    pingEvents: ['diagnostics:ping'],
    body: bitbucketPush,
    isGenuine: (request, secret) => isHexSigned(request, secret, ['x-hub-signature']),
  },
};

/** Returns the form of a forge. `isSigningToken`: the secret is a signing token of GitLab. */
export function hookForm(forge: ForgeName, url: string, isSigningToken: boolean): HookForm {
  return DIALECTS[forge].form(url, isSigningToken);
}

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
