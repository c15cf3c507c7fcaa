/** Reads objects of a repository, many with one process. */
import type { Git, GitOptions } from './run.ts';

/** Opens git on the repository of the objects. */
type OpenGit = (options: Pick<GitOptions, 'input'>) => Git;

export interface ObjectInfo {
  readonly id: string;
  readonly type: string;
}

export interface GitObject extends ObjectInfo {
  readonly content: Buffer;
}

/** Finds objects by names such as `main^{commit}`; null for an object that does not exist. */
export async function findObjects(open: OpenGit, names: readonly string[]): Promise<readonly (ObjectInfo | null)[]> {
  const output = await open({ input: linesOf(names) }).raw(['cat-file', '--batch-check']);
  const lines = output.split('\n');
  return names.map((_, index) => {
    const [, id, type] = /^([0-9a-f]+) (\w+) \d+$/.exec(lines[index] ?? '') ?? [];
    return id === undefined || type === undefined ? null : { id, type };
  });
}

/** Reads objects by names such as `main^{commit}`, in their order. Throws if an object does not exist. */
export async function readObjects(open: OpenGit, names: readonly string[]): Promise<readonly GitObject[]> {
  const output = await open({ input: linesOf(names) }).bytes(['--batch']);
  const objects: GitObject[] = [];
  for (let offset = 0; offset < output.length; ) {
    const end = output.indexOf(10, offset);
    const line = output.toString('utf8', offset, end);
    const [, id = '', type = '', size] = /^([0-9a-f]+) (\w+) (\d+)$/.exec(line) ?? [];
    if (size === undefined) {
      throw new Error(`the object ${names[objects.length]} does not exist; check the repository with git fsck`);
    }
    objects.push({ id, type, content: output.subarray(end + 1, end + 1 + Number(size)) });
    offset = end + 1 + Number(size) + 1;
  }
  return objects;
}

/** Returns the input of `git cat-file`. A name with a line break would be read as two names. */
function linesOf(names: readonly string[]): string {
  return names.map((name) => `${name.replaceAll('\n', '\ufffd')}\n`).join('');
}
