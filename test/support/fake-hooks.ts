/** Fake APIs of forges for the webhooks of the repository `acme/docs`, written from the documentation of the forges. */

import * as z from 'zod';
import { type Answer, type Asked, type FakeAccess, ForgeServer } from './fake-status-forge.ts';

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
  readonly access: FakeAccess;
  /** Wraps a page of a list. */
  readonly list?: (page: unknown, isLast: boolean) => unknown;
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
    access: { prefix: '', header: 'authorization', scheme: 'token ' },
  },
  gitlab: {
    path: '/projects/acme%2Fdocs/hooks',
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
    access: { prefix: '/api/v4', header: 'private-token', scheme: '' },
  },
  gitea: {
    path: '/repos/acme/docs/hooks',
    hook: giteaConfig,
    update: 'PATCH',
    show: masked,
    access: { prefix: '/api/v1', header: 'authorization', scheme: 'bearer ' },
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
    access: { prefix: '', header: 'authorization', scheme: 'Bearer ' },
    list: (values, isLast) => ({ values, ...(isLast ? {} : { next: 'https://bitbucket.example/next' }) }),
  },
};

/** Number of webhooks on a page, whatever the client asks for. */
const PAGE = 2;

/** API of a forge. It stores webhooks, never shows their secrets, and rejects what is not documented. */
export class FakeHooks extends ForgeServer {
  readonly hooks: KeptHook[] = [];
  readonly #api: Api;

  constructor(forge: HookForge) {
    super();
    this.#api = APIS[forge];
  }

  get access(): FakeAccess {
    return this.#api.access;
  }

  handle(asked: Asked): Answer {
    const { path, hook, update, show, list } = this.#api;
    const { method } = asked;
    if (method === 'GET' && asked.path === path) {
      const page = this.page(this.hooks.map(show), asked, PAGE);
      return { ...page, body: list?.(page.body, page.headers === undefined) ?? page.body };
    }
    const parsed = hook.safeParse(asked.body);
    if (!parsed.success) {
      return { status: 422, body: { message: parsed.error.message } };
    }
    if (method === 'POST' && asked.path === path) {
      const created = { id: this.hooks.length + 1, ...parsed.data };
      this.hooks.push(created);
      return { status: 201, body: show(created) };
    }
    const id = /^\/(?:%7B)?(\d+)(?:%7D)?$/.exec(asked.path.slice(path.length))?.[1];
    const known = this.hooks.find((each) => String(each.id) === id);
    if (method !== update || known === undefined) {
      return { status: 404 };
    }
    Object.assign(known, parsed.data);
    return { status: 200, body: show(known) };
  }
}
