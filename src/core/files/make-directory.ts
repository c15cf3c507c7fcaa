/** Creates directories. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a directory and its missing parents, with this mode. Throws the error of the file system. The recursive mkdir
 * of Node never ends where nothing can be created but creation answers "does not exist", such as in /proc.
 */
export function makeDirectory(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = resolve(path); !isDirectory(at); at = dirname(at)) {
    missing.push(at);
  }
  for (const each of missing.reverse()) {
    try {
      mkdirSync(each, { mode });
    } catch (error) {
      // Another process may have created it.
      if (!isDirectory(each)) {
        throw error;
      }
    }
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
