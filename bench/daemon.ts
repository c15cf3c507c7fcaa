/** A daemon in a process of its own, which tells by its log what it does. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess } from './measure.ts';
import type { CaseContext } from './runner.ts';

/** Milliseconds without a log line after which a daemon is considered stuck. */
const PATIENCE = 60_000;

interface LogLine {
  readonly msg: string;
  readonly address?: string;
  /** Result of a pass, when it ends. */
  readonly outcome?: 'done' | 'held' | 'failed';
}

export interface Daemon {
  readonly child: ChildProcess;
  /** Reads the log until a line matches. */
  waitFor(matches: (line: LogLine) => boolean): Promise<LogLine>;
  stop(): Promise<void>;
}

/** Starts a daemon with a configuration and more options of `octavo run`. Its log must be JSON. */
export function startDaemon(context: CaseContext, config: string, ...options: readonly string[]): Daemon {
  const args = [context.installed.octavo, 'run', '--config', config, ...options];
  const child = startProcess(context, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  if (child.stderr === null) {
    throw new Error('the log of the daemon cannot be read');
  }
  const lines = createInterface(child.stderr)[Symbol.asyncIterator]();
  return {
    child,
    async waitFor(matches) {
      let last = '';
      for (;;) {
        const next = await Promise.race([lines.next(), sleep(PATIENCE, null, { ref: false })]);
        if (next === null || next.done === true) {
          throw new Error(`the daemon ${next === null ? 'logs nothing more' : 'exited'} after: ${last}`);
        }
        last = next.value;
        const line = JSON.parse(last) as LogLine;
        if (matches(line)) {
          return line;
        }
      }
    },
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}
