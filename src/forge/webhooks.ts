/** Reads webhooks of forges as hints to new commits and to comments that are commands, and names the fields of their forms. */
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

/** Longest comment that can be a command, in characters. */
const MAX_COMMAND = 200;

/**
 * Returns the digits of the checksum in a comment that is the command `octavo approve` and nothing else; empty without
 * digits. Null for every other comment, such as one that quotes the command.
 */
export function readCommand(body: string): string | null {
  const text = body.length > MAX_COMMAND ? '' : body.trim();
  const found = /^octavo approve(?: (?:sha256:)?([0-9a-f]{8,64}))?$/i.exec(text);
  return found === null ? null : (found[1] ?? '').toLowerCase();
}

/** A comment that a webhook has announced, as the forge has sent it. */
export interface AnnouncedComment {
  readonly pull: number;
  readonly comment: number;
  readonly text: string;
}

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
  /** `isSigningToken`: the secret is a signing token of GitLab; `hasComments`: comments are sent, too. */
  form(url: string, isSigningToken: boolean, hasComments: boolean): HookForm;
  /** Headers with the name of the event; the first that is present counts. */
  readonly eventHeaders: readonly string[];
  /** Headers with the id of the delivery, likewise. */
  readonly idHeaders: readonly string[];
  readonly pushEvents: readonly string[];
  readonly pingEvents: readonly string[];
  /** Event and body of a new comment on a pull request; null if Octavo does not support approvals by comment there. */
  readonly comments: { readonly event: string; readonly body: z.ZodType<SentComment> } | null;
  /** Names of the same repository (its path, and at GitLab its number), and full names of refs, such as `refs/heads/main`. */
  readonly body: z.ZodType<{ readonly repository: readonly string[]; readonly refs: readonly string[] }>;
  /** Reports whether the sender knows the secret. Takes the same time whichever part is wrong. */
  isGenuine(request: WebhookRequest, secret: string): boolean;
}

/** A comment in a body; null if it is not a new one on a pull request. */
interface SentComment {
  readonly repository: readonly string[];
  readonly comment: AnnouncedComment | null;
}

const SECRET = 'the value of forge.webhookSecret';

const oneRef = z
  .object({ ref: z.string(), repository: z.object({ full_name: z.string() }) })
  .transform(({ ref, repository }) => ({ repository: [repository.full_name], refs: [ref] }));

const gitlabPush = z
  .object({ ref: z.string(), project: z.object({ id: z.number().int(), path_with_namespace: z.string() }) })
  .transform(({ ref, project }) => ({ repository: [project.path_with_namespace, String(project.id)], refs: [ref] }));

const id = z.number().int().positive();

const githubComment = z
  .object({
    action: z.string(),
    repository: z.object({ full_name: z.string() }),
    issue: z.object({ number: id, pull_request: z.object({}).nullish() }),
    comment: z.object({ id, body: z.string().nullish() }),
  })
  .transform(({ action, repository, issue, comment }) => ({
    repository: [repository.full_name],
    comment:
      action === 'created' && issue.pull_request != null
        ? { pull: issue.number, comment: comment.id, text: comment.body ?? '' }
        : null,
  }));

const gitlabComment = z
  .object({
    project: z.object({ id: z.number().int(), path_with_namespace: z.string() }),
    object_attributes: z.object({ id, note: z.string(), action: z.string().nullish() }),
    merge_request: z.object({ iid: id }).nullish(),
  })
  .transform(({ project, object_attributes, merge_request }) => ({
    repository: [project.path_with_namespace, String(project.id)],
    comment:
      // Older versions send no action; whether the comment was edited is asked anyway.
      (object_attributes.action ?? 'create') === 'create' && merge_request != null
        ? { pull: merge_request.iid, comment: object_attributes.id, text: object_attributes.note }
        : null,
  }));

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
    form: (url, _isSigningToken, hasComments) => ({
      label: 'GitHub',
      place: 'Settings > Webhooks > Add webhook',
      fields: [
        ['Payload URL', url],
        ['Content type', 'application/json'],
        ['Secret', SECRET],
        ['Events', hasComments ? 'Pushes and Issue comments' : 'Just the push event'],
      ],
      permission: 'Webhooks: read and write (fine-grained), or admin:repo_hook (classic)',
    }),
    eventHeaders: ['x-github-event'],
    idHeaders: ['x-github-delivery'],
    pushEvents: ['push'],
    pingEvents: ['ping'],
    comments: { event: 'issue_comment', body: githubComment },
    body: oneRef,
    isGenuine: (request, secret) => isHexSigned(request, secret, ['x-hub-signature-256']),
  },
  gitlab: {
    form: (url, isSigningToken, hasComments) => ({
      label: 'GitLab',
      place: 'Settings > Webhooks > Add new webhook',
      fields: [
        ['URL', url],
        [isSigningToken ? 'Signing token' : 'Secret token', SECRET],
        ['Trigger', `Push events and Tag push events${hasComments ? ', and Comments' : ''}`],
      ],
      permission: 'the role Maintainer, with the scope api',
    }),
    eventHeaders: ['x-gitlab-event'],
    // The last one is the same for pushes that follow from each other.
    idHeaders: ['webhook-id', 'idempotency-key', 'x-gitlab-event-uuid'],
    pushEvents: ['Push Hook', 'Tag Push Hook'],
    pingEvents: [],
    comments: { event: 'Note Hook', body: gitlabComment },
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
    comments: null,
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
    comments: null,
    body: bitbucketPush,
    isGenuine: (request, secret) => isHexSigned(request, secret, ['x-hub-signature']),
  },
};

/** Returns the form of a forge. `isSigningToken`: the secret is a signing token of GitLab; `hasComments`: comments are sent, too. */
export function hookForm(forge: ForgeName, url: string, isSigningToken: boolean, hasComments: boolean): HookForm {
  return DIALECTS[forge].form(url, isSigningToken, hasComments);
}

/** The webhook of one repository. */
export interface PushWebhook {
  readonly forge: ForgeName;
  readonly secret: string;
  /** `owner/name`; at GitLab also the project's number. */
  readonly repository: string;
  /** Branch, tag or full ref that is followed. */
  readonly ref: string;
  /** True: comments approve plans. */
  readonly hasComments: boolean;
}

/**
 * Result of a request. `push`: the followed ref has moved; `comment`: somebody wrote a command; `id` tells deliveries apart.
 * Nothing else of a body is used, since only its sender vouches for it.
 */
export type PushResult =
  | { readonly kind: 'push'; readonly id: string }
  | { readonly kind: 'comment'; readonly id: string; readonly comment: AnnouncedComment }
  | { readonly kind: 'ping' }
  /** `comment`: it is not a command. */
  | { readonly kind: 'ignored'; readonly reason: 'event' | 'repository' | 'ref' | 'comment' }
  /** `reason` is returned to the sender, and reveals nothing about the secret. */
  | { readonly kind: 'refused'; readonly status: 400 | 401 | 415; readonly reason: string };

/** Verifies the signature, and compares a push with the followed ref. */
export function readPush(webhook: PushWebhook, request: WebhookRequest): PushResult {
  const { forge, secret, repository, ref, hasComments } = webhook;
  const dialect = DIALECTS[forge];
  const { headers } = request;
  if (!dialect.isGenuine(request, secret)) {
    return { kind: 'refused', status: 401, reason: 'the signature is missing, wrong or too old' };
  }
  const event = firstHeader(headers, dialect.eventHeaders) ?? '';
  if (dialect.pingEvents.includes(event)) {
    return { kind: 'ping' };
  }
  const comments = hasComments && dialect.comments?.event === event ? dialect.comments : null;
  if (comments === null && !dialect.pushEvents.includes(event)) {
    return { kind: 'ignored', reason: 'event' };
  }
  const text = payloadOf(request);
  if (text === null) {
    return { kind: 'refused', status: 415, reason: 'the content type is not application/json' };
  }
  const isRepository = (names: readonly string[]) =>
    names.some((name) => name.toLowerCase() === repository.toLowerCase());
  if (comments !== null) {
    const { success, data } = comments.body.safeParse(jsonOfBody(text));
    if (!success) {
      return { kind: 'refused', status: 400, reason: 'the body is not an event of a comment' };
    }
    if (!isRepository(data.repository)) {
      return { kind: 'ignored', reason: 'repository' };
    }
    const { comment } = data;
    return comment === null || readCommand(comment.text) === null
      ? { kind: 'ignored', reason: 'comment' }
      : { kind: 'comment', id: deliveryId(dialect, request), comment };
  }
  const push = dialect.body.safeParse(jsonOfBody(text));
  if (!push.success) {
    return { kind: 'refused', status: 400, reason: 'the body is not a push event' };
  }
  if (!isRepository(push.data.repository)) {
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
