import { mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { ConfigError, messageOf } from '../../core/errors.ts';
import type { ImportedFile } from '../../import/text/layout.ts';
import { printable } from '../../plan/render/words.ts';

/**
 * Writes files into a folder, referenced files before those that refer to them. Never overwrites a file that has changed
 * since it was read, and writes nothing if the folder of any file cannot be created. Throws ConfigError.
 */
export async function writeImported(root: string, files: readonly ImportedFile[]): Promise<void> {
  for (const { path } of files) {
    await checkParents(root, path);
  }
  const order = (file: ImportedFile) => (file.addresses.length === 0 ? 0 : file.before === null ? 1 : 2);
  for (const file of files.toSorted((a, b) => order(a) - order(b))) {
    const path = join(root, file.path);
    try {
      await mkdir(dirname(path), { recursive: true });
      if (file.before !== null && (await readFile(path, 'utf8')) !== file.before) {
        throw new Error('the file has changed since it was read; run import again');
      }
      await writeFile(path, file.text, { flag: file.before === null ? 'wx' : 'w' });
    } catch (error) {
      throw new ConfigError(`cannot write ${printable(file.path)}: ${messageOf(error)}`, { cause: error });
    }
  }
}

/** Checks that the parent folders of a file are inside the root; plans would not read files elsewhere. */
async function checkParents(root: string, path: string): Promise<void> {
  const within = await realpath(root).catch(() => null);
  const parts = path.split('/').slice(0, -1);
  for (let length = 1; within !== null && length <= parts.length; length += 1) {
    const folder = parts.slice(0, length).join('/');
    const real = await realpath(join(root, folder)).catch(() => null);
    if (real === null) {
      return;
    }
    const inside = relative(within, real);
    const isInside = inside !== '..' && !inside.startsWith(`..${sep}`);
    if (!isInside || !(await stat(real)).isDirectory()) {
      const what = isInside ? 'is not a directory' : 'is a link that leaves the manifest directory';
      throw new ConfigError(`cannot write ${printable(path)}: ${printable(folder)} ${what}`);
    }
  }
}
