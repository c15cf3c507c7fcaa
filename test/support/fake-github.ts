/** Fake API of GitHub issues. */
import { createHash, type KeyObject, verify } from 'node:crypto';
import type { VirtualClock } from '../queue/virtual-clock.ts';
import { FakeProvider, onlyParameters, type ProviderReply, Refusal, type SeenRequest } from './fake-provider.ts';

export interface FakeGithubUser {
  readonly login: string;
  readonly type: 'User' | 'Bot' | 'Organization';
}

function newComment(id: number, login: string | null, body: string | null, now: string) {
  return {
    id,
    node_id: `IC_kwDO${id}`,
    body,
    user: userOf(login),
    author_association: 'NONE',
    created_at: now,
    minimized: undefined as unknown,
  };
}
export type FakeComment = ReturnType<typeof newComment>;

function newIssue(id: number, number: number, login: string | null, body: string | null, now: string) {
  return {
    id,
    node_id: `I_kwDO${id}`,
    number,
    title: 'It breaks',
    body,
    state: 'open' as 'open' | 'closed',
    state_reason: null as string | null,
    created_at: now,
    updated_at: now,
    closed_at: null as string | null,
    user: userOf(login),
    author_association: 'NONE',
    isPullRequest: false,
    comments: [] as FakeComment[],
    /** Comments that are counted but not returned. */
    withheld: 0,
  };
}
export type FakeIssue = ReturnType<typeof newIssue>;

function userOf(login: string | null): FakeGithubUser | null {
  return login === null ? null : { login, type: 'User' };
}

export interface FakeRepository {
  readonly id: number;
  name: string;
  readonly formerNames: string[];
  readonly issues: FakeIssue[];
  /** Numbers of deleted issues. */
  readonly deleted: Set<number>;
  /** Numbers of transferred issues, with their new address. */
  readonly transferred: Map<number, string>;
}

export interface FakeGithubOptions {
  readonly clock: VirtualClock;
  /** Calls per hour. */
  readonly limit?: number;
  /** Status for an exhausted limit; GitHub uses both. */
  readonly refusal?: 403 | 429;
  readonly page?: number;
  readonly app?: { readonly id: number; readonly installation: number; readonly publicKey: KeyObject };
  /** Milliseconds by which GitHub's clock is behind when it checks the times of claims. */
  readonly behind?: number;
  /** Path before every other, as a self-hosted installation has it. */
  readonly prefix?: string;
}

const PAGES = { per_page: /^(?:[1-9]\d?|100)$/, page: /^[1-9]\d*$/ };
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const ISSUES = {
  ...PAGES,
  state: /^(?:open|closed|all)$/,
  sort: /^(?:created|updated|comments)$/,
  direction: /^(?:asc|desc)$/,
  since: TIME,
};
const HOUR = 3_600_000;

/**
 * GitHub's REST API for reading issues: links use the repository's number, and pull requests are listed among the
 * issues.
 */
export class FakeGithub extends FakeProvider {
  static readonly token = 'ghp_aTokenThatNobodyMaySee';
  readonly repositories: FakeRepository[] = [];
  /** Installation tokens, with their expiry. */
  readonly tokens = new Map<string, number>();
  /** A limit that no header announces; null: not exhausted. */
  secondary: (request: SeenRequest) => { readonly status: 403 | 429; readonly retryAfter?: number } | null = () => null;
  /** True if the token may read issues. */
  isForbidden = false;
  readonly #options: FakeGithubOptions;
  #ids = 1000;

  constructor(options: FakeGithubOptions) {
    super(options.clock);
    this.#options = options;
  }

  override get baseUrl(): string {
    return this.url + (this.#options.prefix ?? '');
  }

  addRepository(name: string): FakeRepository {
    this.#ids += 1;
    const repository = {
      id: this.#ids,
      name,
      formerNames: [],
      issues: [],
      deleted: new Set<number>(),
      transferred: new Map(),
    };
    this.repositories.push(repository);
    return repository;
  }

  rename(repository: FakeRepository, name: string): void {
    repository.formerNames.push(repository.name);
    repository.name = name;
  }

  addIssue(
    repository: FakeRepository,
    login: string | null,
    body: string | null,
    more: Partial<FakeIssue> = {},
  ): FakeIssue {
    this.#ids += 1;
    const number = repository.issues.length + repository.deleted.size + repository.transferred.size + 1;
    const issue = { ...newIssue(this.#ids, number, login, body, this.time), ...more };
    repository.issues.push(issue);
    return issue;
  }

  comment(issue: FakeIssue, login: string | null, body: string | null, more: Partial<FakeComment> = {}): FakeComment {
    this.#ids += 1;
    const comment = { ...newComment(this.#ids, login, body, this.time), ...more };
    issue.comments.push(comment);
    this.touch(issue);
    return comment;
  }

  uncomment(issue: FakeIssue): void {
    issue.comments.pop();
    this.touch(issue);
  }

  close(issue: FakeIssue, reason = 'completed'): void {
    issue.state = 'closed';
    issue.state_reason = reason;
    this.touch(issue);
    issue.closed_at = issue.updated_at;
  }

  reopen(issue: FakeIssue): void {
    issue.state = 'open';
    issue.state_reason = 'reopened';
    issue.closed_at = null;
    this.touch(issue);
  }

  touch(issue: FakeIssue): void {
    issue.updated_at = this.time;
  }

  remove(repository: FakeRepository, issue: FakeIssue): void {
    repository.issues.splice(repository.issues.indexOf(issue), 1);
    repository.deleted.add(issue.number);
  }

  transfer(from: FakeRepository, issue: FakeIssue, to: FakeRepository): FakeIssue {
    from.issues.splice(from.issues.indexOf(issue), 1);
    const moved = this.addIssue(to, issue.user?.login ?? null, issue.body, {
      state: issue.state,
      comments: issue.comments,
    });
    from.transferred.set(issue.number, `/repositories/${to.id}/issues/${moved.number}`);
    return moved;
  }

  /** Uses up the remaining calls, as another client with the same token. */
  useUp(): void {
    const limit = this.#options.limit ?? 5000;
    while (this.use('core', limit, HOUR).remaining > 0) {
      // One call after another.
    }
  }

  protected admit(request: SeenRequest): ProviderReply {
    if (request.headers['user-agent'] === undefined) {
      return { status: 403, body: { message: 'Request forbidden by administrative rules.' } };
    }
    const isAboutApp = this.#pathOf(request).startsWith('/app/');
    if (!(isAboutApp ? this.#isClaim(request) : this.#isToken(request))) {
      return { status: 401, body: { message: 'Bad credentials' } };
    }
    const secondary = this.secondary(request);
    if (secondary !== null) {
      const { status, retryAfter } = secondary;
      const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
      const headers = {
        'x-ratelimit-limit': '5000',
        'x-ratelimit-remaining': '4000',
        'x-ratelimit-reset': String(this.seconds + 1800),
      };
      return {
        status,
        headers: retryAfter === undefined ? headers : { ...headers, 'retry-after': String(retryAfter) },
        body: {
          message,
          documentation_url: 'https://docs.example/rest/using-the-rest-api/rate-limits-for-the-rest-api',
        },
      };
    }
    return this.#count(request);
  }

  /** Responses 304 do not count against the limit. */
  #count(request: SeenRequest): ProviderReply {
    if (request.headers['if-none-match'] !== undefined && this.replyTo(request).status === 304) {
      return { status: 200 };
    }
    const limit = this.#options.limit ?? 5000;
    const { accepted, remaining, resetsAt } = this.use('core', limit, HOUR);
    const headers = {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(accepted ? remaining : 0),
      'x-ratelimit-used': String(limit - remaining),
      'x-ratelimit-reset': String(resetsAt),
      'x-ratelimit-resource': 'core',
    };
    return accepted
      ? { status: 200, headers }
      : { status: this.#options.refusal ?? 403, headers, body: { message: 'API rate limit exceeded for user ID 1.' } };
  }

  protected handle(request: SeenRequest): ProviderReply {
    const path = this.#pathOf(request);
    const installation = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(path)?.[1];
    if (installation !== undefined && request.method === 'POST') {
      return this.#newToken(Number(installation));
    }
    if (request.method !== 'GET') {
      throw new Refusal(404, { message: 'Not Found' });
    }
    if (this.isForbidden) {
      throw new Refusal(403, { message: 'Resource not accessible by personal access token' });
    }
    const [, owner, number, rest = ''] =
      /^\/(repos\/[^/]+\/[^/]+|repositories\/\d+)\/issues(?:\/(\d+))?(\/comments)?$/.exec(path) ?? [];
    const { repository, isFormer } = this.#repository(owner ?? '');
    if (isFormer) {
      const location = this.baseUrl + path.replace(`/${owner}/`, `/repositories/${repository.id}/`);
      return {
        status: 301,
        headers: { location: `${location}?${request.query}` },
        body: { message: 'Moved Permanently' },
      };
    }
    if (number === undefined) {
      return this.#issues(request, repository);
    }
    return this.#ofIssue(request, repository, Number(number), rest !== '');
  }

  #pathOf({ path }: SeenRequest): string {
    const prefix = this.#options.prefix ?? '';
    return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : '/nowhere';
  }

  #repository(owner: string) {
    const name = owner.replace(/^repos\//, '').toLowerCase();
    const id = owner.startsWith('repositories/') ? Number(owner.slice(13)) : null;
    const is = (one: string) => one.toLowerCase() === name;
    const repository = this.repositories.find((one) => one.id === id || is(one.name) || one.formerNames.some(is));
    if (repository === undefined) {
      throw new Refusal(404, { message: 'Not Found' });
    }
    return { repository, isFormer: id === null && !is(repository.name) };
  }

  #issues(request: SeenRequest, repository: FakeRepository): ProviderReply {
    const { query } = request;
    onlyParameters(query, ISSUES);
    const state = query.get('state') ?? 'open';
    const since = Date.parse(query.get('since') ?? '1970-01-01T00:00:00Z');
    const by = query.get('sort') === 'updated' ? 'updated_at' : 'created_at';
    const sign = query.get('direction') === 'asc' ? 1 : -1;
    const shown = repository.issues
      .filter((one) => (state === 'all' || one.state === state) && Date.parse(one.updated_at) >= since)
      .sort((a, b) => sign * (Date.parse(a[by]) - Date.parse(b[by]) || a.number - b.number));
    return this.#paged(
      request,
      `/repositories/${repository.id}/issues`,
      shown.map((one) => this.#view(repository, one)),
    );
  }

  #ofIssue(request: SeenRequest, repository: FakeRepository, number: number, comments: boolean): ProviderReply {
    const elsewhere = repository.transferred.get(number);
    if (elsewhere !== undefined) {
      const location = `${this.baseUrl}${elsewhere}${comments ? '/comments' : ''}`;
      return {
        status: 301,
        headers: { location: `${location}?${request.query}` },
        body: { message: 'Moved Permanently' },
      };
    }
    const issue = repository.issues.find((one) => one.number === number);
    if (issue === undefined) {
      throw new Refusal(repository.deleted.has(number) ? 410 : 404, { message: 'Not Found' });
    }
    if (!comments) {
      onlyParameters(request.query, {});
      return { status: 200, body: this.#view(repository, issue) };
    }
    onlyParameters(request.query, { ...PAGES, since: TIME });
    return this.#paged(request, `/repositories/${repository.id}/issues/${number}/comments`, issue.comments);
  }

  #view(repository: FakeRepository, issue: FakeIssue): object {
    const { isPullRequest, comments, withheld, ...shown } = issue;
    return {
      ...shown,
      comments: comments.length + withheld,
      labels: [{ name: 'bug' }, { name: 'api' }],
      html_url: `https://github.example/${repository.name}/issues/${issue.number}`,
      ...(isPullRequest
        ? { pull_request: { url: `${this.baseUrl}/repositories/${repository.id}/pulls/${issue.number}` } }
        : {}),
    };
  }

  #paged({ query, headers }: SeenRequest, path: string, all: readonly object[]): ProviderReply {
    const size = Math.min(Number(query.get('per_page') ?? 30), this.#options.page ?? 100);
    const page = Number(query.get('page') ?? 1);
    const last = Math.max(1, Math.ceil(all.length / size));
    const body = all.slice((page - 1) * size, page * size);
    const etag = `W/"${createHash('sha256')
      .update(JSON.stringify([body, last]))
      .digest('hex')}"`;
    const link = (to: number, rel: string) => {
      const parameters = new URLSearchParams(query);
      parameters.set('page', String(to));
      return `<${this.baseUrl}${path}?${parameters}>; rel="${rel}"`;
    };
    const links = [
      ...(page > 1 ? [link(page - 1, 'prev')] : []),
      ...(page < last ? [link(page + 1, 'next'), link(last, 'last')] : []),
      ...(page > 1 ? [link(1, 'first')] : []),
    ];
    const responseHeaders = { etag, ...(links.length === 0 ? {} : { link: links.join(', ') }) };
    return headers['if-none-match'] === etag
      ? { status: 304, headers: responseHeaders }
      : { status: 200, headers: responseHeaders, body };
  }

  #newToken(installation: number): ProviderReply {
    if (installation !== this.#options.app?.installation) {
      throw new Refusal(404, { message: 'Not Found' });
    }
    this.#ids += 1;
    const token = `ghs_${this.#ids}`;
    const expires = this.clock.now() + HOUR;
    this.tokens.set(token, expires);
    return { status: 201, body: { token, expires_at: `${new Date(expires).toISOString().slice(0, 19)}Z` } };
  }

  #isToken({ headers: { authorization = '' } }: SeenRequest): boolean {
    const token = /^(?:Bearer|token) (.+)$/.exec(authorization)?.[1] ?? '';
    return this.#options.app === undefined
      ? token === FakeGithub.token
      : (this.tokens.get(token) ?? 0) > this.clock.now();
  }

  #isClaim({ headers: { authorization = '' } }: SeenRequest): boolean {
    const { app, behind = 0 } = this.#options;
    const [head = '', claims = '', signature = ''] = authorization.replace(/^Bearer /, '').split('.');
    if (app === undefined || signature === '') {
      return false;
    }
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    const { iss, iat, exp } = read(claims);
    const now = (this.clock.now() - behind) / 1000;
    const isSigned = verify(
      'RSA-SHA256',
      Buffer.from(`${head}.${claims}`),
      app.publicKey,
      Buffer.from(signature, 'base64url'),
    );
    return (
      read(head).alg === 'RS256' && isSigned && Number(iss) === app.id && iat <= now && exp > now && exp <= now + 600
    );
  }
}
