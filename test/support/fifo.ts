import { execFileSync } from 'node:child_process';

/** Makes a named pipe, which keeps whoever opens it waiting for a writer. */
export function makeFifo(path: string): void {
  execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', path]);
}
