import { createRequesterFn, type RequestOptions } from '@gitbeaker/requester-utils';
import { Commits, GitbeakerRequestError, MergeRequestNotes, Users } from '@gitbeaker/rest';
import { boundedFetch, type CommitState, type CommitStatus, type Forge } from './forge.ts';
import { ignoreNotFound, noAnswerError, refusalError } from './forge-error.ts';
import type { PullRequest } from './pull-request.ts';

export const GITLAB = 'GitLab';
/** GitLab instance limits: size of comments and descriptions, in characters. */
export const GITLAB_MAX_LENGTH = 1_000_000;
/** Maximum length of the link of a commit status, in characters; GitLab rejects a longer one. */
const MAX_TARGET_LENGTH = 255;
const PAGE = 100;
const STATES = { success: 'success', failure: 'failed', error: 'failed' } as const satisfies Record<
  CommitState,
  string
>;

/** Options of every GitLab client. Requests end with `signal`. */
export function gitlabOptions(apiUrl: string, token: string, signal: AbortSignal) {
  return { host: apiUrl.replace(/\/api\/v4\/?$/, ''), token, requesterFn: singleRequester(boundedFetch(signal)) };
}

/**
 * Creates a requester that sends each request once and keeps the status of a failed one. The client's default requester
 * retries status 429 and 502 and then throws an error without the status. Retries are made by `withRetries`.
 */
function singleRequester(send: typeof fetch) {
  return createRequesterFn(
    (_, options) => Promise.resolve(options),
    async (endpoint, options) => {
      const {
        prefixUrl = '',
        searchParams = '',
        method = 'GET',
        headers = {},
        body = null,
      } = options as RequestOptions;
      const url = new URL(endpoint, prefixUrl.endsWith('/') ? prefixUrl : `${prefixUrl}/`);
      url.search = searchParams;
      const request = new Request(url, { method, headers, body });
      const response = await send(request);
      if (!response.ok) {
        const description = response.statusText;
        throw new GitbeakerRequestError(description, { cause: { description, request, response } });
      }
      const content = response.status === 204 ? null : ((await response.json()) as Record<string, unknown>);
      return { status: response.status, headers: Object.fromEntries(response.headers), body: content };
    },
  );
}

/** Opens a merge request at GitLab with its notes. */
export function openGitLab(pull: PullRequest, token: string, signal: AbortSignal): Forge {
  const options = gitlabOptions(pull.apiUrl, token, signal);
  const notes = new MergeRequestNotes(options);
  const users = new Users(options);
  const commits = new Commits(options);
  const { repository: project, number } = pull;
  return {
    label: GITLAB,
    maxLength: GITLAB_MAX_LENGTH,
    listOwn: () =>
      askGitLab('list the comments', async () => {
        const self = await users.showCurrentUser();
        const all = await notes.all(project, number, { perPage: PAGE, sort: 'asc', orderBy: 'created_at' });
        return all
          .filter(({ author, system }) => author.id === self.id && !system)
          .map(({ id, body }) => ({ id, body }))
          .sort((a, b) => a.id - b.id);
      }),
    create: (body) =>
      askGitLab('write a comment', async () => ({ id: (await notes.create(project, number, body)).id, body })),
    update: (id, body) =>
      askGitLab('update the comment', async () => {
        await notes.edit(project, number, id, { body });
      }),
    remove: (id) => askGitLab('remove a comment', () => notes.remove(project, number, id)).catch(ignoreNotFound),
    setStatus: ({ state, context, description }: CommitStatus) =>
      askGitLab('set the commit status', async () => {
        const isTooLong = (pull.runUrl?.length ?? 0) > MAX_TARGET_LENGTH;
        const run = pull.runUrl === null || isTooLong ? {} : { targetUrl: pull.runUrl };
        await commits.editStatus(project, pull.head, STATES[state], { name: context, description, ...run });
      }),
  };
}

/** Runs a request to GitLab and classifies its errors. */
export async function askGitLab<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const response = error instanceof GitbeakerRequestError ? error.cause?.response : undefined;
    if (response === undefined) {
      throw noAnswerError(GITLAB, action, error);
    }
    const header = (name: string) => response.headers.get(name);
    throw refusalError({ action, label: GITLAB, status: response.status, header }, error);
  }
}
