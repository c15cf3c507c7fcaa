/** Runs the jq program of `--jq` in a worker thread. */
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { JqResult } from 'jq-wasm';
import { AppError, CancelledError, ConfigError } from '../../core/errors.ts';

/** A compiled jq program. */
export interface JqFilter {
  /** Runs the program on each value. Throws JqError, and CancelledError when the signal aborts. */
  select(values: readonly unknown[]): Promise<JqOutput>;
  close(): Promise<void>;
}

export interface JqOutput {
  readonly values: readonly unknown[];
  /** Diagnostic output of the program, such as that of `debug`. */
  readonly messages: string;
}

/** The program failed on the response. */
class JqError extends AppError {
  readonly code = 'selection';
  readonly disposition = 'stall';
}

/** Exit code of jq for a program that does not compile. */
const NOT_COMPILED = 3;

/** Compiles a jq program before the request is sent, so that no write happens with a broken one. Throws ConfigError. */
export async function openJqFilter(program: string, signal: AbortSignal): Promise<JqFilter> {
  const { run, close } = startJq(program, signal);
  const tried = await run('');
  if (tried.exitCode === NOT_COMPILED) {
    await close();
    throw new ConfigError(`--jq: ${errorText(tried.stderr)}`);
  }
  return {
    close,
    async select(values) {
      const { stdout, stderr, exitCode } = await run(values.map((value) => JSON.stringify(value)).join('\n'));
      if (exitCode !== 0 || /^jq: error/m.test(stderr)) {
        throw new JqError(`--jq: ${errorText(stderr)}`);
      }
      const lines = stdout.split('\n').filter((line) => line !== '');
      return { values: lines.map((line) => JSON.parse(line) as unknown), messages: stderr };
    },
  };
}

interface Thread {
  readonly run: (input: string) => Promise<JqResult>;
  readonly close: () => Promise<void>;
}

/** Source of the worker: runs the program on each message and posts the result. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const ready = require(workerData.jq).loadJq();
parentPort.on('message', async (input) => {
  parentPort.postMessage((await ready).raw(input, workerData.program, ['-c']));
});`;

/** Starts the worker. A thread can be terminated even when the program never ends. */
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

/** Extracts the message of jq, without the parts about its command line. */
function errorText(stderr: string): string {
  const line = stderr.split('\n').find((one) => one.includes('jq: error')) ?? stderr.split('\n')[0] ?? '';
  return line
    .replace(/^jq: error( \(at [^)]*\))?:\s*/, '')
    .replace(' at <top-level>,', ',')
    .replace(/:$/, '')
    .trim();
}
