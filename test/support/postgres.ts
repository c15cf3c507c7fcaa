/** PostgreSQL server for tests: a cluster of its own in a temporary folder. */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { endWithParent } from './end-with-parent.ts';
import { findFreePort } from './free-port.ts';
import { createData, giveTo, POSTGRES, postgresProgram, type SystemUser } from './postgres-data.ts';
import { spawn } from './programs.ts';

const START_LIMIT = 30_000;

/** True if there are PostgreSQL's programs. */
export const hasPostgres = POSTGRES !== null;

export interface ClusterOptions {
  /** Authentication method of clients; default: `trust`, which needs no password. */
  readonly auth?: 'trust' | 'scram-sha-256';
  /** Settings of postgresql.conf, added to those for fast tests, such as `{ fsync: 'on' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Files in the data folder, such as a certificate, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Ways to end the server: `fast` disconnects everybody, `immediate` is a crash that the next start recovers from. */
export type ShutdownMode = 'fast' | 'immediate';

/** Starts a cluster, which ends with this process. */
export async function startPostgres(options: ClusterOptions = {}): Promise<PostgresCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-postgres-'));
  const password = randomBytes(12).toString('hex');
  const user = systemUser();
  try {
    initialize(folder, password, user, options);
    const cluster = new PostgresCluster(folder, await findFreePort(), password, user);
    await cluster.start();
    return cluster;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Running server with its databases. The superuser is `postgres`. */
export class PostgresCluster implements AsyncDisposable {
  /** Temporary folder, which is also that of the Unix socket. */
  readonly folder: string;
  readonly host = '127.0.0.1';
  readonly port: number;
  /** Password of the superuser; clients need it with `scram-sha-256`. */
  readonly password: string;
  readonly #user: SystemUser;
  readonly #stopAtExit = () => void this.#server?.kill('SIGQUIT');
  #server: ChildProcess | null = null;
  #databases = 0;

  constructor(folder: string, port: number, password: string, user: SystemUser) {
    this.folder = folder;
    this.port = port;
    this.password = password;
    this.#user = user;
  }

  /** Returns the URL of a database on TCP, such as `postgres://postgres:…@127.0.0.1:40001/postgres`. */
  url(database = 'postgres', user = `postgres:${this.password}`): string {
    return `postgres://${user}@${this.host}:${this.port}/${database}`;
  }

  /** Creates an empty database and returns its URL. `options` is SQL such as `ENCODING 'SQL_ASCII' TEMPLATE template0`. */
  async createDatabase(options = ''): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    await this.query(`CREATE DATABASE ${name} ${options}`);
    return this.url(name);
  }

  /** Runs statements as the superuser, on a connection of their own. */
  async query(statements: string, database = 'postgres'): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url(database) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(statements)).rows ?? [];
    } finally {
      await client.end();
    }
  }

  /** Ends all connections, except that of this call. Returns how many there were. */
  async terminateConnections(): Promise<number> {
    const rows = await this.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
    );
    return rows.length;
  }

  /** Starts the server after `shutDown`, on the same port. */
  async start(): Promise<void> {
    const log = openSync(join(this.folder, 'log'), 'a');
    const args = ['-D', join(this.folder, 'data'), '-p', String(this.port), '-k', this.folder];
    this.#server = spawn(...endWithParent(postgresProgram('postgres'), args, 'QUIT'), {
      ...this.#user,
      stdio: ['ignore', log, log],
    });
    process.once('exit', this.#stopAtExit);
    const limit = performance.now() + START_LIMIT;
    while (!(await this.#isReady())) {
      if (this.#server.exitCode !== null || performance.now() > limit) {
        throw new Error(`PostgreSQL does not start:\n${this.log().slice(-2000)}`);
      }
      await delay(20);
    }
  }

  /** Ends the server. The data stays. */
  async shutDown(mode: ShutdownMode = 'fast'): Promise<void> {
    const server = this.#server;
    this.#server = null;
    process.off('exit', this.#stopAtExit);
    if (server !== null && server.exitCode === null && server.signalCode === null) {
      const ended = once(server, 'exit');
      server.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
      await ended;
    }
  }

  async restart(mode: ShutdownMode = 'fast'): Promise<void> {
    await this.shutDown(mode);
    await this.start();
  }

  /** Ends the server and removes its data. */
  async stop(): Promise<void> {
    await this.shutDown('immediate');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Returns the log of the server. */
  log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #isReady(): Promise<boolean> {
    try {
      await this.query('SELECT 1');
      return true;
    } catch {
      return false;
    }
  }
}

function initialize(folder: string, password: string, user: SystemUser, options: ClusterOptions): void {
  const data = join(folder, 'data');
  giveTo(user, folder);
  createData(data, user, { auth: options.auth ?? 'trust', password });
  const settings = {
    ...{
      fsync: 'off',
      full_page_writes: 'off',
      max_connections: '200',
      // In the data folder, which is removed even if the server was killed.
      dynamic_shared_memory_type: 'mmap',
      shared_buffers: '32MB',
      listen_addresses: "'127.0.0.1'",
    },
    ...{
      autovacuum: 'off',
      deadlock_timeout: '50ms',
      min_wal_size: '8MB',
      max_wal_size: '64MB',
      log_timezone: "'UTC'",
    },
    ...options.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  writeFileSync(join(data, 'postgresql.auto.conf'), lines.join(''));
  for (const [name, content] of Object.entries(options.files ?? {})) {
    const path = join(data, name);
    writeFileSync(path, content, { mode: 0o600 });
    giveTo(user, path);
  }
}

/** Returns the user `postgres` if this process is root. */
export function systemUser(): SystemUser {
  if (process.getuid?.() !== 0) {
    return {};
  }
  const line = readFileSync('/etc/passwd', 'utf8').match(/^postgres:[^:]*:(\d+):(\d+):/m);
  if (line === null) {
    throw new Error('there is no user "postgres", which runs PostgreSQL; install the package postgresql');
  }
  return { uid: Number(line[1]), gid: Number(line[2]) };
}
