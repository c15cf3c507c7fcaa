/** Identifies the source of a checkout, so that a build is only used while it matches. */
// Not `hash`: an older Node has no such export, and must get as far as starting the checkout's own Node.
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';

/** Files outside `src` that a build depends on. */
const OTHERS = ['package.json', 'package-lock.json', 'scripts/build.ts', 'scripts/undici.cjs', 'tsconfig.json'];

/**
 * Returns a digest of the names, sizes and modification times of all files that a build is made from.
 *
 * @param {string} root Root of the checkout.
 * @returns {string}
 */
export function sourceDigest(root) {
  const lines = [...filesBelow(root, 'src'), ...OTHERS].sort().map((path) => {
    const { size, mtimeMs } = statSync(`${root}/${path}`, { throwIfNoEntry: false }) ?? { size: 0, mtimeMs: 0 };
    return `${path} ${size} ${mtimeMs}\n`;
  });
  return createHash('sha256').update(lines.join('')).digest('hex');
}

/**
 * Returns the paths of all files below a folder. Every command of a checkout waits for it: `recursive`, `join` and
 * `relative` take twice as long.
 *
 * @param {string} root
 * @param {string} folder
 * @returns {string[]}
 */
function filesBelow(root, folder) {
  return readdirSync(`${root}/${folder}`, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}
