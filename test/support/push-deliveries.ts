/** Webhook requests for a push, as each forge sends them; written from the documentation of the forges. */
import { createHmac, randomUUID } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';

export interface PushOptions {
  readonly secret: string;
  /** Full name of the ref. */
  readonly ref?: string;
  readonly repository?: string;
  readonly event?: string;
  readonly id?: string;
  /** Time of the signature, in milliseconds since the epoch. */
  readonly at?: number;
}

export interface PushDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const hex = (secret: string, body: Buffer | string) => createHmac('sha256', secret).update(body).digest('hex');
const bytes = (body: object) => Buffer.from(JSON.stringify(body, null, 2));
const commit = '6113728f27ae82c7b1a177c8d03f9e96e0adf246';

function github({ secret, ref = 'refs/heads/main', repository = 'acme/docs', event = 'push', id }: PushOptions) {
  const body = bytes({
    ref,
    before: commit,
    after: commit,
    repository: { id: 1, full_name: repository, clone_url: 'https://evil.example/x' },
    pusher: { name: 'ana' },
  });
  const headers = {
    ...JSON_TYPE,
    'x-github-event': event,
    'x-github-delivery': id ?? randomUUID(),
    'x-hub-signature-256': `sha256=${hex(secret, body)}`,
  };
  return { headers, body };
}

function gitlabBody({ ref = 'refs/heads/main', repository = 'acme/docs' }: PushOptions) {
  return bytes({
    object_kind: 'push',
    ref,
    checkout_sha: commit,
    project: { id: 15, path_with_namespace: repository },
  });
}

function gitlab(options: PushOptions) {
  const headers = {
    ...JSON_TYPE,
    'x-gitlab-event': options.event ?? 'Push Hook',
    'x-gitlab-event-uuid': options.id ?? randomUUID(),
    'x-gitlab-token': options.secret,
  };
  return { headers, body: gitlabBody(options) };
}

/** GitLab with a signing token. */
export function gitlabSigned(options: PushOptions): PushDelivery {
  const { secret, at = Date.now(), id = randomUUID() } = options;
  const body = gitlabBody(options);
  const headers = {
    ...JSON_TYPE,
    'x-gitlab-event': options.event ?? 'Push Hook',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Signer(secret).sign(id, new Date(at), body.toString()),
  };
  return { headers, body };
}

function gitea(options: PushOptions) {
  const { headers, body } = github(options);
  return {
    headers: {
      ...JSON_TYPE,
      'x-gitea-event': headers['x-github-event'],
      'x-gitea-delivery': headers['x-github-delivery'],
      'x-gitea-signature': hex(options.secret, body),
    },
    body,
  };
}

function bitbucket({
  secret,
  ref = 'refs/heads/main',
  repository = 'acme/docs',
  event = 'repo:push',
  id,
}: PushOptions) {
  const [, folder, name] = /^refs\/(heads|tags)\/(.*)$/.exec(ref) ?? [];
  const moved = { type: folder === 'tags' ? 'tag' : 'branch', name, target: { hash: commit } };
  const body = bytes({ repository: { full_name: repository }, push: { changes: [{ old: null, new: moved }] } });
  const headers = {
    ...JSON_TYPE,
    'x-event-key': event,
    'x-request-uuid': id ?? randomUUID(),
    'x-hub-signature': `sha256=${hex(secret, body)}`,
  };
  return { headers, body };
}

/** A comment on pull request 12. */
export interface CommentOptions extends Omit<PushOptions, 'ref' | 'at'> {
  readonly comment: number;
  readonly text: string;
  /** As the forge names it: `created`, `edited` or `deleted`; `create` or `update`. */
  readonly action?: string;
  /** False: on an issue. */
  readonly isPull?: boolean;
}

/** Creates a signed delivery of a comment. */
export const COMMENTS = {
  github({ secret, repository = 'acme/docs', id, comment, text, ...options }: CommentOptions): PushDelivery {
    const { action = 'created', isPull = true, event = 'issue_comment' } = options;
    const body = bytes({
      action,
      repository: { full_name: repository },
      issue: { number: 12, ...(isPull ? { pull_request: { url: 'https://evil.example/x' } } : {}) },
      comment: { id: comment, body: text, user: { login: 'boss' }, author_association: 'OWNER' },
    });
    const headers = {
      ...JSON_TYPE,
      'x-github-event': event,
      'x-github-delivery': id ?? randomUUID(),
      'x-hub-signature-256': `sha256=${hex(secret, body)}`,
    };
    return { headers, body };
  },
  gitlab({ secret, repository = 'acme/docs', id, comment, text, ...options }: CommentOptions): PushDelivery {
    const { action = 'create', isPull = true, event = 'Note Hook' } = options;
    const body = bytes({
      object_kind: 'note',
      project: { id: repository === 'acme/docs' ? 5 : 6, path_with_namespace: repository },
      object_attributes: { id: comment, note: text, action },
      ...(isPull ? { merge_request: { iid: 12 } } : {}),
    });
    const headers = {
      ...JSON_TYPE,
      'x-gitlab-event': event,
      'x-gitlab-event-uuid': id ?? randomUUID(),
      'x-gitlab-token': secret,
    };
    return { headers, body };
  },
} as const;

/** Creates a signed delivery of each forge. */
export const PUSHES = { github, gitlab, gitea, bitbucket } as const satisfies Record<
  string,
  (options: PushOptions) => PushDelivery
>;
