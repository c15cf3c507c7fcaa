/** Ends the processes of the demonstration, and removes its directories, if the demonstration itself is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Milliseconds that processes have to end before they are killed. */
const PATIENCE = 15_000;

/**
 * Program of the guard. Its input ends when the demonstration does, in whatever way. It needs no file of the package, so that
 * it is the same in a build and in a checkout.
 */
const PROGRAM = `
const { rmSync } = require('node:fs');
const processes = [];
const directories = [];
const send = (pid, signal) => { try { return process.kill(pid, signal); } catch { return false; } };
const end = async () => {
  for (const { pid, signal } of processes) send(pid, signal);
  const limit = Date.now() + ${PATIENCE};
  while (processes.some(({ pid }) => send(pid, 0)) && Date.now() < limit) {
    await new Promise((done) => setTimeout(done, 50));
  }
  for (const { pid } of processes) send(pid, 'SIGKILL');
  for (const path of directories) rmSync(path, { recursive: true, force: true });
};
let rest = '';
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    const entry = JSON.parse(line);
    if (entry.ended !== undefined) processes.splice(0, Infinity, ...processes.filter(({ pid }) => pid !== entry.ended));
    else if (entry.path === undefined) processes.push(entry);
    else directories.push(entry.path);
  }
}).on('end', end);
`;

/** A process that outlives the demonstration by the time that it needs to clean up. */
export class ChildGuard implements AsyncDisposable {
  readonly #guard: ChildProcess;

  constructor() {
    const stdio = ['pipe', 'ignore', 'ignore'] as const;
    // Ctrl-C in the terminal ends the demonstration, which cleans up itself.
    this.#guard = spawn(process.execPath, ['-e', PROGRAM], { stdio: [...stdio], cwd: '/', detached: true });
    this.#guard.on('error', () => undefined);
    this.#guard.stdin?.on('error', () => undefined);
  }

  /** Ends a process by this signal if the demonstration is killed before it has ended. */
  watch(child: ChildProcess, signal: NodeJS.Signals): void {
    const { pid } = child;
    if (pid !== undefined) {
      this.#write({ pid, signal });
      // Its id may belong to another process later.
      child.once('exit', () => this.#write({ ended: pid }));
    }
  }

  /** Removes a directory if the demonstration is killed. */
  removeLater(path: string): void {
    this.#write({ path });
  }

  /** Ends the guard, which then does nothing. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#guard.exitCode === null && this.#guard.signalCode === null && this.#guard.pid !== undefined) {
      const ended = once(this.#guard, 'exit');
      this.#guard.kill('SIGKILL');
      await ended;
    }
  }

  #write(entry: object): void {
    this.#guard.stdin?.write(`${JSON.stringify(entry)}\n`);
  }
}
