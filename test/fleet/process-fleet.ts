/** Fleet of daemons for tests: real processes on one PostgreSQL server and one platform, each behind a proxy of its own. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { createState, type Emulator, type RateLimits, startEmulator } from '../../src/emulator/emulator.ts';
import type { RequestEntry } from '../../src/emulator/http/request-log.ts';
import { makeFolder } from '../git/repository.ts';
import { FakeWebhookReceiver } from '../support/notify/fake-webhook-receiver.ts';
import { eventually, OctavoProcess, TOKEN } from '../support/octavo-process.ts';
import type { PostgresCluster } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

export interface FleetOptions {
  readonly cluster: PostgresCluster;
  readonly organizations: number;
  /** Number of tokens, which the organizations share evenly; default: one for each organization. */
  readonly tokens?: number;
  /** Settings of `fleet`; by default, `LEASE`. */
  readonly fleet?: Readonly<Record<string, unknown>>;
  /** Settings of every organization. */
  readonly organization?: Readonly<Record<string, unknown>>;
  /** Other settings. */
  readonly top?: Readonly<Record<string, unknown>>;
  readonly limits?: RateLimits;
}

/** Seconds in which a daemon starts, also while several start on a busy machine. */
const START_LIMIT = 120;
/** Milliseconds of a lease, unless a test sets another one. */
export const LEASE = 6000;

/** A fleet, its platform and its database. */
export class ProcessFleet implements AsyncDisposable {
  readonly folder = makeFolder();
  readonly emulator: Emulator;
  /** Receives a message of every pass that changed something. */
  readonly receiver = new FakeWebhookReceiver();
  readonly organizations: readonly string[];
  readonly database: string;
  readonly #options: FleetOptions;
  readonly #replicas: FleetReplica[] = [];
  /** Connection past the proxies; null before the first statement, and after it failed. */
  #client: pg.Client | null = null;

  private constructor(options: FleetOptions, emulator: Emulator, organizations: readonly string[], database: string) {
    this.#options = options;
    this.emulator = emulator;
    this.organizations = organizations;
    this.database = database;
  }

  static async open(options: FleetOptions): Promise<ProcessFleet> {
    const count = options.organizations;
    const ids = Array.from({ length: count }, (_, index) => `org_${String(index).padStart(4, '0')}`);
    const members = [{ email: 'ana@acme.example', role: 'admin' as const }];
    const seed = createState({ organizations: ids.map((id) => ({ id, title: id, members })) });
    const caller = { user: 'ana@acme.example', permission: 'admin' as const };
    const tokens = Object.fromEntries(ids.map((_, index) => [tokenName(index), caller]));
    const limits = options.limits === undefined ? {} : { limits: options.limits };
    const emulator = await startEmulator({ seed, token: TOKEN, tokens, ...limits });
    const fleet = new ProcessFleet(options, emulator, ids, await options.cluster.createDatabase());
    await fleet.receiver.listen();
    for (const id of ids) {
      fleet.declare(id);
      mkdirSync(join(fleet.folder, 'drop', id), { recursive: true });
    }
    return fleet;
  }

  get replicas(): readonly FleetReplica[] {
    return this.#replicas;
  }

  get alive(): readonly FleetReplica[] {
    return this.#replicas.filter(({ isAlive }) => isAlive);
  }

  /** Starts another replica and waits until it answers. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<FleetReplica> {
    const proxy = await TcpProxy.open({ port: this.#options.cluster.port });
    const name = `replica-${this.#replicas.length}`;
    const config = join(this.folder, `${name}.json`);
    writeFileSync(config, JSON.stringify(this.#configure(name, proxy)));
    const run = new OctavoProcess(['run', '--config', config], { cwd: this.folder, env });
    const replica = new FleetReplica(run, proxy);
    this.#replicas.push(replica);
    replica.address = String((await run.waitForLog('octavo is running', 1, '', START_LIMIT)).address);
    return replica;
  }

  /** Writes the manifests of an organization: teams with these titles. */
  declare(organization: string, ...titles: readonly string[]): void {
    const folder = join(this.folder, 'manifests', organization);
    mkdirSync(folder, { recursive: true });
    const teams = Object.fromEntries(titles.map((title) => [title.toLowerCase(), { title }]));
    const next = join(folder, 'teams.yaml.next');
    writeFileSync(next, JSON.stringify({ teams }));
    renameSync(next, join(folder, 'teams.yaml'));
  }

  /** Drops a file of tickets for an organization; each becomes a conversation. */
  drop(organization: string, ...ids: readonly string[]): void {
    const folder = join(this.folder, 'drop', organization);
    mkdirSync(folder, { recursive: true });
    const part = (id: string) => ({ id, parts: [{ type: 'message', role: 'user', body: `How does ${id} work?` }] });
    const name = ids.join('-');
    writeFileSync(join(folder, `.${name}.part`), ids.map((id) => `${JSON.stringify(part(id))}\n`).join(''));
    renameSync(join(folder, `.${name}.part`), join(folder, `${name}.ndjson`));
  }

  /** Returns the titles of the teams of an organization on the platform, sorted. */
  teams(organization: string): readonly string[] {
    const { teams = [] } = this.emulator.state() as unknown as { teams?: { title: string; organization: string }[] };
    return teams
      .filter((team) => team.organization === organization)
      .map(({ title }) => title)
      .toSorted();
  }

  async untilTeams(organization: string, titles: readonly string[], seconds = 30): Promise<void> {
    const wanted = titles.toSorted().join();
    const isThere = () => this.teams(organization).join() === wanted;
    await eventually(`the teams ${wanted} of ${organization}`, isThere, seconds).catch((error: Error) => {
      const logs = this.#replicas.map(({ run }, index) => `replica ${index}:\n${run.stderr.slice(-4000)}`);
      throw new Error(`${error.message}; there are ${this.teams(organization).join()}\n${logs.join('\n')}`);
    });
  }

  /** Declares these teams in all organizations, and waits until the platform has exactly them. */
  async change(titles: readonly string[], seconds = 90): Promise<void> {
    for (const id of this.organizations) {
      this.declare(id, ...titles);
    }
    for (const id of this.organizations) {
      await this.untilTeams(id, titles, seconds);
    }
  }

  /** Requests that change something, of all organizations. */
  writes(): readonly RequestEntry[] {
    return this.emulator.requests.entries.filter(({ method }) => method !== 'GET');
  }

  /**
   * Reads from the database, past the proxies. Tables are in the schema `octavo`. Keeps its connection, and reads once
   * more on another one if it fails.
   */
  async query(statement: string): Promise<readonly Record<string, unknown>[]> {
    const kept = this.#client;
    if (kept !== null) {
      try {
        return (await kept.query(statement)).rows;
      } catch {
        await this.#disconnect(kept);
      }
    }
    const client = new pg.Client({ connectionString: this.database });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query(statement);
      this.#client ??= client;
      return rows;
    } finally {
      if (this.#client !== client) {
        await client.end().catch(() => undefined);
      }
    }
  }

  async #disconnect(client: pg.Client | null): Promise<void> {
    this.#client = this.#client === client ? null : this.#client;
    await client?.end().catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(
      this.#replicas.map(async (replica) => {
        replica.run.child.kill('SIGCONT');
        await replica.run.stop('SIGKILL');
        await replica.proxy[Symbol.asyncDispose]();
      }),
    );
    await this.#disconnect(this.#client);
    await this.emulator.close();
    await this.receiver[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #configure(name: string, proxy: TcpProxy): object {
    const { fleet, organization, top, tokens = this.organizations.length } = this.#options;
    const store = new URL(this.database);
    store.port = String(proxy.port);
    return {
      platform: { baseUrl: this.emulator.url, timeout: '1s' },
      organizations: this.organizations.map((id, index) => ({
        id,
        token: tokenName(index % tokens),
        source: { directory: join(this.folder, 'manifests', id) },
        schedule: { drift: '0 0 1 1 *' },
        conversations: {
          sources: [{ name: 'drop', pollInterval: '1s', folder: { path: join(this.folder, 'drop', id) } }],
          settleDelay: '1ms',
        },
        ...organization,
      })),
      store: String(store),
      fleet: { lease: `${LEASE / 1000}s`, ...fleet },
      runtime: { directory: join(this.folder, name) },
      server: { listen: '127.0.0.1:0' },
      notifications: {
        channels: { bot: { webhook: { url: this.receiver.url, secret: this.receiver.secret } } },
        routes: [{ channels: ['bot'], codes: ['applied'] }],
        groupWait: '10ms',
        groupInterval: '10ms',
      },
      log: { level: 'debug', format: 'json' },
      ...top,
    };
  }
}

/** A daemon of a fleet. */
export class FleetReplica {
  readonly run: OctavoProcess;
  readonly proxy: TcpProxy;
  /** Address of health and metrics. */
  address = '';
  /** False while it is frozen, and after it was killed or has ended. */
  isAlive = true;

  constructor(run: OctavoProcess, proxy: TcpProxy) {
    this.run = run;
    this.proxy = proxy;
  }

  /** Ends it as a crash of the machine does. */
  async kill(): Promise<void> {
    this.isAlive = false;
    await this.run.stop('SIGKILL');
    this.proxy.reset();
  }

  /** Ends it in order. */
  async drain(): Promise<void> {
    const { code } = await this.run.stop('SIGTERM');
    this.isAlive = false;
    if (code !== 0) {
      throw new Error(`the replica ended with ${code}:\n${this.run.stderr.slice(-4000)}`);
    }
  }

  freeze(): void {
    this.isAlive = false;
    this.run.child.kill('SIGSTOP');
  }

  thaw(): void {
    this.run.child.kill('SIGCONT');
    this.isAlive = true;
  }
}

/** Name of a token, which begins with the text that no output may contain. */
function tokenName(index: number): string {
  return `${TOKEN}-${index}`;
}
