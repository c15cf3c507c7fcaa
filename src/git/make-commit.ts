// Creates trees and commits without touching the work tree, and reads commits.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SourceError } from '../core/errors.ts';
import { requireRepository } from './repository.ts';
import { type GitOptions, gitFailure, openGit } from './run.ts';
import { isCommitId } from './safe-names.ts';

/** Milliseconds without output after which git is stopped. */
const TIMEOUT = 60_000;

export interface Author {
  readonly name: string;
  readonly email: string;
}

/** File that a commit changes. Blobs are ids; null: the file does not exist. */
export interface FileChange {
  readonly path: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** Tree based on that of a commit. */
export interface NewTree {
  readonly id: string;
  readonly changes: readonly FileChange[];
}

/** Commit that was read. */
export interface ReadCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** Changes compared with its first parent. */
  readonly changes: readonly FileChange[];
}

/**
 * Creates the tree of a commit with new contents for some of its existing files. Writes only objects: it uses a
 * separate index and runs no filters of the repository. Throws SourceError.
 */
export async function makeTree(
  directory: string,
  commit: string,
  texts: ReadonlyMap<string, string>,
): Promise<NewTree> {
  const scratch = await mkdtemp(join(tmpdir(), 'octavo-index-'));
  const git = (input?: string) =>
    gitIn(directory, {
      env: { GIT_INDEX_FILE: join(scratch, 'index') },
      ...(input === undefined ? {} : { input }),
    });
  try {
    await git().raw(['read-tree', `${commit}^{tree}`]);
    const entries = await modesOf(directory, commit);
    const lines: string[] = [];
    for (const [path, text] of texts) {
      const mode = entries.get(path);
      if (mode === undefined) {
        throw new SourceError(`${path} is not a file in ${commit.slice(0, 7)}`);
      }
      const blob = (await git(text).raw(['hash-object', '-w', '--stdin'])).trim();
      lines.push(`${mode} ${blob}\t${path}\0`);
    }
    await git(lines.join('')).raw(['update-index', '-z', '--index-info']);
    const id = (await git().raw(['write-tree'])).trim();
    return { id, changes: await changesBetween(directory, commit, id) };
  } catch (error) {
    throw gitFailure(`cannot write a tree on top of ${commit.slice(0, 7)}`, error);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Commits a tree on top of another commit; no ref moves. Throws SourceError. */
export async function commitTree(
  directory: string,
  { tree, parent, message, author }: { tree: string; parent: string; message: string; author: Author },
): Promise<string> {
  try {
    const config = [`user.name=${author.name}`, `user.email=${author.email}`];
    const git = gitIn(directory, { config, input: message });
    return (await git.raw(['commit-tree', tree, '-p', parent, '-F', '-'])).trim();
  } catch (error) {
    throw gitFailure(`cannot commit on top of ${parent.slice(0, 7)}`, error);
  }
}

/** Reads a commit and its changes. Throws SourceError. */
export async function readCommit(directory: string, commit: string): Promise<ReadCommit> {
  try {
    const raw = await gitIn(directory).raw(['cat-file', 'commit', commit]);
    const [head = ''] = raw.split('\n\n', 1);
    const of = (name: string) =>
      head.split('\n').flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : []));
    const parents = of('parent').filter(isCommitId);
    const [first] = parents;
    return {
      tree: of('tree')[0] ?? '',
      parents,
      message: raw.slice(head.length + 2),
      changes: first === undefined ? [] : await changesBetween(directory, first, commit),
    };
  } catch (error) {
    throw gitFailure(`cannot read ${commit.slice(0, 7)}`, error);
  }
}

/** Returns true if a commit is in the history of another. */
export async function isAncestor(directory: string, commit: string, history: string): Promise<boolean> {
  try {
    await gitIn(directory).raw(['merge-base', '--is-ancestor', commit, history]);
    return true;
  } catch {
    return false;
  }
}

/** Returns true if the clone is shallow, so that {@link isAncestor} may miss a commit. */
export async function isShallow(directory: string): Promise<boolean> {
  try {
    const answer = await gitIn(directory).raw(['rev-parse', '--is-shallow-repository']);
    return answer.trim() === 'true';
  } catch {
    return false;
  }
}

/** Returns the author that git is configured with; null if there is none. */
export async function configuredAuthor(directory: string): Promise<Author | null> {
  const [name, email] = await Promise.all(['user.name', 'user.email'].map((key) => settingOf(directory, key)));
  return name && email ? { name, email } : null;
}

function gitIn(directory: string, options: Partial<GitOptions> = {}) {
  return openGit({ repository: requireRepository(directory), timeout: TIMEOUT, ...options });
}

async function settingOf(directory: string, key: string): Promise<string> {
  try {
    return (await gitIn(directory).raw(['config', '--get', key])).trim();
  } catch {
    return '';
  }
}

async function modesOf(directory: string, commit: string): Promise<ReadonlyMap<string, string>> {
  const listed = await gitIn(directory).raw(['ls-tree', '-r', '-z', '--full-tree', commit]);
  return new Map(
    listed.split('\0').flatMap((line) => {
      const [, mode = '', path = ''] = /^(100\d{3}) blob [0-9a-f]+\t(.*)$/s.exec(line) ?? [];
      return mode === '' ? [] : [[path, mode] as const];
    }),
  );
}

async function changesBetween(directory: string, one: string, other: string): Promise<readonly FileChange[]> {
  const git = gitIn(directory);
  const answer = await git.raw(['diff-tree', '-r', '-z', '--no-renames', '--full-index', one, other]);
  const parts = answer.split('\0');
  const changes: FileChange[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [, from = '', to = ''] = /^:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) /.exec(parts[at] ?? '') ?? [];
    changes.push({ path: parts[at + 1] ?? '', from: blobId(from), to: blobId(to) });
  }
  return changes;
}

function blobId(id: string): string | null {
  return /^0*$/.test(id) ? null : id;
}
