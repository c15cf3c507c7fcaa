/** Git Sync of a site or a space, as the platform reports it. Source: docs/platform-notes.md#git-sync */
import { isObject, type Json } from '../../core/json.ts';
import type { Actual, Fields } from '../../core/resource.ts';
import type { GitInstallation, GitSyncState } from '../../platform/operations/index.ts';

/** Git Sync as plans describe it: no token or setting of the provider is kept. Members that are not known are null. */
export type GitSync = {
  readonly [member: string]: Json;
  /** Id of the installation, which versions before 0.181 do not tell. */
  readonly installation: string | null;
  readonly repository: string | null;
  readonly branch: string | null;
  /** Which side wins where both have changed: `git` or `gitbook`. */
  readonly priority: string | null;
  /** Directory of the repository that holds the content and `docs.yaml`. */
  readonly directory: string | null;
};

/** Returns the facts of a site or a space with Git Sync. */
export function gitSyncFacts(state: GitSyncState): Fields {
  const sync = readGitSync(state);
  return sync === null ? {} : { gitSync: sync };
}

/** Returns an active Git Sync, as a list shows it; null if there is none. Versions before 0.181 tell no status. */
function readGitSync(state: GitSyncState): GitSync | null {
  return state == null || (state.installationStatus ?? 'active') !== 'active'
    ? null
    : {
        installation: state.installationId ?? null,
        repository: state.repoName ?? null,
        branch: null,
        priority: null,
        directory: null,
      };
}

/** Adds what only the installation itself tells. */
export function withInstallation(sync: GitSync, found: GitInstallation | null): GitSync {
  const ref = found?.repositoryRef?.name ?? found?.providerConfiguration?.branch;
  return {
    ...sync,
    repository: found?.repositoryConnection?.repositoryName ?? sync.repository,
    branch: ref?.replace(/^refs\/heads\//, '') ?? null,
    priority: found?.priority ?? null,
    directory: found?.projectDirectory || null,
  };
}

/** Returns the Git Sync among the facts of an actual resource; null if there is none. */
export function gitSyncOf({ facts }: Pick<Actual, 'facts'>): GitSync | null {
  const value = facts?.gitSync;
  return isObject(value) && value.installation !== undefined ? (value as GitSync) : null;
}

const WINS: Readonly<Record<string, string>> = {
  git: 'git wins where both have changed (priority: git)',
  gitbook: 'the platform wins where both have changed (priority: gitbook)',
};

/** `Git Sync with acme/docs, branch main; git wins where both have changed (priority: git)`. */
export function describeGitSync(sync: GitSync): string {
  const wins = sync.priority === null ? null : (WINS[sync.priority] ?? `priority: ${sync.priority}`);
  return [`Git Sync with ${repositoryWords(sync)}`, ...(wins === null ? [] : [wins])].join('; ');
}

/** `docs/docs.yaml of acme/docs, branch main`. */
export function docsFileWords(sync: GitSync): string {
  const folder = sync.directory === null ? '' : `${sync.directory.replace(/^\.?\/+|\/+$/g, '')}/`;
  return `${folder === '/' ? '' : folder}docs.yaml of ${repositoryWords(sync)}`;
}

function repositoryWords({ repository, branch, installation }: GitSync): string {
  return `${repository ?? (installation === null ? 'a repository' : `the installation ${installation}`)}${branch === null ? '' : `, branch ${branch}`}`;
}
