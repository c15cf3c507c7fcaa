/** Stateful fakes of the commit statuses and deployments of GitHub, GitLab, Gitea and Bitbucket, on real sockets. */

import type { IncomingMessage } from 'node:http';
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

interface StatusRequestReceived {
  readonly method: string;
  /** Path below the API, with its encoding. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface StatusAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const SHA = '(?:[0-9a-f]{40}|[0-9a-f]{64})';
const OK = (body: unknown): StatusAnswer => ({ status: 201, body });
const INVALID = (why: unknown): StatusAnswer => ({ status: 422, body: { message: 'Validation Failed', errors: why } });

/** Forge with one repository. It shows the statuses that it was sent, and refuses requests that its API would refuse. */
export abstract class FakeStatusForge extends LocalServer {
  static readonly token = 'forge-9d4b11-never-to-be-seen';
  /** Every status that was accepted, oldest first. */
  readonly statuses: ShownStatus[] = [];
  readonly deployments: ShownDeployment[] = [];
  /** Every request received. */
  readonly requests: string[] = [];
  /** Why requests were refused as invalid. */
  readonly problems: unknown[] = [];
  /** Replaces an answer; `lost`: the request takes effect, and its connection breaks. */
  fault: (request: string) => StatusAnswer | 'lost' | 'refused' | null = () => null;
  protected abstract readonly prefix: string;

  constructor() {
    super((request, response) => {
      void this.#serve(request).then((answer) => {
        if (answer === null) {
          request.socket.destroy();
          return;
        }
        response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
        response.end(JSON.stringify(answer.body ?? {}));
      });
    });
  }

  get apiUrl(): string {
    return this.url + this.prefix;
  }

  /** Statuses of a commit, as `state: description`. */
  of(sha: string): readonly string[] {
    return this.statuses.filter((each) => each.sha === sha).map(({ state, description }) => `${state}: ${description}`);
  }

  protected abstract isKnown(headers: IncomingMessage['headers']): boolean;
  protected abstract handle(request: StatusRequestReceived): StatusAnswer;

  protected deploy(sha: string, environment: string, states: string[]): StatusAnswer {
    const deployment = { id: this.deployments.length + 1, sha, environment, states };
    this.deployments.push(deployment);
    return OK({ id: deployment.id, sha, environment });
  }

  protected refuse(answer: StatusAnswer): StatusAnswer {
    this.problems.push(answer.body);
    return answer;
  }

  async #serve(request: IncomingMessage): Promise<StatusAnswer | null> {
    const url = new URL(request.url ?? '/', 'http://forge.example');
    const method = request.method ?? 'GET';
    const path = url.pathname.slice(this.prefix.length);
    this.requests.push(`${method} ${path}`);
    const fault = this.fault(`${method} ${path}`);
    if (fault === 'refused') {
      return null;
    }
    if (fault !== null && fault !== 'lost') {
      return fault;
    }
    if (!this.isKnown(request.headers)) {
      return { status: 401, body: { message: 'Bad credentials' } };
    }
    const text = await textOf(request);
    const answer = this.handle({ method, path, query: url.searchParams, body: text === '' ? {} : JSON.parse(text) });
    return fault === 'lost' ? null : answer;
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

  find({ method, path, query, body }: StatusRequestReceived) {
    const found = this.#operations.find((each) => each.method === method && each.pattern.test(path));
    const unknown = [...query.keys()].filter((key) => !found?.query.includes(key));
    const errors = found?.validate?.(body) === false ? found.validate.errors : unknown.length > 0 ? unknown : null;
    return found === undefined ? null : { name: found.name, parts: found.pattern.exec(path) ?? [], errors };
  }
}

export class FakeGitHubStatuses extends FakeStatusForge {
  protected readonly prefix = '/api/v3';
  readonly #operations = new GitHubOperations();

  protected isKnown({ authorization }: IncomingMessage['headers']): boolean {
    return authorization === `token ${FakeStatusForge.token}`;
  }

  protected handle(request: StatusRequestReceived): StatusAnswer {
    const operation = this.#operations.find(request);
    if (operation === null || operation.parts[1] !== 'acme' || operation.parts[2] !== 'docs') {
      return this.refuse({ status: 404, body: { message: 'Not Found' } });
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
  protected readonly prefix = '/gitlab/api/v4';

  protected isKnown(headers: IncomingMessage['headers']): boolean {
    return headers['private-token'] === FakeStatusForge.token;
  }

  protected handle({ method, path, query, body: json }: StatusRequestReceived): StatusAnswer {
    const [, rest = ''] = /^\/projects\/acme%2Fteam%2Fdocs(\/.*)$/.exec(path) ?? [];
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

  #setStatus(sha: string, body: Readonly<Record<string, unknown>>): StatusAnswer {
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
  protected readonly prefix = '/code/api/v1';

  protected isKnown({ authorization }: IncomingMessage['headers']): boolean {
    return authorization === `Bearer ${FakeStatusForge.token}`;
  }

  protected handle({ method, path, body }: StatusRequestReceived): StatusAnswer {
    const sha = new RegExp(`^/repos/acme/docs/statuses/(${SHA})$`).exec(path)?.[1];
    const { state, context, description, target_url: url = null } = body;
    const isKnown = ['pending', 'success', 'error', 'failure', 'warning'].includes(String(state));
    if (method !== 'POST' || sha === undefined) {
      return this.refuse({ status: 404, body: { message: 'Not Found' } });
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
  protected readonly prefix = '/2.0';

  protected isKnown({ authorization }: IncomingMessage['headers']): boolean {
    return authorization === `Bearer ${FakeStatusForge.token}`;
  }

  protected handle({ method, path, body }: StatusRequestReceived): StatusAnswer {
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
