import { isUtf8 } from 'node:buffer';
import { posix } from 'node:path';
import { messageOf, SourceError } from '../../core/errors.ts';
import type { FileEntry, FileTree } from '../../core/files/file-tree.ts';
import { isInGitFolder } from '../../core/files/git-folder.ts';
import { isLfsPointer, LFS_POINTER } from '../../core/files/lfs-pointer.ts';
import { quote, type Suggestions } from '../../core/text/suggest.ts';
import { FileContent } from '../../kinds/model/manifest.ts';

/** A file that a manifest refers to, with the version that was read. */
export interface NamedDependency {
  /** Path as referred to, relative to the tree's root. */
  readonly path: string;
  /** Path after following links; the same as `path` if they could not be followed. */
  readonly resolved: string;
  /** Null if only the content shows whether the file has changed. */
  readonly version: string | null;
}

export interface NamedContent {
  readonly content: FileContent | null;
  readonly problem: string | null;
  readonly dependency: NamedDependency | null;
}

/** A tree and its file list, as of the start of one load. */
export interface ListedTree {
  readonly tree: FileTree;
  readonly entries: ReadonlyMap<string, FileEntry>;
  /** Suggestions for references to files that do not exist. */
  readonly suggestions: Suggestions;
}

/** Reads the file that `{ file }` refers to, relative to the manifest at `from`. */
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
    if (text !== null && isLfsPointer(text)) {
      return problem(`${quote(file)} ${POINTER_PROBLEM}`);
    }
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

/** Reports whether a referenced file is unchanged since it was read. */
export function isUnchanged(listed: ListedTree, dependency: NamedDependency): boolean {
  return dependency.version !== null && dependency.version === versionOf(listed, dependency.path, dependency.resolved);
}

/** Says what is wrong with a Git LFS pointer among manifests, and what to do. */
export const POINTER_PROBLEM = `${LFS_POINTER}; store the file in git itself: Octavo runs no filters of a repository`;

/** Decodes UTF-8 strictly: returns null for an invalid byte. Removes a byte order mark. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  if (!isUtf8(bytes)) {
    return null;
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}
const BYTE_ORDER_MARK = 0xfeff;

/** Formats a size, rounded up so that a size above a limit is never shown as equal to the limit. */
export function megabytes(bytes: number): string {
  return `${Math.ceil((bytes / 1_048_576) * 10) / 10} MB`;
}
