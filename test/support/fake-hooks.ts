/** Fake APIs of forges for the webhooks of the repository `acme/docs`, written from the documentation of the forges. */

import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { LocalServer, textOf } from './local-server.ts';

export type HookForge = 'github' | 'gitlab' | 'gitea' | 'bitbucket';

/** A webhook as the fake stores it. */
export interface KeptHook {
  readonly id: number;
  url: string;
  secret: string;
  events: readonly string[];
}

interface Api {
  readonly path: string;
  /** Schema of a webhook to create or update. */
  readonly hook: z.ZodType<Omit<KeptHook, 'id'>>;
  readonly update: 'PATCH' | 'PUT';
  readonly show: (hook: KeptHook) => object;
  readonly authorization: readonly [header: string, prefix: string];
  /** Wraps a page of a list. */
  readonly list?: (page: readonly object[], isLast: boolean) => unknown;
}

const config = z.strictObject({
  url: z.url(),
  content_type: z.literal('json'),
  secret: z.string(),
  insecure_ssl: z.literal('0').optional(),
});
const giteaConfig = z
  .object({ active: z.literal(true), events: z.array(z.string()), config, name: z.literal('web').optional() })
  .transform(({ events, config: { url, secret } }) => ({ url, secret, events }));
const masked = ({ id, url, events }: KeptHook) => ({ id, events, active: true, config: { url, content_type: 'json' } });

const APIS: Readonly<Record<HookForge, Api>> = {
  github: {
    path: '/repos/acme/docs/hooks',
    hook: giteaConfig,
    update: 'PATCH',
    show: masked,
    authorization: ['authorization', 'token '],
  },
  gitlab: {
    path: '/api/v4/projects/acme%2Fdocs/hooks',
    hook: z
      .object({
        url: z.url(),
        push_events: z.literal(true),
        tag_push_events: z.literal(true),
        enable_ssl_verification: z.literal(true),
        token: z.string().optional(),
        signing_token: z.string().startsWith('whsec_').optional(),
      })
      .transform(({ url, token, signing_token: key }) => ({
        url,
        secret: token ?? key ?? '',
        events: [key === undefined ? 'with a token' : 'with a signature'],
      })),
    update: 'PUT',
    show: ({ id, url }) => ({ id, url, push_events: true }),
    authorization: ['private-token', ''],
  },
  gitea: {
    path: '/api/v1/repos/acme/docs/hooks',
    hook: giteaConfig,
    update: 'PATCH',
    show: masked,
    authorization: ['authorization', 'bearer '],
  },
  bitbucket: {
    path: '/repositories/acme/docs/hooks',
    hook: z
      .strictObject({
        description: z.string(),
        url: z.url(),
        active: z.literal(true),
        events: z.array(z.literal('repo:push')),
        secret: z.string(),
      })
      .transform(({ url, events, secret }) => ({ url, events, secret })),
    update: 'PUT',
    show: ({ id, url, events }) => ({ uuid: `{${id}}`, url, events, secret_set: true }),
    authorization: ['authorization', 'Bearer '],
    list: (values, isLast) => ({ values, ...(isLast ? {} : { next: 'https://bitbucket.example/next' }) }),
  },
};

/** Number of webhooks on a page, whatever the client asks for. */
const PAGE = 2;

/** API of a forge on a real socket. It stores webhooks, never shows their secrets, and rejects what is not documented. */
export class FakeHooks extends LocalServer {
  static readonly token = 'forge-token-never-to-be-seen';
  readonly hooks: KeptHook[] = [];
  readonly requests: string[] = [];
  /** Status instead of the answer, after the request has had its effect. */
  fault: (method: string) => number | 'dropped' | null = () => null;
  readonly #api: Api;

  constructor(forge: HookForge) {
    super((request, response) => {
      void this.#handle(request).then(([status, body, headers]) => {
        const fault = this.fault(request.method ?? '');
        if (fault === 'dropped') {
          request.socket.destroy();
          return;
        }
        response.writeHead(fault ?? status, { 'content-type': 'application/json', ...headers });
        response.end(JSON.stringify(fault === null ? body : {}));
      });
    });
    this.#api = APIS[forge];
  }

  get apiUrl(): string {
    return `${this.url}${this.#api.path.replace(/\/(?:repos|projects|repositories)\/.*/, '')}`;
  }

  async #handle(request: IncomingMessage): Promise<readonly [number, unknown, Record<string, string>?]> {
    const { path, hook, update, authorization } = this.#api;
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://forge');
    this.requests.push(`${request.method} ${pathname.slice(path.length) || '/'}`);
    const [header, prefix] = authorization;
    if (String(request.headers[header]).toLowerCase() !== `${prefix}${FakeHooks.token}`.toLowerCase()) {
      return [401, {}];
    }
    if (request.method === 'GET' && pathname === path) {
      return this.#list(Number(searchParams.get('page') ?? 1));
    }
    const parsed = hook.safeParse(JSON.parse((await textOf(request)) || 'null'));
    if (!parsed.success) {
      return [422, { message: parsed.error.message }];
    }
    if (request.method === 'POST' && pathname === path) {
      const created = { id: this.hooks.length + 1, ...parsed.data };
      this.hooks.push(created);
      return [201, this.#api.show(created)];
    }
    const id = /^\/(?:%7B)?(\d+)(?:%7D)?$/.exec(pathname.slice(path.length))?.[1];
    const known = this.hooks.find((each) => String(each.id) === id);
    if (request.method !== update || known === undefined) {
      return [404, {}];
    }
    Object.assign(known, parsed.data);
    return [200, this.#api.show(known)];
  }

  #list(page: number): readonly [number, unknown, Record<string, string>?] {
    const shown = this.hooks.slice((page - 1) * PAGE, page * PAGE).map(this.#api.show);
    const isLast = page * PAGE >= this.hooks.length;
    const next = `${this.apiUrl}${this.#api.path.slice(this.#api.path.search(/\/(?:repos|projects)\//))}?page=${page + 1}`;
    const headers: Record<string, string> = isLast
      ? {}
      : { link: `<${next}>; rel="next"`, 'x-next-page': String(page + 1) };
    return [200, this.#api.list?.(shown, isLast) ?? shown, headers];
  }
}
