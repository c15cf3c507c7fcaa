/** Creates data folders of PostgreSQL for tests. */
import { chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execFileSync, findProgram } from './programs.ts';

/** Folder of the checkout that git ignores, with a new cluster for each version of PostgreSQL. */
const TEMPLATES = fileURLToPath(new URL('../../.octavo/postgres/', import.meta.url));

/** User that owns the server's processes: PostgreSQL does not run as root. */
export interface SystemUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** Authentication of clients, and the password of the superuser. */
interface Authentication {
  readonly auth: 'trust' | 'scram-sha-256';
  readonly password: string;
}

/** Creates the data of a cluster in `data`. Copies a template if passwords do not matter: `initdb` takes a second. */
export function createData(data: string, user: SystemUser, { auth, password }: Authentication): void {
  if (auth === 'trust') {
    copyFolder(findTemplate(user), data);
  } else {
    runInitdb(data, user, { auth, password });
  }
}

/** Returns the template of this version and user, and creates it if it does not exist. */
function findTemplate(user: SystemUser): string {
  const { mtimeMs } = statSync(postgresProgram('initdb'));
  const template = join(TEMPLATES, `${user.uid ?? process.getuid?.()}-${Math.trunc(mtimeMs)}`);
  if (existsSync(template)) {
    return template;
  }
  const created = mkdtempSync(join(tmpdir(), 'octavo-template-'));
  const copy = `${template}-${process.pid}`;
  rmSync(copy, { recursive: true, force: true });
  try {
    giveTo(user, created);
    runInitdb(join(created, 'data'), user, { auth: 'trust', password: 'none' });
    mkdirSync(TEMPLATES, { recursive: true });
    copyFolder(join(created, 'data'), copy);
    // Replaces nothing: another process may have been faster, and its template is the same.
    renameSync(copy, template);
  } catch (error) {
    rmSync(copy, { recursive: true, force: true });
    if (!existsSync(template)) {
      throw error;
    }
  } finally {
    rmSync(created, { recursive: true, force: true });
  }
  return template;
}

/** Copies a folder with the owners and modes of its files. */
function copyFolder(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to], { stdio: ['ignore', 'ignore', 'pipe'] });
}

function runInitdb(data: string, user: SystemUser, { auth, password }: Authentication): void {
  const secret = `${data}.password`;
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(secret, password);
  giveTo(user, data, secret);
  const args = ['-D', data, '-U', 'postgres', `--auth=${auth}`, `--pwfile=${secret}`, '--encoding=UTF8'];
  execFileSync(
    postgresProgram('initdb'),
    [...args, '--locale=C.UTF-8', '--no-sync', '--no-instructions', '--wal-segsize=1'],
    { ...user, cwd: data, stdio: ['ignore', 'ignore', 'pipe'] },
  );
}

/** Makes a user the owner of files. */
export function giveTo({ uid, gid }: SystemUser, ...paths: readonly string[]): void {
  for (const path of paths) {
    if (uid !== undefined && gid !== undefined) {
      chownSync(path, uid, gid);
    }
  }
}

/** Path of the server; null if it is not installed. */
export const POSTGRES = findProgram('postgresql');

/** Returns the path of one of the programs of PostgreSQL, such as `pg_dump`. */
export function postgresProgram(name: string): string {
  return join(dirname(POSTGRES ?? ''), name);
}
