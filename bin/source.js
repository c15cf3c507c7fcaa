/** Identifies the source of a checkout, so that a build is only used while it matches. */
// Not `hash`: an older Node has no such export, and must get as far as starting the checkout's own Node.
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Files outside `src` that a build depends on. */
const OTHERS = ['package.json', 'package-lock.json', 'scripts/build.ts', 'scripts/undici.cjs', 'tsconfig.json'];

/**
 * Returns a digest of the names, sizes and modification times of all files that a build is made from.
 *
 * @param {string} root Root of the checkout.
 * @returns {string}
 */
export function sourceDigest(root) {
  const source = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  const lines = [...source, ...OTHERS.map((name) => join(root, name))].sort().map((path) => {
    const { size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0, mtimeMs: 0 };
    return `${relative(root, path)} ${size} ${mtimeMs}\n`;
  });
  return createHash('sha256').update(lines.join('')).digest('hex');
}
