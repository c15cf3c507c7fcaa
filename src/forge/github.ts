import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { boundedFetch, type CommitStatus, type Forge } from './forge.ts';
import { ignoreNotFound, noAnswerError, refusalError } from './forge-error.ts';
import type { PullRequest } from './pull-request.ts';

export const GITHUB = 'GitHub';
/**
 * Maximum length of a comment, in characters: one less than GitHub's limit, because in some versions its message
 * "maximum is 65536 characters" means fewer than 65,536.
 */
export const GITHUB_MAX_LENGTH = 65_535;
const PAGE = 100;
const silent = () => undefined;

/** Creates a client of GitHub's API that does not log. */
export function githubClient(apiUrl: string, token: string, signal: AbortSignal, userAgent: string) {
  return new (Octokit.plugin(paginateRest))({
    auth: token,
    baseUrl: apiUrl,
    userAgent,
    request: { fetch: boundedFetch(signal) },
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
}

/** Opens a pull request at GitHub (github.com, or GitHub Enterprise Server by the address of its API). */
export function openGitHub(pull: PullRequest, token: string, signal: AbortSignal, userAgent: string): Forge {
  const [owner = '', repo = ''] = pull.repository.split('/');
  const octokit = githubClient(pull.apiUrl, token, signal, userAgent);
  const at = { owner, repo };
  const comments = { ...at, issue_number: pull.number };
  return {
    label: GITHUB,
    maxLength: GITHUB_MAX_LENGTH,
    listOwn: () =>
      askGitHub('list the comments', async () => {
        // The token of a workflow cannot read its user from the REST API.
        const { viewer } = await octokit.graphql<{ viewer: { databaseId: number } }>('{ viewer { databaseId } }');
        const filter = { ...comments, per_page: PAGE };
        const all = await octokit.paginate('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', filter);
        return all
          .filter(({ user }) => user?.id === viewer.databaseId)
          .map(({ id, body }) => ({ id: Number(id), body: body ?? '' }))
          .sort((a, b) => a.id - b.id);
      }),
    create: (body) =>
      askGitHub('write a comment', async () => {
        const comment = { ...comments, body };
        const { data } = await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', comment);
        return { id: Number(data.id), body };
      }),
    update: (id, body) =>
      askGitHub('update the comment', async () => {
        const comment = { ...at, comment_id: id, body };
        await octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', comment);
      }),
    remove: (id) =>
      askGitHub('remove a comment', async () => {
        await octokit.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...at, comment_id: id });
      }).catch(ignoreNotFound),
    setStatus: (status: CommitStatus) =>
      askGitHub('set the commit status', async () => {
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

/** Runs a request to GitHub and classifies its errors. */
export async function askGitHub<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { response, status, errors } = error as GitHubFailure;
    if (errors !== undefined) {
      throw graphError(action, errors, error);
    }
    if (response === undefined || status === undefined) {
      throw noAnswerError(GITHUB, action, error);
    }
    const header = (name: string) => (response.headers[name] === undefined ? null : String(response.headers[name]));
    // Without limit headers, only the documentation link identifies a secondary limit (GitHub REST API, rate limits).
    const isLimit = status === 403 && /rate-limit/.test(response.data?.documentation_url ?? '');
    throw refusalError({ action, label: GITHUB, status, header, isLimit }, error);
  }
}

interface GitHubFailure {
  readonly status?: number;
  readonly response?: {
    readonly headers: Readonly<Record<string, unknown>>;
    readonly data?: { readonly documentation_url?: string };
  };
  /** Errors of GraphQL, whose responses have a successful status even if they failed. */
  readonly errors?: readonly { readonly type?: string }[];
}

/** Classifies a GraphQL error. Only an error of type "forbidden" is permanent; others are retried. */
function graphError(action: string, errors: readonly { readonly type?: string }[], cause: unknown): Error {
  const types = errors.map(({ type }) => type ?? '');
  const isForbidden = types.some((type) => type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES');
  const isLimit = types.some((type) => /^RATE_LIMIT/.test(type));
  const status = isLimit || isForbidden ? 403 : 502;
  return refusalError({ action, label: GITHUB, status, header: () => null, isLimit }, cause);
}
