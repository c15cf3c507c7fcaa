/**
 * Runs tests (`npm test` with `--check`, `npm run test:unit`) so that a run that is ended leaves nothing: on a signal, and
 * when npm ends, all of its processes are ended and their temporary folders are removed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { endWithParent } from '../test/support/end-with-parent.ts';
import { removeAbandonedFolders } from '../test/support/run-folder.ts';

/** Milliseconds between two looks at the parent: npm forwards neither SIGHUP nor its own death. */
const PARENT_INTERVAL = 250;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** npm: its scripts replace their shell by `exec`. */
const parent = process.ppid;
let running: ChildProcess | undefined;
let isEnding = false;

/** Runs a program of this project as a process group; returns its exit code. */
async function run(...args: readonly string[]): Promise<number> {
  // Without a terminal's input, which only the foreground group may read.
  const child = spawn(...endWithParent(process.execPath, args), {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  running = child;
  const ended = Promise.withResolvers<number>();
  child.on('error', ended.reject).on('exit', (code) => ended.resolve(code ?? 1));
  const code = await ended.promise;
  // The signal that ended the program is about to be handled.
  return isEnding ? await new Promise<never>(() => undefined) : code;
}

/** Ends the running program with all of its processes, removes their temporary folders, and exits. */
function end(signal: 'SIGHUP' | 'SIGINT' | 'SIGTERM'): void {
  isEnding = true;
  const exit = () => {
    removeAbandonedFolders();
    process.stderr.write(`\nended by ${signal}\n`);
    process.exit(128 + constants.signals[signal]);
  };
  if (running?.pid === undefined || running.exitCode !== null || running.signalCode !== null) {
    exit();
  } else {
    running.once('exit', exit);
    process.kill(-running.pid, 'SIGKILL');
  }
}

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => end(signal));
}
setInterval(() => {
  if (process.ppid !== parent && !isEnding) {
    end('SIGHUP');
  }
}, PARENT_INTERVAL).unref();

const [first, ...rest] = process.argv.slice(2);
const isChecked = first === '--check';
const named = isChecked || first === undefined ? rest : [first, ...rest];
const failed = isChecked ? await run('scripts/check.ts') : 0;
process.exitCode = failed === 0 ? await run('node_modules/vitest/vitest.mjs', 'run', ...named) : failed;
