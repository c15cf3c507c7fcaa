/** Starts PostgreSQL for the demonstration: a cluster of its own in a temporary directory. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '../../core/clock.ts';
import { ConfigError, messageOf } from '../../core/errors.ts';
import type { ChildGuard } from './child-guard.ts';

/** Directory of Debian's packages, one directory for each version; their programs are not in the path. */
const DEBIAN = '/usr/lib/postgresql';
const START_LIMIT = 20_000;
const execute = promisify(execFile);

/** User that owns the server's processes: PostgreSQL does not run as root. */
interface SystemUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** A running server. */
export interface TemporaryPostgres extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts a server in a new temporary directory. It accepts connections of this machine only. Throws ConfigError if there are no
 * programs of PostgreSQL, or if they fail.
 */
export async function startPostgres(
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
  guard: ChildGuard,
): Promise<TemporaryPostgres> {
  const programs = findPrograms(env);
  if (programs === null) {
    throw new ConfigError(
      'octavo demo --fleet needs PostgreSQL, and its programs were not found; install them (Debian: apt-get install postgresql), or set DATABASE_URL to a server where a database may be created',
    );
  }
  const user = findUser();
  await using cleanup = new AsyncDisposableStack();
  // Not in the directory of the demonstration, which the user of the server may not enter.
  const directory = await mkdtemp(join(tmpdir(), 'octavo-demo-postgres-'));
  guard.removeLater(directory);
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  if (user.uid !== undefined && user.gid !== undefined) {
    await chown(directory, user.uid, user.gid);
  }
  const data = join(directory, 'data');
  const init = ['-D', data, '-U', 'octavo', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'];
  await execute(join(programs, 'initdb'), init, { ...user, cwd: directory }).catch((error: Error) => {
    throw new ConfigError(`PostgreSQL cannot be set up: ${messageOf(error)}; set DATABASE_URL to a server instead`, {
      cause: error,
    });
  });
  const port = await findFreePort();
  const settings = ['fsync=off', 'listen_addresses=127.0.0.1', `unix_socket_directories=${directory}`];
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((each) => ['-c', each])];
  // Ctrl-C in the terminal ends the demonstration, which then ends the server.
  const server = spawn(join(programs, 'postgres'), args, { ...user, cwd: directory, stdio: 'ignore', detached: true });
  guard.watch(server, 'SIGQUIT');
  cleanup.defer(() => endServer(server));
  await untilReady(server, data, clock);
  const kept = cleanup.move();
  return {
    url: `postgres://octavo@127.0.0.1:${port}/postgres?sslmode=disable`,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Returns the directory of PostgreSQL's programs: one of the path, otherwise that of Debian's newest version. */
function findPrograms({ PATH = '' }: Readonly<Record<string, string | undefined>>): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : [];
  const directories = [...PATH.split(delimiter), ...versions.map((version) => join(DEBIAN, version, 'bin'))];
  return (
    directories.find((directory) => ['initdb', 'postgres'].every((name) => existsSync(join(directory, name)))) ?? null
  );
}

/** Returns the user `postgres` if this process is root. */
function findUser(): SystemUser {
  if (process.getuid?.() !== 0) {
    return {};
  }
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  if (line === null) {
    throw new ConfigError(
      'PostgreSQL does not run as root, and there is no user "postgres"; run the demo as another user',
    );
  }
  return { uid: Number(line[1]), gid: Number(line[2]) };
}

async function untilReady(server: ChildProcess, data: string, clock: Clock): Promise<void> {
  const limit = clock.monotonic() + START_LIMIT;
  // The last line of the file is the state of the server.
  const isReady = async () => /^ready *$/m.test(await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => ''));
  while (!(await isReady())) {
    if (server.exitCode !== null || clock.monotonic() > limit) {
      throw new ConfigError(
        'PostgreSQL did not start; run "octavo demo --fleet" again with DATABASE_URL set to a server',
      );
    }
    await clock.sleep(50);
  }
}

async function endServer(server: ChildProcess): Promise<void> {
  if (server.exitCode === null && server.signalCode === null) {
    const ended = once(server, 'exit');
    server.kill('SIGQUIT');
    await ended;
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
