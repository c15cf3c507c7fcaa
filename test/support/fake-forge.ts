/** Fake APIs of GitHub, GitLab and Gitea for comments and commit statuses. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { LocalServer, textOf } from './local-server.ts';

/** A comment as the fake stores it. */
export interface KeptComment {
  readonly id: number;
  body: string;
  readonly author: number;
}

export interface KeptStatus {
  readonly sha: string;
  readonly state: string;
  readonly context: string;
  readonly description: string;
}

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Asked {
  /** Path without the prefix before the API's own paths. */
  readonly path: string;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

/** User of the fake's token, and the other user who comments. */
const SELF = 41;
export const STRANGER = 7;

/** Differences between the APIs of the forges. */
interface ForgeApi {
  /** Paths of the comments of the pull request, of one comment, and of the statuses of commits. */
  readonly comments: string;
  readonly comment: string;
  readonly statuses: string;
  readonly edit: 'PATCH' | 'PUT';
  /** Field with the name of a status, and the states that exist. */
  readonly name: string;
  readonly states: readonly string[];
}

/**
 * In-process API of a forge, on a real socket: comments and commit statuses of pull request 12 of `acme/docs`. It
 * stores what is written, and rejects unknown requests.
 */
export abstract class FakeForge extends LocalServer {
  static readonly token = 'forge-9d4b11-never-to-be-seen';
  readonly comments: KeptComment[] = [];
  readonly statuses: KeptStatus[] = [];
  /** Permissions of the token. */
  readonly may = { comment: true, status: true, identify: true };
  /** User of the token; a workflow token has no user of its own. */
  self = SELF;
  /** Changes an answer after the request has had its effect; null: unchanged. */
  fault: (request: string) => number | 'dropped' | Answer | null = () => null;
  /** Called before each request is processed, with its method and path. */
  meanwhile: (request: string) => void = () => undefined;
  /** Every request received, such as `GET /user`. */
  readonly requests: string[] = [];
  protected abstract readonly prefix: string;
  protected abstract readonly api: ForgeApi;
  /** Longest comment, and the status with which a longer one is rejected. */
  protected abstract readonly limit: readonly [characters: number, status: number];
  /** Longest link of a status, in characters. */
  protected readonly longestTarget: number = Number.POSITIVE_INFINITY;
  #ids = 100;

  constructor() {
    super((request, response) => void this.#serve(request, response));
  }

  get apiUrl(): string {
    return this.url + this.prefix;
  }

  /** Comments of the token's own user. */
  get own(): readonly KeptComment[] {
    return this.comments.filter(({ author }) => author === this.self);
  }

  /** Adds a comment of another user. */
  comment(author: number, body: string): KeptComment {
    this.#ids += 1;
    const comment = { id: this.#ids, body, author };
    this.comments.push(comment);
    return comment;
  }

  /** Reports whether the request has the token, in the header that this forge expects. */
  protected abstract isKnown(headers: IncomingMessage['headers']): boolean;
  /** A comment as the forge returns it. */
  protected abstract show(comment: KeptComment): object;

  /** Answers what all forges have, under the paths and names of the forge. */
  protected handle(asked: Asked): Answer {
    const { method, path } = asked;
    const { comments, comment, statuses, edit, name, states } = this.api;
    const sha = new RegExp(`^${statuses}/([0-9a-f]{40})$`).exec(path)?.[1];
    const found = new RegExp(`^${comment}/(\\d+)$`).exec(path)?.[1];
    const id = found === undefined ? null : Number(found);
    if (path === comments) {
      return method === 'POST' ? this.#write(asked, null) : this.list(asked);
    }
    if (id !== null && method === edit) {
      return this.#write(asked, id);
    }
    if (id !== null && method === 'DELETE') {
      return this.#remove(id);
    }
    return sha !== undefined && method === 'POST' ? this.#setStatus(sha, asked, name, states) : UNKNOWN;
  }

  protected list({ query }: Asked): Answer {
    const most = Number(query.get('per_page') ?? 20);
    const page = Number(query.get('page') ?? 1);
    const shown = this.comments.slice((page - 1) * most, page * most);
    const next = new URLSearchParams(query);
    next.set('page', String(page + 1));
    const link = `<${this.apiUrl}${this.api.comments}?${next}>; rel="next"`;
    const headers = { link, 'x-next-page': String(page + 1) };
    return { status: 200, body: shown.map(this.show), ...(page * most < this.comments.length ? { headers } : {}) };
  }

  #write({ body }: Asked, id: number | null): Answer {
    const [longest, refusal] = this.limit;
    const text = body.body;
    if (typeof text !== 'string' || text === '' || text.length > longest) {
      return { status: refusal, body: { message: 'body is too long or blank' } };
    }
    if (!this.may.comment) {
      return { status: 403, body: { message: 'Resource not accessible by integration' } };
    }
    const comment = id === null ? this.comment(this.self, text) : this.comments.find((one) => one.id === id);
    if (comment === undefined) {
      return { status: 404, body: { message: 'Not Found' } };
    }
    comment.body = text;
    return { status: id === null ? 201 : 200, body: this.show(comment) };
  }

  #remove(id: number): Answer {
    const at = this.comments.findIndex((one) => one.id === id);
    if (at === -1) {
      return { status: 404, body: { message: 'Not Found' } };
    }
    this.comments.splice(at, 1);
    return { status: 204 };
  }

  #setStatus(sha: string, { body }: Asked, name: string, states: readonly string[]): Answer {
    if (!this.may.status) {
      return { status: 403, body: { message: 'Resource not accessible by integration' } };
    }
    const { state, description, target_url: target = '' } = body;
    const context = body[name];
    if (typeof target !== 'string' || target.length > this.longestTarget) {
      return { status: 400, body: { message: { target_url: ['is too long'] } } };
    }
    const isKnown = typeof state === 'string' && states.includes(state);
    if (!isKnown || typeof context !== 'string' || typeof description !== 'string' || description.length > 140) {
      return { status: 422, body: { message: 'Validation Failed' } };
    }
    this.statuses.push({ sha, state, context, description });
    return { status: 201, body: { id: this.statuses.length } };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const method = request.method ?? 'GET';
    const name = `${method} ${url.pathname}`;
    this.requests.push(name);
    this.meanwhile(name);
    const text = await textOf(request);
    const ordinary = this.#answer(request, {
      method,
      path: url.pathname.startsWith(`${this.prefix}/`) ? url.pathname.slice(this.prefix.length) : url.pathname,
      query: url.searchParams,
      body: text === '' ? {} : JSON.parse(text),
    });
    const fault = this.fault(name);
    if (fault === 'dropped') {
      request.socket.destroy();
      return;
    }
    const answer = typeof fault === 'object' && fault !== null ? fault : ordinary;
    const status = typeof fault === 'number' ? fault : answer.status;
    response.writeHead(status, { ...answer.headers, 'content-type': 'application/json' });
    response.end(status === 204 ? undefined : JSON.stringify(answer.body ?? {}));
  }

  #answer(request: IncomingMessage, asked: Asked): Answer {
    return this.isKnown(request.headers) ? this.handle(asked) : { status: 401, body: { message: 'Unauthorized' } };
  }
}

export const UNKNOWN: Answer = { status: 404, body: { message: 'Not Found' } };

/** Paths and names that GitHub and Gitea share. */
const GITHUB_API = {
  comments: '/repos/acme/docs/issues/12/comments',
  comment: '/repos/acme/docs/issues/comments',
  statuses: '/repos/acme/docs/statuses',
  edit: 'PATCH',
  name: 'context',
  states: ['success', 'failure', 'error', 'pending'],
} as const;

/** GitHub: a workflow token may ask GraphQL for its user, but not the REST API. */
export class FakeGitHubPull extends FakeForge {
  protected readonly prefix: string = '';
  protected readonly limit = [65_536, 422] as const;
  protected readonly api = GITHUB_API;

  protected isKnown({ authorization }: IncomingMessage['headers']): boolean {
    return authorization === `token ${FakeForge.token}`;
  }

  protected show({ id, body, author }: KeptComment) {
    return { id, body, user: { id: author, login: 'somebody' } };
  }

  protected override handle(asked: Asked): Answer {
    if (asked.path !== '/graphql' || asked.method !== 'POST') {
      return super.handle(asked);
    }
    return asked.body.query === '{ viewer { databaseId } }' && this.may.identify
      ? { status: 200, body: { data: { viewer: { databaseId: this.self } } } }
      : { status: 200, body: { errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible' }] } };
  }
}

/** GitHub Enterprise Server: GraphQL is not below the REST API. */
export class FakeGitHubServer extends FakeGitHubPull {
  protected override readonly prefix = '/api/v3';

  protected override handle(asked: Asked): Answer {
    const isGraph = asked.path === '/api/graphql';
    return isGraph || !asked.path.includes('graphql')
      ? super.handle(isGraph ? { ...asked, path: '/graphql' } : asked)
      : UNKNOWN;
  }
}

/** GitLab below a path, like a self-managed installation. */
export class FakeGitLabPull extends FakeForge {
  protected readonly prefix = '/gitlab/api/v4';
  protected readonly limit = [1_000_000, 400] as const;
  protected override readonly longestTarget = 255;
  protected readonly api = {
    comments: '/projects/5/merge_requests/12/notes',
    comment: '/projects/5/merge_requests/12/notes',
    statuses: '/projects/5/statuses',
    edit: 'PUT',
    name: 'name',
    states: ['success', 'failed', 'pending', 'running', 'canceled'],
  } as const;

  protected isKnown(headers: IncomingMessage['headers']): boolean {
    return headers['private-token'] === FakeForge.token;
  }

  protected show({ id, body, author }: KeptComment) {
    return { id, body, author: { id: author }, system: false };
  }

  protected override handle(asked: Asked): Answer {
    return asked.path === '/user' && asked.method === 'GET'
      ? { status: 200, body: { id: this.self } }
      : super.handle(asked);
  }
}

/**
 * Gitea and Forgejo: the list of comments has no pages; neither a workflow token nor one without the scope read:user
 * can ask for its user.
 */
export class FakeGiteaPull extends FakeForge {
  protected readonly prefix: string = '/api/v1';
  protected readonly limit = [Number.POSITIVE_INFINITY, 422] as const;
  protected readonly api = { ...GITHUB_API, states: [...GITHUB_API.states, 'warning'] };

  protected isKnown({ authorization }: IncomingMessage['headers']): boolean {
    return authorization === `Bearer ${FakeForge.token}`;
  }

  protected show({ id, body, author }: KeptComment) {
    return { id, body, user: { id: author } };
  }

  protected override list(): Answer {
    return { status: 200, body: this.comments.map(this.show) };
  }

  protected override handle(asked: Asked): Answer {
    if (asked.path !== '/user' || asked.method !== 'GET') {
      return super.handle(asked);
    }
    return this.self < 0 || !this.may.identify
      ? { status: 403, body: { message: 'user required' } }
      : { status: 200, body: { id: this.self } };
  }
}

/** Gitea below a path, like a self-hosted installation. */
export class FakeGiteaBelow extends FakeGiteaPull {
  protected override readonly prefix = '/code/api/v1';
}
