/** Runs Octavo in this process, which takes a fraction of the time that a process takes. */
import { Writable } from 'node:stream';
import { runCommandLine } from '../../src/cli.ts';
import type { Terminal } from '../../src/commands/cli/context.ts';
import { systemClock } from '../../src/core/clock.ts';
import { checkOutput, type Ended, OctavoRun, VERSION } from './octavo-process.ts';

interface InsideOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Overrides of the terminal. */
  readonly terminal?: Partial<Terminal>;
  readonly secrets?: readonly string[];
}

/** Runs a command in this process until it ends. */
export function octavoInside(args: readonly string[], options: InsideOptions): Promise<Ended> {
  return new OctavoInside(args, options).ended;
}

/** A run in this process. SIGTERM ends it in order; it cannot be killed. */
export class OctavoInside extends OctavoRun {
  readonly ended: Promise<Ended>;
  protected override exitCode: number | null = null;
  readonly #stop = new AbortController();

  constructor(args: readonly string[], options: InsideOptions) {
    super();
    this.ended = this.#run(args, options);
    // Callers that wait for the end receive the error; others wait for something else.
    this.ended.catch(() => {});
  }

  stop(): Promise<Ended> {
    this.#stop.abort();
    return this.ended;
  }

  /** Requests a pass of every daemon in this process. */
  hangUp(): void {
    process.emit('SIGHUP');
  }

  async #run(args: readonly string[], { cwd, env = {}, terminal, secrets }: InsideOptions): Promise<Ended> {
    const err = (text: string) => {
      this.stderr += text;
    };
    const code = await runCommandLine(args, {
      terminal: {
        out: (text) => {
          this.stdout += text;
        },
        err,
        isOutTerminal: false,
        isErrTerminal: false,
        columns: 100,
        ask: null,
        env,
        cwd,
        ...terminal,
      },
      logDestination: new Writable({
        write: (chunk, _encoding, done) => {
          err(String(chunk));
          done();
        },
      }),
      clock: systemClock,
      random: () => 0.5,
      version: VERSION,
      root: new URL('../../', import.meta.url),
      signal: this.#stop.signal,
      secrets: new Set(secrets),
    });
    this.exitCode = code;
    return checkOutput({ code, stdout: this.stdout, stderr: this.stderr });
  }
}
