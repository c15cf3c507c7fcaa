import { openBitbucketStatuses } from './bitbucket-statuses.ts';
import type { CommitStatuses, StatusTarget } from './commit-statuses.ts';
import { openGiteaStatuses } from './gitea-statuses.ts';
import { openGitHubStatuses } from './github-statuses.ts';
import { openGitLabStatuses } from './gitlab-statuses.ts';

/** Repository whose commit statuses are set. */
export interface StatusRepository extends StatusTarget {
  readonly type: 'github' | 'gitlab' | 'gitea' | 'bitbucket';
  readonly token: string;
  /** Branch or tag that is followed; null if it is a commit. */
  readonly ref: string | null;
}

/** Opens the commit statuses of a repository at its forge. */
export function openForgeStatuses(
  { type, token, ref, ...target }: StatusRepository,
  signal: AbortSignal,
  userAgent: string,
): CommitStatuses {
  switch (type) {
    case 'github':
      return openGitHubStatuses(target, token, signal, userAgent);
    case 'gitlab':
      return openGitLabStatuses(target, token, signal, ref ?? undefined);
    case 'gitea':
      return openGiteaStatuses(target, token, signal);
    case 'bitbucket':
      return openBitbucketStatuses(target, token, signal);
  }
}
