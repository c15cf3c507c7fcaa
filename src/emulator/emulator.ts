/**
 * The embedded platform: the API in one process, stateful and strict.
 *
 * Its rules come from these sources, in this order (docs/platform-notes.md#sources-of-facts):
 * 1. the API document: resources, operations, limits, states;
 * 2. the vendor's OpenAPI document of 0.146: enumerations, lengths, write codes, filters, structure sort, rich
 *    documents;
 * 3. decisions of this emulator where both are silent. Each is documented in its module: `sites/tree.ts` (defaults,
 *    paths, the first section), `spaces/spaces.ts` (moves, transfers, deletions), `organizations/members.ts` (bulk
 *    updates, joining), `model/store.ts`, `openapi/openapi.ts` and `translations/translations.ts` (duration and result
 *    of processing), `http/limits.ts` (meaning of Reset), `model/paging.ts` (cursors), `http/receive.ts` (request
 *    sizes), `conversations/conversations.ts` (batch sizes and repeated ids), `change-requests/operations.ts` and
 *    `change-requests/merge.ts` (statuses, locked spaces, creation times, further properties of a creation, rules for
 *    merging, conflicts), `change-requests/reviews.ts` (reviews), `change-requests/comments.ts` (formats),
 *    `content/content.ts` and `content/edit.ts` (versions, edits, templates), `content/links.ts` (link targets),
 *    `content/operations.ts` (backlinks, files and PDF), `content/pages.ts` (text, revisions within references),
 *    `documents/markdown.ts`, `documents/from-markdown.ts` and `documents/to-markdown.ts` (text of pages and comments),
 *    `content/search.ts` (ranking), `conversations/processing.ts` (issues and clusters),
 *    `conversations/site-context.ts` (findings and their drafts), `integrations/lifecycle.ts`,
 *    `integrations/integrations.ts` and `integrations/installations.ts` (integrations), `api.ts` (permissions of
 *    integrations' tokens), `sites/ask.ts` (answers), `organizations/organizations.ts` (initial instructions),
 *    `sites/customization.ts` (defaults), `sites/redirects.ts` (sources that are taken, pages of a path),
 *    `permissions/permissions.ts` (roles in effect).
 *
 * It shares no code with the client, so that it does not repeat the client's mistakes.
 */

import { existsSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../core/clock.ts';
import { createCallerLookup, firstOrganization } from './api.ts';
import { requireContentOwner, revise } from './content/content.ts';
import { type Written, writeContent } from './content/edit.ts';
import type { ContentSeed } from './content/records.ts';
import type { Controls, Latency, WriteOptions } from './control.ts';
import { writeClusters, writeIssues } from './conversations/seed.ts';
import { createStore } from './families.ts';
import { FaultInjector, type FaultRule } from './http/faults.ts';
import { type RateLimits, RequestLimiter } from './http/limits.ts';
import { RequestLog } from './http/request-log.ts';
import type { ApiRoute } from './http/router.ts';
import { createToken } from './integrations/lifecycle.ts';
import { found } from './model/answers.ts';
import { type Features, getFeatures, type PlatformVersion } from './model/features.ts';
import type { Caller, Processing } from './model/operation.ts';
import type { CreationDefaults } from './model/patch.ts';
import type { EmulatorState, EmulatorStore } from './model/store.ts';
import { organizationById } from './organizations/people.ts';
import { defaultState } from './organizations/seed.ts';
import { createHttpServer, type ServerContext } from './server.ts';
import { installGitSync, syncSite } from './sites/git-sync.ts';
import { restorableSpaceById } from './spaces/views.ts';

export type { Latency } from './control.ts';
export type { FaultRule } from './http/faults.ts';
export type { RateLimits } from './http/limits.ts';
export type { Features, PlatformVersion } from './model/features.ts';
export type { Permission, Processing } from './model/operation.ts';
export type { EmulatorState } from './model/store.ts';
export { createState, emptyOrganization } from './organizations/seed.ts';

/** Options of the emulator; all have defaults. */
export interface EmulatorOptions {
  /** 127.0.0.1 by default. */
  readonly host?: string;
  /** 0, which is any free port, by default. */
  readonly port?: number;
  readonly clock?: Clock;
  /** The admin token; its user is the first admin of the first organization. */
  readonly token?: string;
  /**
   * Callers of other tokens. Permission to `read` refuses writes, and `none` refuses everything (403). A source, such as
   * `email` or `integration:NAME:INSTALLATION`, makes it the token of an installation.
   */
  readonly tokens?: Readonly<Record<string, Caller>>;
  /** Initial state; by default, one organization with three people. */
  readonly seed?: EmulatorState | undefined;
  /** File that keeps the state: loaded if it exists (instead of `seed`), saved after changes and on close. */
  readonly file?: string | undefined;
  readonly latency?: Latency;
  /** Rate limits per token; none by default, and then no rate limit headers either. */
  readonly limits?: RateLimits;
  readonly faults?: readonly FaultRule[];
  /** Seed for repeatable faults and latencies; 1 by default. */
  readonly randomSeed?: number;
  /** Milliseconds until processing completes; 300, 500 and 400 by default. */
  readonly processing?: Partial<Processing>;
  /** Values of new resources for fields that their creation leaves out; none by default. */
  readonly defaults?: CreationDefaults;
  /** Version of the platform to emulate. The default is the oldest: the one that the API document describes. */
  readonly platform?: PlatformVersion | undefined;
  /** Differences from that version. */
  readonly features?: Partial<Features>;
  /** Operations of the platform: those that are not emulated are answered with 501 instead of 404. */
  readonly documented?: readonly ApiRoute[];
  /** Number of items of a list without a limit; 50 by default. */
  readonly pageSize?: number;
}

/** A running emulator. */
export interface Emulator extends Controls {
  /** Address of the server, without a path and without a slash at its end. */
  readonly url: string;
  /** The admin token. */
  readonly token: string;
  /** The first organization's id. */
  readonly organization: string;
  /** Replaces everything with this state. */
  restore(state: EmulatorState): void;
  /**
   * Restarts as a new process would: drops every connection, accepts none for some milliseconds (0 by default), and
   * continues at the same address with the same state and a full rate limit.
   */
  restart(milliseconds?: number): Promise<void>;
  /** Drops every connection, saves the state to the file if there is one, and stops. */
  close(): Promise<void>;
}

const DEFAULT_TOKEN = 'emulator-token';

function writeAs(
  store: EmulatorStore,
  clock: Clock,
  spaceId: string,
  seed: ContentSeed,
  { changeRequest, by }: WriteOptions = {},
): Written {
  const place = requireContentOwner({ store, params: { spaceId, changeRequestId: changeRequest } });
  const user = by === undefined ? undefined : store.users.one('email', by.toLowerCase())?.id;
  return writeContent({ store, at: new Date(clock.now()).toISOString() }, place, seed, user);
}

/** Creates the dependencies of the HTTP server. */
function listenerOf(store: EmulatorStore, options: EmulatorOptions): ServerContext {
  const token = options.token ?? DEFAULT_TOKEN;
  const clock = options.clock ?? systemClock;
  return {
    store,
    clock,
    callerOf: createCallerLookup(store, clock, token, options.tokens),
    isAdmin: (given) => given === token,
    limiter: new RequestLimiter(options.limits ?? {}),
    faults: new FaultInjector(options.faults ?? [], options.randomSeed ?? 1),
    requests: new RequestLog(),
    features: { ...getFeatures(options.platform ?? '0.146'), ...options.features },
    processing: { openapi: 300, translation: 500, conversations: 400, ...options.processing },
    defaults: options.defaults ?? {},
    documented: options.documented ?? [],
    pageSize: options.pageSize ?? 50,
    randomSeed: options.randomSeed ?? 1,
    latency: options.latency ?? 0,
  };
}

function controlsOf(store: EmulatorStore, listener: ServerContext): Controls {
  return {
    requests: listener.requests,
    state: () => {
      store.settle(listener.clock.now());
      return store.dump();
    },
    reviseSpace: (spaceId) => {
      const now = listener.clock.now();
      return revise(store, restorableSpaceById(store, now, spaceId), new Date(now).toISOString());
    },
    writePages: (spaceId, pages) => [...writeAs(store, listener.clock, spaceId, { pages }).pages],
    writeContent: (spaceId, seed, options) => writeAs(store, listener.clock, spaceId, seed, options),
    writeClusters: (organizationId, seeds) => {
      const organization = organizationById(store, organizationId);
      return writeClusters(store, organization.id, seeds, listener.clock.now()).map((cluster) => cluster.id);
    },
    writeIssues: (clusterId, seeds) => {
      const at = new Date(listener.clock.now()).toISOString();
      const cluster = found(store.issuesClusters.get(clusterId), 'Cluster', clusterId);
      writeIssues(store, store.issuesClusters.put({ ...cluster, updatedAt: at }), seeds, at);
    },
    installGitSync: (target) => {
      const organization = firstOrganization(store);
      return installGitSync(store, new Date(listener.clock.now()).toISOString(), { organization, ...target }).id;
    },
    syncSite: (siteId, docs) => syncSite(store, siteId, docs),
    createToken: (integration) => createToken(store, integration),
    setFaults: (rules) => listener.faults.set(rules),
    setFeatures: (features) => {
      listener.features = { ...listener.features, ...features };
    },
    setLatency: (latency) => {
      listener.latency = latency;
    },
    setLimits: (limits) => listener.limiter.set(limits),
  };
}

/** Starts an emulator and waits until it listens. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const store = createStore();
  const saved = options.file === undefined ? undefined : StateFile.load(options.file);
  store.load(saved ?? options.seed ?? defaultState());
  const file = options.file === undefined ? undefined : new StateFile(options.file, () => store.dump());
  store.watch(() => file?.touch());
  const listener = listenerOf(store, options);
  const controls = controlsOf(store, listener);
  const host = options.host ?? '127.0.0.1';
  const server = createHttpServer(listener, controls);
  await listen(server, options.port ?? 0, host);
  const { port } = server.address() as AddressInfo;
  return {
    ...controls,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    token: options.token ?? DEFAULT_TOKEN,
    organization: firstOrganization(store),
    restore: (state) => store.load(state),
    restart: async (milliseconds = 0) => {
      await hangUp(server);
      await listener.clock.sleep(milliseconds);
      listener.limiter.restart();
      await listen(server, port, host);
    },
    close: async () => {
      await hangUp(server);
      await file?.flush();
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function hangUp(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  return closed;
}

/** Milliseconds within which changes are saved together. */
const DEBOUNCE = 100;

/** A state on disk. It is written to a temporary file and renamed, so that readers never see a partial file. */
export class StateFile {
  readonly #path: string;
  readonly #dump: () => EmulatorState;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(path: string, dump: () => EmulatorState) {
    this.#path = path;
    this.#dump = dump;
  }

  /** Loads the saved state; undefined if there is none. */
  static load(path: string): EmulatorState | undefined {
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as EmulatorState) : undefined;
  }

  /** Schedules a save. */
  touch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#save().catch((error: unknown) => {
        this.#failure = error;
      });
    }, DEBOUNCE);
  }

  /** Saves now, after any save in progress. Rejects if this or an earlier save failed. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#save();
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }

  #save(): Promise<void> {
    const write = async () => {
      const temporary = `${this.#path}.${process.pid}.tmp`;
      await writeFile(temporary, JSON.stringify(this.#dump()));
      await rename(temporary, this.#path);
    };
    this.#saving = this.#saving.then(write, write);
    return this.#saving;
  }
}
