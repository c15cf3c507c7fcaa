import { posix } from 'node:path';
import { SourceError } from '../core/errors.ts';

/** Maximum links in a row, as in Linux. */
const MOST_LINKS = 40;

/**
 * Follows symbolic links inside a tree, as a file system would; `links` has the targets by path. Pure. Throws
 * SourceError if a link leaves the tree or is circular.
 */
export function followLinks(path: string, links: ReadonlyMap<string, string>): string {
  let waiting = parts(path);
  const done: string[] = [];
  let followed = 0;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (next === '..') {
      if (done.pop() === undefined) {
        throw new SourceError(`${path} is outside the repository; use a file inside it`);
      }
      continue;
    }
    done.push(next);
    const target = links.get(done.join('/'));
    if (target === undefined) {
      continue;
    }
    followed += 1;
    if (followed > MOST_LINKS) {
      throw new SourceError(`${path} is a circular symbolic link; replace it with a file`);
    }
    if (posix.isAbsolute(target)) {
      throw new SourceError(
        `${path} is a symbolic link to ${target}, outside the repository; link to a file inside it`,
      );
    }
    done.pop();
    waiting = [...parts(target), ...waiting];
  }
  return done.join('/');
}

function parts(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}
