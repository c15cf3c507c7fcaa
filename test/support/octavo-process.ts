import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../bin/octavo.js', import.meta.url));
/** Compiled code that the processes of all tests share, in a directory that git ignores. */
const CACHE = fileURLToPath(new URL('../../.octavo/test-cache', import.meta.url));

/** What every test's token looks like. Whatever a process writes is searched for it. */
export const TOKEN = 'tok-5e1f0c77-never-to-be-seen';

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What a shell does in the process before it becomes Octavo, such as setting a limit. */
  readonly shell?: string;
}

/** One line of the daemon's log. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly organization?: string;
  readonly [name: string]: unknown;
}

/** A process of Octavo. Nothing of the surroundings reaches it but the path, and no git settings. */
export class OctavoProcess {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly #ended: Promise<Ended>;

  constructor(args: readonly string[], { cwd, env = {}, shell }: ProcessOptions) {
    const command = [process.execPath, BIN, ...args];
    const [program = '', ...rest] =
      shell === undefined ? command : ['sh', '-c', `${shell}; exec "$@"`, 'sh', ...command];
    this.child = spawn(program, rest, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: cwd,
        TMPDIR: process.env.TMPDIR,
        XDG_CACHE_HOME: CACHE,
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
    this.#ended = once(this.child, 'close').then(([code]) => this.#end(code as number | null));
    // Whoever waits for the end hears of it; others wait for something else.
    this.#ended.catch(() => {});
  }

  /** Resolves when the process has ended; rejects where it wrote a token or a stack trace. */
  get ended(): Promise<Ended> {
    return this.#ended;
  }

  /** The complete lines of the log so far. */
  get log(): readonly LogLine[] {
    return this.stderr
      .split('\n')
      .slice(0, -1)
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []));
  }

  /** Lines of the log whose message contains a text. */
  /** Lines of the log with this message; `detail` is part of one of their fields. */
  said(text: string, detail = ''): readonly LogLine[] {
    return this.log.filter((line) => line.msg.includes(text) && JSON.stringify(line).includes(detail));
  }

  /** Waits for a line of the log; fails when the process ends first. */
  async says(text: string, times = 1, detail = ''): Promise<LogLine> {
    return eventually(`the log to say "${text}" ${detail}`, () => this.#line(text, times, detail));
  }

  #line(text: string, times: number, detail: string): LogLine | null {
    const found = this.said(text, detail);
    const line = found[times - 1];
    if (line === undefined && this.child.exitCode !== null) {
      throw new Error(`the process ended with ${this.child.exitCode}:\n${this.stderr}`);
    }
    return line ?? null;
  }

  /** Asks it to end, and waits for that. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.child.kill(signal);
    return this.#ended;
  }

  #end(code: number | null): Ended {
    return seemly({ code, stdout: this.stdout, stderr: this.stderr });
  }
}

/** What was written, unless a token or a stack trace was. */
export function seemly(ended: Ended): Ended {
  const all = ended.stdout + ended.stderr;
  if (all.includes(TOKEN)) {
    throw new Error(`the token was written:\n${all}`);
  }
  if (/^\s+at .*:\d+:\d+\)?$/m.test(all) || all.includes('"stack"')) {
    throw new Error(`a stack trace was written:\n${all}`);
  }
  return ended;
}

/** Runs a command to its end. */
export async function octavo(args: readonly string[], options: ProcessOptions): Promise<Ended> {
  return new OctavoProcess(args, options).ended;
}

/** Asks again and again until there is something other than null or false; fails after 40 s. */
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
