/**
 * Programs that tests, scripts and benchmarks start: whether they are installed, and the functions of
 * `node:child_process` with a time limit. `test/support/programs.test.ts` refuses other ways to start one.
 */
import {
  type ChildProcess,
  execFileSync as nodeExecFileSync,
  fork as nodeFork,
  spawn as nodeSpawn,
  spawnSync as nodeSpawnSync,
} from 'node:child_process';
import { appendFileSync, existsSync, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { endWithParent } from './end-with-parent.ts';
import { missingPrograms } from './run-folder.ts';

/** Milliseconds after which a program that blocks its caller is ended. */
const BLOCKING_LIMIT = 120_000;

/** Milliseconds after which any other program is ended, unless its parent has ended before. */
const RUNNING_LIMIT = 3_600_000;

const BLOCKING = { timeout: BLOCKING_LIMIT, killSignal: 'SIGKILL' } as const;

/** `execFileSync` that ends the program and throws after two minutes, or `timeout`. */
export const execFileSync = ((file: string, args: readonly string[], options: object) =>
  nodeExecFileSync(file, args, { ...BLOCKING, ...options })) as typeof nodeExecFileSync;

/** `spawnSync` that ends the program and returns `error` after two minutes, or `timeout`. */
export const spawnSync = ((file: string, args: readonly string[], options: object) =>
  nodeSpawnSync(file, args, { ...BLOCKING, ...options })) as typeof nodeSpawnSync;

/** `spawn` whose program ends with this process, or after an hour, or `timeout`. */
export const spawn = ((file: string, args: readonly string[], options: object): ChildProcess =>
  nodeSpawn(...endWithParent(file, args), {
    timeout: RUNNING_LIMIT,
    killSignal: 'SIGKILL',
    ...options,
  })) as typeof nodeSpawn;

/** `fork` whose process ends after an hour, or `timeout`. */
export const fork = ((file: string, args: readonly string[], options: object): ChildProcess =>
  nodeFork(file, args, { timeout: RUNNING_LIMIT, killSignal: 'SIGKILL', ...options })) as typeof nodeFork;

/** Programs that tests can do without, and where those are that are not in the PATH. `*` is a version or an architecture. */
const PLACES = {
  chromium: [],
  faketime: ['/usr/lib/*/faketime/libfaketimeMT.so.1'],
  fish: [],
  helm: [],
  kubectl: [],
  pgbouncer: ['/usr/sbin/pgbouncer'],
  postgresql: ['/usr/lib/postgresql/*/bin/postgres'],
  script: [],
  zsh: [],
} as const satisfies Record<string, readonly string[]>;

export type OptionalProgram = keyof typeof PLACES;

export const OPTIONAL_PROGRAMS = Object.keys(PLACES) as OptionalProgram[];

/** Program that is treated as missing, for `scripts/hidden-programs.ts`: not all are found by the PATH. */
const HIDDEN = process.env.OCTAVO_HIDDEN_PROGRAM;

/** True in a run of tests, which reports the missing programs at its end. */
const IS_RUN = process.env.OCTAVO_TEST_MEMORY !== undefined;

/** Returns the path of a program; null if it is not installed, which the end of the run reports. */
export function findProgram(name: OptionalProgram): string | null {
  const found = name === HIDDEN ? null : search(name);
  if (found === null && IS_RUN) {
    appendFileSync(missingPrograms(), `${name}\n`);
  }
  return found;
}

function search(name: OptionalProgram): string | null {
  const places: readonly string[] = PLACES[name];
  if (places.length > 0) {
    // The newest version is last.
    return (
      globSync([...places])
        .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
        .at(-1) ?? null
    );
  }
  const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  return paths.find((path) => existsSync(path)) ?? null;
}
