import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { JqResult } from 'jq-wasm';
import { AppError, CancelledError, ConfigError } from '../../core/errors.ts';

/** A jq program that is ready to run. */
export interface Selection {
  /** What it makes of values, one after the other. Throws SelectionError, and CancelledError when the signal aborts. */
  select(values: readonly unknown[]): Promise<Selected>;
  close(): Promise<void>;
}

export interface Selected {
  readonly values: readonly unknown[];
  /** What the program says besides, as with `debug`. */
  readonly said: string;
}

/** The program does not fit what was answered. */
class SelectionError extends AppError {
  readonly code = 'selection';
  readonly disposition = 'stall';
}

/** What jq exits with where the program itself is wrong. */
const NOT_COMPILED = 3;

/**
 * Compiles a jq program, before anything is sent: a write should not be done and then not be shown. Throws ConfigError.
 */
export async function openSelection(program: string, signal: AbortSignal): Promise<Selection> {
  const { run, close } = startJq(program, signal);
  const tried = await run('');
  if (tried.exitCode === NOT_COMPILED) {
    await close();
    throw new ConfigError(`--jq: ${wordsOf(tried.stderr)}`);
  }
  return {
    close,
    async select(values) {
      const { stdout, stderr, exitCode } = await run(values.map((value) => JSON.stringify(value)).join('\n'));
      if (exitCode !== 0 || /^jq: error/m.test(stderr)) {
        throw new SelectionError(`--jq: ${wordsOf(stderr)}`);
      }
      const lines = stdout.split('\n').filter((line) => line !== '');
      return { values: lines.map((line) => JSON.parse(line) as unknown), said: stderr };
    },
  };
}

interface Thread {
  readonly run: (input: string) => Promise<JqResult>;
  readonly close: () => Promise<void>;
}

/** What the thread does: what comes in is given to the program, and what that says goes back. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const ready = require(workerData.jq).loadJq();
parentPort.on('message', async (input) => {
  parentPort.postMessage((await ready).raw(input, workerData.program, ['-c']));
});`;

/** Runs in a thread of its own: a program may be endless, and whoever waits must be able to end it. */
function startJq(program: string, signal: AbortSignal): Thread {
  const jq = createRequire(import.meta.url).resolve('jq-wasm');
  const worker = new Worker(THREAD, { eval: true, workerData: { jq, program } });
  worker.unref();
  const close = async () => {
    await worker.terminate();
  };
  const run = async (input: string) => {
    worker.ref();
    worker.postMessage(input);
    try {
      const [ran] = (await once(worker, 'message', { signal })) as [JqResult];
      return ran;
    } catch (error) {
      await close();
      throw signal.aborted ? new CancelledError('--jq was cancelled') : error;
    } finally {
      worker.unref();
    }
  };
  return { run, close };
}

/** jq's own words, without what is about its command line. */
function wordsOf(stderr: string): string {
  const line = stderr.split('\n').find((one) => one.includes('jq: error')) ?? stderr.split('\n')[0] ?? '';
  return line
    .replace(/^jq: error( \(at [^)]*\))?:\s*/, '')
    .replace(' at <top-level>,', ',')
    .replace(/:$/, '')
    .trim();
}
