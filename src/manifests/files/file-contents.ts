import { posix } from 'node:path';
import { messageOf, SourceError } from '../../core/errors.ts';
import type { FileEntry, FileTree } from '../../core/files/file-tree.ts';
import { isInGitFolder } from '../../core/files/git-folder.ts';
import { quote, type Suggestions } from '../../core/text/suggest.ts';
import { FileContent } from '../../kinds/model/manifest.ts';

/** A file that a manifest names, and how to tell whether it is still the one that was read. */
export interface NamedDependency {
  /** As named, from the tree's root. */
  readonly path: string;
  /** After following links; the same as `path` where it could not be followed. */
  readonly resolved: string;
  /** Null where only reading it again tells. */
  readonly version: string | null;
}

export interface NamedContent {
  readonly content: FileContent | null;
  readonly problem: string | null;
  readonly dependency: NamedDependency | null;
}

/** What of a tree the loader looks at while it reads the files of one load. */
export interface ListedTree {
  readonly tree: FileTree;
  readonly entries: ReadonlyMap<string, FileEntry>;
  /** For names of files that are not there. */
  readonly suggestions: Suggestions;
}

/** Reads the file that `{ file }` names, from the manifest at `from`. */
export async function readNamedFile(
  listed: ListedTree,
  from: string,
  file: string,
  limit: number,
): Promise<NamedContent> {
  const path = posix.normalize(posix.join(posix.dirname(from), file));
  const refused = refuse(file, path);
  if (refused !== null) {
    return { content: null, problem: refused, dependency: null };
  }
  let resolved = path;
  const problem = (message: string): NamedContent => ({
    content: null,
    problem: message,
    dependency: dependencyOf(listed, path, resolved),
  });
  try {
    resolved = await listed.tree.resolve(path);
    await listed.tree.checkNamed(path);
    const size = listed.entries.get(resolved)?.size ?? 0;
    const bytes = size > limit ? null : await listed.tree.read(path);
    if (bytes === null || bytes.byteLength > limit) {
      return problem(`${quote(file)} is ${megabytes(bytes?.byteLength ?? size)}; the limit is ${megabytes(limit)}`);
    }
    const text = decodeUtf8(bytes);
    return text === null
      ? problem(`${quote(file)} is not UTF-8 text; use a text file`)
      : { content: new FileContent(file, path, text), problem: null, dependency: dependencyOf(listed, path, resolved) };
  } catch (error) {
    if (!(error instanceof SourceError)) {
      throw error;
    }
    return problem(`cannot read ${quote(file)}: ${messageOf(error)}${similar(listed, path)}`);
  }
}

function refuse(file: string, path: string): string | null {
  if (posix.isAbsolute(file) || /^[A-Za-z]:[\\/]/.test(file)) {
    return `${quote(file)} is an absolute path; use a path relative to this manifest`;
  }
  if (path === '..' || path.startsWith('../')) {
    return `${quote(file)} is outside the manifest directory; use a file inside it`;
  }
  if (isInGitFolder(path)) {
    return `${quote(file)} is inside .git; use a file outside it`;
  }
  return file.includes('\0') || file === ''
    ? `${quote(file)} is not a path; use a path relative to this manifest`
    : null;
}

function similar(listed: ListedTree, path: string): string {
  const near = listed.entries.has(path) ? null : listed.suggestions.nearest(path, listed.entries);
  return near === null ? '' : `; did you mean ${quote(near)}?`;
}

function dependencyOf(listed: ListedTree, path: string, resolved: string): NamedDependency {
  return { path, resolved, version: versionOf(listed, path, resolved) };
}

function versionOf(listed: ListedTree, path: string, resolved: string): string | null {
  const version = listed.entries.get(path)?.version ?? null;
  const target = path === resolved ? version : (listed.entries.get(resolved)?.version ?? null);
  return version === null || target === null ? null : `${version}\n${target}`;
}

/** Whether a named file is still as it was read. */
export function isUnchanged(listed: ListedTree, dependency: NamedDependency): boolean {
  return dependency.version !== null && dependency.version === versionOf(listed, dependency.path, dependency.resolved);
}

/** Strictly: null when a byte is not UTF-8. A byte order mark is dropped. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** A size for a person, rounded up so that what is too large never looks as if it were not. */
export function megabytes(bytes: number): string {
  return `${Math.ceil((bytes / 1_048_576) * 10) / 10} MB`;
}
