/** Runs Octavo as a process. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { endWithParent } from './end-with-parent.ts';
import { spawn } from './programs.ts';

/** Version of the program, of processes and of daemons in the process of a test. */
export const { version: VERSION } = createRequire(import.meta.url)('../../package.json') as {
  readonly version: string;
};

const BIN = fileURLToPath(new URL('../../bin/octavo.js', import.meta.url));

/** Prefix of every test token. All output of a process is searched for it. */
export const TOKEN = 'tok-5e1f0c77-never-to-be-seen';

/** Result of a command. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Shell commands that run in the process before it becomes Octavo, such as setting a limit. */
  readonly shell?: string;
}

/** One line of the daemon's log. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly organization?: string;
  readonly [name: string]: unknown;
}

/** A run of Octavo: a process, or the program in this process. */
export abstract class OctavoRun {
  stdout = '';
  stderr = '';
  readonly #log: LogLine[] = [];
  /** Length of the output whose lines are in the log: tests ask for it many times a second. */
  #logEnd = 0;

  /** Resolves when the run has ended; rejects if it wrote a token or a stack trace. */
  abstract readonly ended: Promise<Ended>;

  /** Exit code; null while it runs. */
  protected abstract readonly exitCode: number | null;

  /** Sends a signal, and waits for the end of the run. */
  abstract stop(signal?: NodeJS.Signals): Promise<Ended>;

  /** Sends SIGHUP, which requests a pass. */
  abstract hangUp(): void;

  /** The complete lines of the log so far. */
  get log(): readonly LogLine[] {
    const end = this.stderr.lastIndexOf('\n') + 1;
    const added = this.stderr.slice(this.#logEnd, end).split('\n');
    this.#log.push(...added.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : [])));
    this.#logEnd = end;
    return this.#log;
  }

  /** Lines of the log whose message contains a text; `detail` is part of one of their fields. */
  logged(text: string, detail = ''): readonly LogLine[] {
    return this.log.filter((line) => line.msg.includes(text) && JSON.stringify(line).includes(detail));
  }

  /** Waits for a line of the log; rejects if the run ends first. */
  async waitForLog(text: string, times = 1, detail = '', seconds = 40): Promise<LogLine> {
    return eventually(`the log to say "${text}" ${detail}`, () => this.#line(text, times, detail), seconds);
  }

  #line(text: string, times: number, detail: string): LogLine | null {
    const found = this.logged(text, detail);
    const line = found[times - 1];
    if (line === undefined && this.exitCode !== null) {
      throw new Error(`octavo ended with ${this.exitCode}:\n${this.stderr}`);
    }
    return line ?? null;
  }
}

/** A process of Octavo. It inherits only the path from the environment, and no git settings. It ends with this process. */
export class OctavoProcess extends OctavoRun {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;

  constructor(args: readonly string[], { cwd, env = {}, shell }: ProcessOptions) {
    super();
    const command = [process.execPath, BIN, ...args];
    const [program = '', ...rest] =
      shell === undefined ? command : ['sh', '-c', `${shell}; exec "$@"`, 'sh', ...command];
    // The demonstration ends the processes that it started.
    this.child = spawn(...endWithParent(program, rest, args[0] === 'demo' ? 'TERM' : 'KILL'), {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: cwd,
        TMPDIR: process.env.TMPDIR,
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_NOSYSTEM: '1',
        ...env,
      },
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.ended = once(this.child, 'close').then(([code]) => this.#end(code as number | null));
    // Callers that wait for the end receive the error; others wait for something else.
    this.ended.catch(() => {});
  }

  protected override get exitCode(): number | null {
    return this.child.exitCode;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }

  hangUp(): void {
    this.child.kill('SIGHUP');
  }

  #end(code: number | null): Ended {
    return checkOutput({ code, stdout: this.stdout, stderr: this.stderr });
  }
}

/** Returns the output. Throws if it contains a token or a stack trace. */
export function checkOutput(ended: Ended): Ended {
  const all = ended.stdout + ended.stderr;
  if (all.includes(TOKEN)) {
    throw new Error(`the token was written:\n${all}`);
  }
  if (/^\s+at .*:\d+:\d+\)?$/m.test(all) || all.includes('"stack"')) {
    throw new Error(`a stack trace was written:\n${all}`);
  }
  return ended;
}

/** Runs a command until it exits. */
export async function octavo(args: readonly string[], options: ProcessOptions): Promise<Ended> {
  return new OctavoProcess(args, options).ended;
}

/** Polls until the result is neither null nor false; rejects after 40 s. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | false> | T | null | false,
  seconds = 40,
): Promise<T> {
  const until = performance.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== null && found !== false) {
      return found;
    }
    if (performance.now() > until) {
      throw new Error(`waited ${seconds} s for ${what}`);
    }
    await pause(20);
  }
}
