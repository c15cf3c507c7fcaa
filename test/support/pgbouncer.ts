/** PgBouncer for tests: a pooler in transaction mode in front of a PostgreSQL server. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithParent } from './end-with-parent.ts';
import { findFreePort } from './free-port.ts';
import { eventually } from './octavo-process.ts';
import { type PostgresCluster, systemUser } from './postgres.ts';
import { findProgram, spawn } from './programs.ts';

const EXECUTABLE = findProgram('pgbouncer');

export const hasPgBouncer = EXECUTABLE !== null;

/**
 * A pooler that gives each transaction another connection of `size` connections. As in its default configuration, it
 * refuses startup parameters that it does not track, and loses settings of sessions.
 */
export class PgBouncer implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  readonly #process: ChildProcess;
  #log = '';

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
    // It refuses to run as root.
    this.#process = spawn(...endWithParent(EXECUTABLE ?? '', [join(folder, 'pgbouncer.ini')]), {
      ...systemUser(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const output of [this.#process.stdout, this.#process.stderr]) {
      output?.setEncoding('utf8').on('data', (text: string) => {
        this.#log += text;
      });
    }
  }

  /** Starts a pooler and waits until it accepts connections. */
  static async start({ port: server, password }: PostgresCluster, size = 2): Promise<PgBouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'octavo-pgbouncer-'));
    const port = await findFreePort();
    const settings = [
      '[databases]',
      `* = host=127.0.0.1 port=${server} user=postgres password=${password}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      `default_pool_size = ${size}`,
      'server_login_retry = 1',
    ];
    writeFileSync(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`);
    // The user that it becomes reads the file.
    chmodSync(folder, 0o755);
    const bouncer = new PgBouncer(port, folder);
    await eventually('PgBouncer', () => bouncer.#accepts());
    return bouncer;
  }

  url(database: string): string {
    return `postgres://octavo@127.0.0.1:${this.port}/${database}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#process.exitCode === null ? once(this.#process, 'exit') : undefined;
    this.#process.kill('SIGQUIT');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #accepts(): Promise<boolean> {
    if (this.#process.exitCode !== null) {
      throw new Error(`PgBouncer ended:\n${this.#log}`);
    }
    const socket = connect(this.port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  }
}
