/** Webhook formats of forges: signature, headers and the body of a push. Source: docs/webhooks.md#formats */
import * as z from 'zod';
import { headerOf, isSameSecret, isSignedBy, type WebhookRequest } from '../../core/signature.ts';
import { hasStandardSignature, readSigningKey } from '../../core/standard-signature.ts';
import type { ForgeName } from '../pull-request.ts';

/** Repository and refs that a push names. */
export interface PushedRefs {
  /** Names of the same repository: its path, and at GitLab its number. */
  readonly repository: readonly string[];
  /** Full names, such as `refs/heads/main`. */
  readonly refs: readonly string[];
}

/** Webhook format of one forge. */
export interface WebhookDialect {
  /** Headers with the name of the event; the first that is present counts. */
  readonly eventHeaders: readonly string[];
  /** Headers with the id of the delivery, likewise. */
  readonly idHeaders: readonly string[];
  readonly pushEvents: readonly string[];
  readonly pingEvents: readonly string[];
  readonly body: z.ZodType<PushedRefs>;
  /** Reports whether the sender knows the secret. Takes the same time whichever part is wrong. */
  isGenuine(request: WebhookRequest, secret: string): boolean;
}

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

export const DIALECTS: Readonly<Record<ForgeName, WebhookDialect>> = {
  github: {
    eventHeaders: ['x-github-event'],
    idHeaders: ['x-github-delivery'],
    pushEvents: ['push'],
    pingEvents: ['ping'],
    body: oneRef,
    isGenuine: (request, secret) => isHexSigned(request, secret, ['x-hub-signature-256']),
  },
  gitlab: {
    eventHeaders: ['x-gitlab-event'],
    // The last one is the same for pushes that follow from each other.
    idHeaders: ['webhook-id', 'idempotency-key', 'x-gitlab-event-uuid'],
    pushEvents: ['Push Hook', 'Tag Push Hook'],
    pingEvents: [],
    body: gitlabPush,
    isGenuine: isGitLabGenuine,
  },
  gitea: {
    eventHeaders: ['x-gitea-event', 'x-forgejo-event'],
    idHeaders: ['x-gitea-delivery', 'x-forgejo-delivery'],
    pushEvents: ['push'],
    pingEvents: [],
    body: oneRef,
    isGenuine: (request, secret) =>
      isHexSigned(request, secret, ['x-gitea-signature', 'x-forgejo-signature', 'x-hub-signature-256']),
  },
  bitbucket: {
    eventHeaders: ['x-event-key'],
    idHeaders: ['x-request-uuid'],
    pushEvents: ['repo:push'],
    pingEvents: ['diagnostics:ping'],
    body: bitbucketPush,
    isGenuine: (request, secret) => isHexSigned(request, secret, ['x-hub-signature']),
  },
};
