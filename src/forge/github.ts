import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { type CommitStatus, type Forge, timedFetch } from './forge.ts';
import { refusalError, silenceError, unlessGone } from './forge-error.ts';
import type { PullRequest } from './pull-request.ts';

const LABEL = 'GitHub';
/** What GitHub accepts, less one: its messages say "maximum is 65536 characters", and some versions mean below it. */
const LONGEST = 65_535;
const PAGE = 100;
const silent = () => undefined;

/** A pull request at GitHub (github.com, and GitHub Enterprise Server by its API's address). */
export function openGitHub(pull: PullRequest, token: string, signal: AbortSignal, userAgent: string): Forge {
  const [owner = '', repo = ''] = pull.repository.split('/');
  const octokit = new (Octokit.plugin(paginateRest))({
    auth: token,
    baseUrl: pull.apiUrl,
    userAgent,
    request: { fetch: timedFetch(signal) },
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  const at = { owner, repo };
  const comments = { ...at, issue_number: pull.number };
  return {
    label: LABEL,
    longest: LONGEST,
    listOwn: () =>
      asking('list the comments', async () => {
        // A workflow's token may not ask the REST API who it is.
        const { viewer } = await octokit.graphql<{ viewer: { databaseId: number } }>('{ viewer { databaseId } }');
        const all = await octokit.paginate('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
          ...comments,
          per_page: PAGE,
        });
        return all
          .filter(({ user }) => user?.id === viewer.databaseId)
          .map(({ id, body }) => ({ id: Number(id), body: body ?? '' }))
          .sort((a, b) => a.id - b.id);
      }),
    create: (body) =>
      asking('write a comment', async () => {
        const { data } = await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
          ...comments,
          body,
        });
        return { id: Number(data.id), body };
      }),
    update: (id, body) =>
      asking('update the comment', async () => {
        await octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
          ...at,
          comment_id: id,
          body,
        });
      }),
    remove: (id) =>
      asking('remove a comment', async () => {
        await octokit.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...at, comment_id: id });
      }).catch(unlessGone),
    setStatus: (status: CommitStatus) =>
      asking('set the commit status', async () => {
        const run = pull.runUrl === null ? {} : { target_url: pull.runUrl };
        await octokit.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
          ...at,
          sha: pull.head,
          ...status,
          ...run,
        });
      }),
  };
}

async function asking<T>(tried: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && error.name === 'GraphqlResponseError') {
      // Success by its status: the token may not be asked who it is.
      throw refusalError({ tried, label: LABEL, status: 403, header: () => null }, error);
    }
    const { response, status } = error as { response?: { headers: Record<string, unknown> }; status?: number };
    if (response === undefined || status === undefined) {
      throw silenceError(LABEL, tried, error);
    }
    const header = (name: string) => (response.headers[name] === undefined ? null : String(response.headers[name]));
    throw refusalError({ tried, label: LABEL, status, header }, error);
  }
}
