import { posix, relative, resolve, sep } from 'node:path';
import { ConfigError, SourceError } from '../../core/errors.ts';
import { isDriftCommit } from '../../forge/drift.ts';
import { type Author, configuredAuthor, isAncestor, makeTree, type NewTree, readCommit } from '../../git/commits.ts';
import { readTreeAt } from '../../git/objects.ts';
import { RemoteBranches } from '../../git/refs.ts';
import { findRepositoryRoot, readHead } from '../../git/work-tree.ts';
import { kinds } from '../../kinds/registry.ts';
import { createManifestLoader } from '../../manifests/loader.ts';
import type { CommandContext } from '../cli/context.ts';
import { type DriftFlags, type DriftTarget, type FoundDrift, pathInTree } from './drift.ts';

export interface DriftPullFlags extends DriftFlags {
  /** Target branch of the pull request; the default branch of the remote if absent. */
  readonly onto?: string;
  /** Author of the commit, as `Name <email>`. */
  readonly author?: string;
}

/** Author without a flag and git settings. */
const SELF: Author = { name: 'Octavo', email: 'octavo@localhost' };

/** The repository that drift is committed to. */
export interface DriftRepository {
  readonly directory: string;
  readonly remote: RemoteBranches;
  /** Target branch of pull requests. */
  readonly onto: string;
  readonly author: Author;
  /** Manifest folder, relative to the repository; empty for its root. */
  readonly folder: string;
}

/** Opens the repository. Throws ConfigError and SourceError if commits and pushes are not possible. */
export async function openDriftRepository(
  { out, onto, author }: DriftPullFlags,
  { terminal }: CommandContext,
): Promise<DriftRepository> {
  const path = resolve(terminal.cwd, out);
  const directory = findRepositoryRoot(path);
  if (directory === null) {
    throw new ConfigError(`--pull-request requires a git repository, and ${out} is not in one`);
  }
  const remote = await RemoteBranches.of(directory);
  return {
    directory,
    remote,
    onto: onto ?? (await remote.defaultBranch()),
    author: author === undefined ? ((await configuredAuthor(directory)) ?? SELF) : readAuthor(author),
    folder: relative(directory, path).split(sep).join('/'),
  };
}

function readAuthor(text: string): Author {
  const [, name, email] = /^([^<>\p{Cc}]*[^<>\p{Cc}\s])\s*<([^<>\s\p{Cc}]+@[^<>\s\p{Cc}]+)>$/u.exec(text) ?? [];
  if (name === undefined || email === undefined) {
    throw new ConfigError(`--author ${JSON.stringify(text)} is not an author; use "Name <email>"`);
  }
  return { name, email };
}

/** Loads the manifests of a commit, independent of the work tree. */
export async function manifestsAt(
  { directory, folder }: DriftRepository,
  commit: string,
  { config, out }: DriftFlags,
  { terminal }: CommandContext,
): Promise<DriftTarget> {
  const tree = await readTreeAt(directory, commit, folder === '' ? '.' : folder);
  const own =
    config === undefined ? {} : { config: relative(resolve(terminal.cwd, out), resolve(terminal.cwd, config)) };
  const state = await createManifestLoader(kinds).load(tree, { root: folder, ...own });
  const head = await readHead(resolve(terminal.cwd, out));
  return { tree, root: folder, loaded: { state, commit, head } };
}

/** Creates the tree of a commit with the drift written into it; null without drift to write. */
export async function treeWith(
  { directory, folder }: DriftRepository,
  commit: string,
  place: DriftTarget,
  { drift }: FoundDrift,
): Promise<NewTree | null> {
  if (drift.texts.size === 0) {
    return null;
  }
  const texts = new Map<string, string>();
  for (const [path, text] of drift.texts) {
    // The target of a symbolic link is written, not the link.
    const real = posix.join(folder, await place.tree.resolve(pathInTree(place.root, path)));
    if (texts.has(real) && texts.get(real) !== text) {
      throw new SourceError(`${real} is referenced twice and needs two different contents; edit it manually`);
    }
    texts.set(real, text);
  }
  return makeTree(directory, commit, texts);
}

/**
 * State of the drift branch.
 *
 * | state | meaning |
 * |---|---|
 * | `absent` | the branch does not exist |
 * | `taken` | it has someone else's commit, which must not be overwritten |
 * | `same` | it has exactly the drift to write |
 * | `other` | it has older drift, or commits that the target branch contains |
 */
export type BranchState = 'absent' | 'taken' | 'same' | 'other';

export async function stateOfBranch(
  { directory }: DriftRepository,
  tip: string | undefined,
  base: string,
  wanted: NewTree | null,
): Promise<BranchState> {
  if (tip === undefined) {
    return 'absent';
  }
  const { parents, message, tree, changes } = await readCommit(directory, tip);
  if (parents.length !== 1 || !isDriftCommit(message, tree)) {
    return (await isAncestor(directory, tip, base)) ? 'other' : 'taken';
  }
  return wanted !== null && JSON.stringify(wanted.changes) === JSON.stringify(changes) ? 'same' : 'other';
}
