/** Runs processes and measures them. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CaseContext } from './runner.ts';

/** Resources that one process used, including its start, without the programs that it started. */
export interface Run {
  /** Seconds. */
  readonly wall: number;
  /** Seconds, user and system, as the operating system accounts them. */
  readonly cpu: number;
  /** Peak resident memory in megabytes, as the operating system accounts it. */
  readonly peak: number;
  /** Files loaded as modules; 0 unless they were counted. */
  readonly modules: number;
  readonly output: string;
}

interface ProcessOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly stdio?: StdioOptions;
  readonly cwd?: string;
  /** Leaves the process only one of the cores. */
  readonly oneCore?: boolean;
}

/** Starts a Node process in the folder of the case. It is killed when the case ends. */
export function startProcess(
  context: CaseContext,
  args: readonly string[],
  options: ProcessOptions = {},
): ChildProcess {
  const { stdio = 'ignore', env = {}, cwd = context.folder, oneCore = false } = options;
  const { signal } = context;
  const [program, ...rest] = [...(oneCore ? ['taskset', '--cpu-list', firstCore()] : []), process.execPath, ...args];
  const child = spawn(program as string, rest, {
    cwd,
    env: { ...inheritedEnv(), HOME: context.installed.home, NO_COLOR: '1', ...env },
    stdio,
    signal,
    killSignal: 'SIGKILL',
  });
  // An aborted process reports an error in addition to its exit.
  child.on('error', () => {});
  if (child.pid !== undefined) {
    // Not events.once: it would end with the error of an abort, before the process has exited.
    context.atEnd(new Promise((resolve) => child.once('exit', resolve)));
  }
  return child;
}

/** Returns the number of the first core that this process may use. */
function firstCore(): string {
  return /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
}

/** Variables of the caller that do not change what is measured. */
function inheritedEnv(): NodeJS.ProcessEnv {
  const unsafe = /^(?:OCTAVO_|NODE_|XDG_|npm_|CI$|GIT_)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !unsafe.test(name)));
}

/** Runs a program in an empty folder. Throws an error with its output if it fails. */
export async function runOnce(
  context: CaseContext,
  args: readonly string[],
  options: Pick<ProcessOptions, 'env' | 'oneCore'> & { readonly countModules?: boolean } = {},
): Promise<Run> {
  const cwd = mkdtempSync(join(context.folder, 'run-'));
  const [out, err] = [join(cwd, 'out.txt'), join(cwd, 'err.txt')];
  const files = [openSync(out, 'w'), openSync(err, 'w')];
  const account = join(dirname(context.installed.program('peer')), 'account.cjs');
  const started = performance.now();
  const child = startProcess(context, ['--require', account, ...args], {
    ...options,
    cwd,
    env: { ...options.env, ...(options.countModules === true ? { BENCH_COUNT_MODULES: '1' } : {}) },
    stdio: ['ignore', ...files, 'pipe'],
  });
  let usage = '';
  child.stdio[3]?.on('data', (piece: Buffer) => {
    usage += piece;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const wall = (performance.now() - started) / 1000;
  files.forEach(closeSync);
  if (code !== 0 || usage === '') {
    throw new Error(`${args.join(' ')} exited with ${code}: ${readFileSync(err, 'utf8').slice(-2000)}`);
  }
  return { ...(JSON.parse(usage) as Omit<Run, 'wall' | 'output'>), wall, output: readFileSync(out, 'utf8') };
}

/**
 * Runs each contender in turn, so that all run under the same conditions. The first round is not counted, except when
 * there is one run only.
 */
export async function alternate<Results extends Readonly<Record<string, unknown>>>(
  runs: number,
  contenders: { readonly [name in keyof Results]: () => Promise<Results[name]> },
): Promise<{ readonly [name in keyof Results]: readonly Results[name][] }> {
  const names = Object.keys(contenders) as (keyof Results)[];
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as {
    [name in keyof Results]: Results[name][];
  };
  const warmUps = runs > 1 ? 1 : 0;
  for (let round = 0; round < runs + warmUps; round += 1) {
    for (const name of names) {
      const result = await contenders[name]();
      if (round >= warmUps) {
        results[name].push(result);
      }
    }
  }
  return results;
}
