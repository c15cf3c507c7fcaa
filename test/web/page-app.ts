/** Server of the web page without a daemon: its organizations, clock and settings are given. */
import { createHash, randomBytes } from 'node:crypto';
import type { LightMyRequestResponse as Response } from 'fastify';
import { loadConfig } from '../../src/config/load.ts';
import { kinds } from '../../src/kinds/registry.ts';
import type { RequestHandlers } from '../../src/server/requests.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Sessions } from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import type { Backend } from '../../src/web/model/page.ts';
import { createPageServer, type PageServer } from '../../src/web/server/page-server.ts';
import { NOW, someBackend, someHandlers, someOrganization } from './some-backend.ts';

export interface PageAppSettings {
  /** Settings of the page, as in the configuration file. */
  readonly ui: Readonly<Record<string, unknown>>;
  readonly organizations?: readonly string[];
  readonly store?: Store;
  readonly sessions?: Sessions;
  readonly backend?: (backend: Backend) => Backend;
  readonly handlers?: RequestHandlers;
}

type Headers = Readonly<Record<string, string>>;

/** A page server of a test. Requests do not use the network. */
export interface PageApp extends AsyncDisposable {
  readonly server: PageServer;
  get(url: string, headers?: Headers): Promise<Response>;
  /** Sends a form, as a page of the server does, or with other headers. */
  post(url: string, fields: Readonly<Record<string, string>>, headers?: Headers): Promise<Response>;
  readonly store: Store;
  /** Records of the log: level, fields and message. */
  readonly log: readonly (readonly [string, object, string])[];
  /** Limits of wrong tokens that were reached: the address, null for all of them, and the number. */
  readonly guesses: readonly (readonly [string | null, number])[];
  /** Lets time pass, in milliseconds. */
  advance(milliseconds: number): void;
}

/** A token as the configuration has it. */
export function tokenEntry(name: string, token: string) {
  return { name, sha256: createHash('sha256').update(token).digest('hex') };
}

/** Creates a server for these organizations. Nothing listens until `server.listen`. */
export async function openPageApp({
  ui,
  organizations = ['acme'],
  store = openMemoryStore(),
  sessions = store.sessions(),
  backend: change = (each) => each,
  handlers = someHandlers(),
}: PageAppSettings): Promise<PageApp> {
  const settings = {
    platform: { token: 'a-token', insecure: true },
    organizations: organizations.map((id) => ({ id })),
    ui: { listen: '127.0.0.1:0', ...ui },
  };
  const given = { text: JSON.stringify(settings), file: 'config.yaml', env: {}, readFile: () => '', kinds };
  const { ui: config, organizations: configured } = loadConfig(given);
  const log: (readonly [string, object, string])[] = [];
  const at = (level: string) => (fields: object, message: string) => void log.push([level, fields, message]);
  const guesses: (readonly [string | null, number])[] = [];
  let passed = 0;
  const time = () => NOW + passed;
  const backend = someBackend(configured.map((each) => ({ ...someOrganization(each.id), config: each })));
  const server = await createPageServer({
    backend: change({ ...backend, clock: { ...backend.clock, now: time, monotonic: time } }),
    handlers,
    log: { info: at('info'), warn: at('warn'), error: at('error') } as never,
    ...{ config, sessions, randomBytes },
    onGuesses: (peer, attempts) => void guesses.push([peer, attempts]),
  });
  return {
    ...{ server, store, log, guesses },
    get: (url, headers = {}) => server.app.inject({ url, headers }),
    post: (url, payload, headers = { 'sec-fetch-site': 'same-origin' }) =>
      server.app.inject({ method: 'POST', url, payload, headers }),
    advance: (milliseconds) => {
      passed += milliseconds;
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}
