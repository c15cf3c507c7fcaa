/** Stateful fakes of the APIs of GitHub, GitLab, Gitea and Bitbucket, on real sockets: commit statuses and deployments. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Ajv, type ValidateFunction } from 'ajv';
import github from './github-openapi.json' with { type: 'json' };
import { LocalServer, textOf } from './local-server.ts';

/** One status as the forge shows it. */
export interface ShownStatus {
  readonly sha: string;
  readonly name: string;
  readonly state: string;
  readonly description: string;
  readonly url: string | null;
}

export interface ShownDeployment {
  readonly id: number;
  readonly sha: string;
  readonly environment: string;
  /** All states that it had, oldest first. */
  readonly states: string[];
}

export interface Asked {
  /** Path below the API, with its encoding. */
  readonly path: string;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Address of an API below its server, and the header with the token. */
export interface FakeAccess {
  readonly prefix: string;
  readonly header: string;
  /** Text before the token. */
  readonly scheme: string;
}

/** API of a forge. It rejects other tokens and unknown requests. */
export abstract class ForgeServer extends LocalServer {
  static readonly token = 'forge-9d4b11-never-to-be-seen';
  /** Every request received, such as `GET /user`. */
  readonly requests: string[] = [];
  /** Replaces an answer; `dropped`: the request takes effect, and its connection breaks. */
  fault: (request: string) => number | 'dropped' | Answer | null = () => null;
  abstract readonly access: FakeAccess;

  constructor() {
    super((request, response) => void this.#serve(request, response));
  }

  get apiUrl(): string {
    return this.url + this.access.prefix;
  }

  abstract handle(asked: Asked): Answer;

  /** A page of a list, with the link to the next one. */
  page(all: readonly object[], { path, query }: Asked, size: number): Answer {
    const at = Number(query.get('page') ?? 1);
    const next = new URLSearchParams(query);
    next.set('page', String(at + 1));
    const headers = { link: `<${this.apiUrl}${path}?${next}>; rel="next"`, 'x-next-page': String(at + 1) };
    const body = all.slice((at - 1) * size, at * size);
    return { status: 200, body, ...(at * size < all.length ? { headers } : {}) };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prefix, header, scheme } = this.access;
    const { pathname, searchParams: query } = new URL(request.url ?? '/', this.url);
    const path = pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : pathname;
    const method = request.method ?? 'GET';
    this.requests.push(`${method} ${path}`);
    const text = await textOf(request);
    const fault = this.fault(`${method} ${path}`);
    const isKnown = String(request.headers[header]).toLowerCase() === `${scheme}${ForgeServer.token}`.toLowerCase();
    const ordinary = (): Answer =>
      isKnown
        ? this.handle({ method, path, query, body: text === '' ? {} : JSON.parse(text) })
        : { status: 401, body: { message: 'Bad credentials' } };
    const replaced = typeof fault === 'number' ? { status: fault } : fault === 'dropped' ? null : fault;
    const { status, body = {}, headers } = replaced ?? ordinary();
    if (fault === 'dropped') {
      request.socket.destroy();
      return;
    }
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(status === 204 ? undefined : JSON.stringify(body));
  }
}

export const UNKNOWN: Answer = { status: 404, body: { message: 'Not Found' } };
const SHA = '(?:[0-9a-f]{40}|[0-9a-f]{64})';
const OK = (body: unknown): Answer => ({ status: 201, body });
const INVALID = (why: unknown): Answer => ({ status: 422, body: { message: 'Validation Failed', errors: why } });

/** Forge with one repository. It shows the statuses that it was sent, and refuses requests that its API would refuse. */
export abstract class FakeStatusForge extends ForgeServer {
  /** Every status that was accepted, oldest first. */
  readonly statuses: ShownStatus[] = [];
  readonly deployments: ShownDeployment[] = [];
  /** Why requests were refused as invalid. */
  readonly problems: unknown[] = [];

  /** Statuses of a commit, as `state: description`. */
  of(sha: string): readonly string[] {
    return this.statuses.filter((each) => each.sha === sha).map(({ state, description }) => `${state}: ${description}`);
  }

  protected deploy(sha: string, environment: string, states: string[]): Answer {
    const deployment = { id: this.deployments.length + 1, sha, environment, states };
    this.deployments.push(deployment);
    return OK({ id: deployment.id, sha, environment });
  }

  protected refuse(answer: Answer): Answer {
    this.problems.push(answer.body);
    return answer;
  }
}

/** Operations of GitHub's OpenAPI document, which validate requests. */
class GitHubOperations {
  readonly #ajv = new Ajv({ strict: false, allErrors: true });
  readonly #operations = Object.entries(github.operations).map(([name, operation]) => {
    const [method = '', template = ''] = name.split(' ');
    const pattern = new RegExp(`^${template.replace(/\{\w+\}/g, '([^/]+)')}$`);
    const body = 'body' in operation ? { ...operation.body, additionalProperties: false } : null;
    const query = operation.parameters.filter((each) => each.in === 'query').map((each) => each.name);
    const validate: ValidateFunction | null = body === null ? null : this.#ajv.compile(body);
    return { name, method, pattern, validate, query };
  });

  find({ method, path, query, body }: Asked) {
    const found = this.#operations.find((each) => each.method === method && each.pattern.test(path));
    const unknown = [...query.keys()].filter((key) => !found?.query.includes(key));
    const errors = found?.validate?.(body) === false ? found.validate.errors : unknown.length > 0 ? unknown : null;
    return found === undefined ? null : { name: found.name, parts: found.pattern.exec(path) ?? [], errors };
  }
}

export class FakeGitHubStatuses extends FakeStatusForge {
  readonly access = { prefix: '/api/v3', header: 'authorization', scheme: 'token ' };
  readonly #operations = new GitHubOperations();

  handle(request: Asked): Answer {
    const operation = this.#operations.find(request);
    if (operation === null || operation.parts[1] !== 'acme' || operation.parts[2] !== 'docs') {
      return this.refuse(UNKNOWN);
    }
    const { body, query } = request;
    const description = String(body.description ?? '');
    if (operation.errors !== null || [...description].length > 140) {
      return this.refuse(INVALID(operation.errors ?? 'description is too long (maximum is 140 characters)'));
    }
    switch (operation.name) {
      case 'POST /repos/{owner}/{repo}/statuses/{sha}': {
        const sha = operation.parts[3] ?? '';
        if (!new RegExp(`^${SHA}$`).test(sha)) {
          return this.refuse(INVALID('No commit found for SHA'));
        }
        const { state, context } = body;
        const url = typeof body.target_url === 'string' ? body.target_url : null;
        this.statuses.push({ sha, name: String(context), state: String(state), description, url });
        return OK({ id: this.statuses.length, state, context });
      }
      case 'POST /repos/{owner}/{repo}/deployments': {
        const isPlain = body.auto_merge === false && JSON.stringify(body.required_contexts) === '[]';
        return isPlain
          ? this.deploy(String(body.ref), String(body.environment), [])
          : { status: 409, body: { message: 'Conflict: Commit status checks failed for main.' } };
      }
      case 'POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses': {
        const deployment = this.deployments.find(({ id }) => id === Number(operation.parts[3]));
        deployment?.states.push(String(body.state));
        return deployment === undefined ? { status: 404 } : OK({ id: deployment.states.length });
      }
      default: {
        const found = this.deployments.filter(
          ({ sha, environment }) => sha === query.get('sha') && environment === query.get('environment'),
        );
        return { status: 200, body: found.toReversed().map(({ id, sha }) => ({ id, sha })) };
      }
    }
  }
}

/** GitLab: a status that is pending or running is changed, and refuses the state that it has; others are replaced. */
export class FakeGitLabStatuses extends FakeStatusForge {
  readonly access = { prefix: '/gitlab/api/v4', header: 'private-token', scheme: '' };

  handle({ method, path, query, body: json }: Asked): Answer {
    const [, rest = ''] = /^\/projects\/(?:5|acme%2Fteam%2Fdocs)(\/.*)$/.exec(path) ?? [];
    const body = { ...Object.fromEntries(query), ...json };
    const sha = new RegExp(`^/statuses/(${SHA})$`).exec(rest)?.[1];
    const deployment = this.deployments.find(({ id }) => rest === `/deployments/${id}`);
    if (method === 'POST' && sha !== undefined) {
      return this.#setStatus(sha, body);
    }
    if (method === 'POST' && rest === '/deployments') {
      const { environment, ref, status } = body;
      const isValid = typeof ref === 'string' && String(body.tag) === 'false' && status === 'running';
      return isValid
        ? this.deploy(String(body.sha), String(environment), [String(status)])
        : this.refuse({ status: 400, body: { message: 'ref is missing' } });
    }
    if (method === 'GET' && rest === '/deployments') {
      return { status: 200, body: this.deployments.toReversed() };
    }
    if (method === 'PUT' && deployment !== undefined) {
      const state = String(body.status);
      if (deployment.states.at(-1) === state) {
        return { status: 400, body: { message: `Cannot transition status via :${state} from :${state}` } };
      }
      deployment.states.push(state);
      return { status: 200, body: { id: deployment.id } };
    }
    return this.refuse({ status: 404, body: { message: '404 Project Not Found' } });
  }

  #setStatus(sha: string, body: Readonly<Record<string, unknown>>): Answer {
    const { state, name, target_url: url = null, description } = body;
    const known = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'];
    const isShort = (text: unknown) => typeof text === 'string' && [...text].length <= 255;
    if (!known.includes(String(state)) || !isShort(name) || !isShort(description) || !(url === null || isShort(url))) {
      return this.refuse({ status: 400, body: { message: 'is invalid' } });
    }
    const last = this.statuses.findLast((each) => each.sha === sha && each.name === name)?.state;
    const isOpen = last === 'pending' || last === 'running';
    if (isOpen && (state === last || state === 'pending')) {
      const event = { pending: 'enqueue', running: 'run' }[String(state)];
      return { status: 400, body: { message: `Cannot transition status via :${event} from :${last}` } };
    }
    this.statuses.push({
      ...{ sha, name: String(name), state: String(state), description: String(description) },
      url: url === null ? null : String(url),
    });
    return OK({ id: this.statuses.length });
  }
}

/** Gitea and Forgejo. */
export class FakeGiteaStatuses extends FakeStatusForge {
  readonly access = { prefix: '/code/api/v1', header: 'authorization', scheme: 'Bearer ' };

  handle({ method, path, body }: Asked): Answer {
    const sha = new RegExp(`^/repos/acme/docs/statuses/(${SHA})$`).exec(path)?.[1];
    const { state, context, description, target_url: url = null } = body;
    const isKnown = ['pending', 'success', 'error', 'failure', 'warning'].includes(String(state));
    if (method !== 'POST' || sha === undefined) {
      return this.refuse(UNKNOWN);
    }
    if (!isKnown || typeof context !== 'string' || typeof description !== 'string') {
      return this.refuse(INVALID('invalid status'));
    }
    this.statuses.push({
      sha,
      name: context,
      state: String(state),
      description,
      url: url === null ? null : String(url),
    });
    return OK({ id: this.statuses.length });
  }
}

/** Bitbucket Cloud: a status with the key of an earlier one replaces it. */
export class FakeBitbucketStatuses extends FakeStatusForge {
  readonly access = { prefix: '/2.0', header: 'authorization', scheme: 'Bearer ' };

  handle({ method, path, body }: Asked): Answer {
    const sha = new RegExp(`^/repositories/acme/docs/commit/(${SHA})/statuses/build$`).exec(path)?.[1];
    const { key, state, name, description, url } = body;
    if (method !== 'POST' || sha === undefined) {
      return this.refuse({ status: 404, body: { type: 'error' } });
    }
    const isKnown = ['INPROGRESS', 'SUCCESSFUL', 'FAILED', 'STOPPED'].includes(String(state));
    const isValid =
      typeof key === 'string' && key !== '' && key.length <= 40 && typeof url === 'string' && URL.canParse(url);
    if (!isKnown || !isValid || [...String(description)].length > 255) {
      return this.refuse({ status: 400, body: { type: 'error', error: { message: 'Bad request' } } });
    }
    this.statuses.push({ sha, name: String(name), state: String(state), description: String(description), url });
    return OK({ key });
  }
}
