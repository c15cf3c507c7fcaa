import { execFileSync } from './programs.ts';

/** Creates a named pipe, which blocks its readers until there is a writer. */
export function makeFifo(path: string): void {
  execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', path]);
}
