/** Runs decK, which reconciles Kong: a program of the same kind as Octavo, but not written for Node. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { execFileSync } from '../test/support/programs.ts';
import { startProcess } from './measure.ts';
import { LATENCY } from './platform.ts';
import type { CaseContext } from './runner.ts';

/** Returns the path of decK; null, with a message, if it is not installed. */
export function findDeck(env: NodeJS.ProcessEnv = process.env): string | null {
  const program = env.DECK || 'deck';
  try {
    execFileSync(program, ['version'], { stdio: 'ignore' });
    return program;
  } catch {
    process.stderr.write(
      `decK is not compared: cannot run ${program}; install it (Debian: apt-get install deck), or set DECK to its path\n`,
    );
    return null;
  }
}

/** Creates as many consumers with decK as Octavo creates teams; returns the wall time in seconds. */
export async function runDeck(context: CaseContext, deck: string, count: number, parallel: number): Promise<number> {
  const state = join(context.folder, 'kong.yaml');
  const consumers = Array.from({ length: count }, (_, index) => `- username: team-${index}\n`);
  writeFileSync(state, `_format_version: "1.1"\nconsumers:\n${consumers.join('')}`);
  const kong = startProcess(context, [context.installed.program('kong'), String(LATENCY)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [address] = kong.stdout === null ? [] : ((await once(createInterface(kong.stdout), 'line')) as [string]);
  const args = ['sync', '--state', state, '--kong-addr', address ?? '', '--parallelism', String(parallel)];
  const started = performance.now();
  const { stdout } = await promisify(execFile)(deck, args, {
    env: { PATH: process.env.PATH, HOME: context.folder },
    signal: context.signal,
    maxBuffer: 16 * 1_048_576,
  });
  const wall = (performance.now() - started) / 1000;
  const exited = once(kong, 'exit');
  kong.kill('SIGTERM');
  await exited;
  if (!stdout.includes(`Created: ${count}\n`)) {
    throw new Error(`decK did not create ${count} consumers: ${stdout.slice(-500)}`);
  }
  return wall;
}
