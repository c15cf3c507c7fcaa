/** A replica of the demonstration: the daemon in a process of its own, so that it can be killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { AppError, EXIT } from '../../core/errors.ts';
import type { ChildGuard } from './child-guard.ts';

/** Most of its log that is kept for an error, in characters. */
const TAIL = 2000;

/** The replica did not start. */
class ReplicaError extends AppError {
  readonly code = 'demo-replica';
  readonly disposition = 'stall';
  override readonly exitCode = EXIT.failed;
}

interface ReplicaOptions {
  /** Root directory of the package. */
  readonly root: URL;
  readonly config: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly guard: ChildGuard;
  readonly onEnd: (replica: ReplicaProcess) => void;
}

/** A running replica. */
export class ReplicaProcess {
  /** Name in the output, such as `replica 1`. */
  readonly name: string;
  readonly pid: number;
  /** URL of the web page, once it is served. */
  page = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #log = '';

  /** Starts `octavo run` with a configuration whose log is JSON. */
  constructor(name: string, options: ReplicaOptions) {
    const program = fileURLToPath(new URL('bin/octavo.js', options.root));
    this.name = name;
    this.#child = spawn(process.execPath, [program, 'run', '--config', options.config], {
      cwd: options.directory,
      env: { PATH: options.env.PATH, HOME: options.directory, TMPDIR: options.env.TMPDIR },
      stdio: ['ignore', 'ignore', 'pipe'],
      // Ctrl-C in the terminal ends the demonstration, which then ends the replicas.
      detached: true,
    });
    options.guard.watch(this.#child, 'SIGTERM');
    this.pid = this.#child.pid ?? 0;
    this.#ended = once(this.#child, 'close').then(() => options.onEnd(this));
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Ends it; SIGTERM gives its leases away, SIGKILL does not. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#child.kill(signal);
    await this.#ended;
  }

  /** Waits until its page is served. Throws ReplicaError if it ends before. */
  untilServed(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        this.#log = (this.#log + text).slice(-TAIL);
        const [, page] = /"address":"([^"]+)"[^\n]*"msg":"web page is served"/.exec(this.#log) ?? [];
        if (page !== undefined && this.page === '') {
          this.page = page;
          resolve();
        }
      });
      void this.#ended.then(() => reject(new ReplicaError(`${this.name} did not start:\n${this.#log.trim()}`)));
    });
  }
}
