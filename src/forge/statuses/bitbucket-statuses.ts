/** Commit statuses at Bitbucket Cloud. */
import { createHash } from 'node:crypto';
import { BITBUCKET, bitbucketClient } from '../clients/bitbucket-client.ts';
import type { CommitState, CommitStatuses, StatusTarget } from './commit-statuses.ts';

/** Maximum length of the key and of the description, in characters (Bitbucket Cloud REST API, commit statuses). */
const MAX_KEY = 40;
const MAX_DESCRIPTION = 255;
const STATES = {
  pending: 'INPROGRESS',
  running: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  error: 'FAILED',
  superseded: 'STOPPED',
} as const satisfies Record<CommitState, string>;

/** Opens the commit statuses of a repository. */
export function openBitbucketStatuses(
  { apiUrl, repository }: StatusTarget,
  token: string,
  signal: AbortSignal,
): CommitStatuses {
  const ask = bitbucketClient(apiUrl, token, signal);
  const [workspace = '', name = ''] = repository.split('/');
  const path = `/repositories/${encodeURIComponent(workspace)}/${encodeURIComponent(name)}/commit`;
  return {
    label: BITBUCKET,
    maxDescription: MAX_DESCRIPTION,
    deployments: null,
    async setStatus(commit, { state, context, description, url }) {
      await ask('set the commit status', `${path}/${commit}/statuses/build`, {
        ...{ key: statusKey(context), name: context, state: STATES[state], description },
        // Bitbucket requires a link.
        url: url ?? `https://bitbucket.org/${workspace}/${name}/commits/${commit}`,
      });
    },
  };
}

/** Returns the context if it fits, otherwise a hash that stays the same. */
function statusKey(context: string): string {
  return [...context].length <= MAX_KEY
    ? context
    : createHash('sha256').update(context).digest('hex').slice(0, MAX_KEY);
}
