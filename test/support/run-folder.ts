/**
 * Temporary folders of a run of tests, in the system's temporary folder and in memory. Their names contain the run's
 * process, so that the next run finds and removes what a run that was killed has left.
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'octavo-run-';

/** Linux keeps files of this folder in memory. */
const MEMORY = '/dev/shm';

/** Returns the file with the names of programs that tests of this run have not found, a line each. */
export const missingPrograms = () => join(process.env.OCTAVO_TEST_MEMORY ?? tmpdir(), 'missing-programs');

/** Creates the folders of this process, and makes the first the temporary folder of all processes that it starts. */
export function openRunFolders(): void {
  removeAbandonedFolders();
  const folders = [tmpdir(), MEMORY].filter((parent) => existsSync(parent)).map(createFolder);
  process.env.TMPDIR = folders[0];
  process.env.OCTAVO_TEST_MEMORY = folders.at(-1);
  process.on('exit', () => {
    for (const folder of folders) {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

function createFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-${startOf(process.pid)}-`));
  // Servers of databases run as another user.
  chmodSync(folder, 0o755);
  return folder;
}

/** Ends the processes of runs that have ended, and removes their folders. */
export function removeAbandonedFolders(): void {
  // A run inside a test has the temporary folder of the outer run.
  for (const parent of new Set([tmpdir(), '/tmp', MEMORY])) {
    for (const name of existsSync(parent) ? readdirSync(parent) : []) {
      const [, pid, start] = /^octavo-run-(\d+)-(\d+)-\w+$/.exec(name) ?? [];
      const folder = join(parent, name);
      if (pid !== undefined && startOf(Number(pid)) !== start && isMine(folder)) {
        endProcessesOf(folder);
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      }
    }
  }
}

/** Ends the processes whose temporary folder this is: the environment is inherited, whatever group they are in. */
function endProcessesOf(folder: string): void {
  const pids = existsSync('/proc/self') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  for (const pid of pids) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`TMPDIR=${folder}`)) {
        process.kill(Number(pid), 'SIGKILL');
      }
    } catch {
      // The process has ended, or belongs to somebody else.
    }
  }
}

/** Start of a process in the kernel's clock: a number may be given to another process. '0' if it has ended. */
function startOf(pid: number): string {
  try {
    if (!existsSync('/proc/self/stat')) {
      process.kill(pid, 0);
      return '1';
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may contain spaces. A zombie (Z) has ended.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? '0' : (fields[19] ?? '0');
  } catch {
    return '0';
  }
}

/** True if the folder was created by this user among the processes that this one can see. */
function isMine(folder: string): boolean {
  try {
    return statSync(folder).uid === process.getuid?.();
  } catch {
    return false;
  }
}
