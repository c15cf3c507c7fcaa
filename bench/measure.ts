import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stage } from './stage.ts';

/** Resources that one process used, including its start. */
export interface Run {
  readonly wall: number;
  /** Seconds, user and system; without the programs it started itself, such as git. */
  readonly cpu: number;
  /** Peak memory, in megabytes. */
  readonly peak: number;
  readonly output: string;
}

/** Runs a program of the stage. Throws an error with its output if it fails. */
export async function runOnce(stage: Stage, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const [out, err] = [join(stage.folder, 'out.txt'), join(stage.folder, 'err.txt')];
  const files = [openSync(out, 'w'), openSync(err, 'w')];
  const started = performance.now();
  const child = spawn(process.execPath, ['--import', stage.program('account'), ...args], {
    cwd: stage.folder,
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', ...files, 'pipe'],
  });
  let account = '';
  child.stdio[3]?.on('data', (piece: Buffer) => {
    account += piece;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const wall = (performance.now() - started) / 1000;
  for (const file of files) {
    closeSync(file);
  }
  if (code !== 0) {
    throw new Error(`${args.join(' ')} ended with ${code}:\n${readFileSync(err, 'utf8').slice(-2000)}`);
  }
  const usage = JSON.parse(account) as NodeJS.ResourceUsage;
  return {
    wall,
    cpu: (usage.userCPUTime + usage.systemCPUTime) / 1e6,
    peak: usage.maxRSS / 1024,
    output: readFileSync(out, 'utf8'),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}
