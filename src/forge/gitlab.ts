import { Commits, GitbeakerRequestError, GitbeakerRetryError, MergeRequestNotes, Users } from '@gitbeaker/rest';
import { type CommitStatus, FORGE_TIMEOUT, type Forge, type Verdict } from './forge.ts';
import { refusalError, silenceError, unlessGone } from './forge-error.ts';
import type { PullRequest } from './pull-request.ts';

export const GITLAB = 'GitLab';
/** GitLab instance limits: size of comments and descriptions, in characters. */
export const GITLAB_LONGEST = 1_000_000;
/** Characters of the link of a commit status; a longer one makes GitLab refuse the status. */
const LONGEST_TARGET = 255;
const PAGE = 100;
const STATES = { success: 'success', failure: 'failed', error: 'failed' } as const satisfies Record<Verdict, string>;

/** What every client of GitLab is made from. */
export function gitlabOptions(apiUrl: string, token: string) {
  return { host: apiUrl.replace(/\/api\/v4\/?$/, ''), token, queryTimeout: FORGE_TIMEOUT };
}

/** A merge request at GitLab, and its notes. */
export function openGitLab(pull: PullRequest, token: string): Forge {
  const options = gitlabOptions(pull.apiUrl, token);
  const notes = new MergeRequestNotes(options);
  const users = new Users(options);
  const commits = new Commits(options);
  const { repository: project, number } = pull;
  return {
    label: GITLAB,
    longest: GITLAB_LONGEST,
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
    remove: (id) => askGitLab('remove a comment', () => notes.remove(project, number, id)).catch(unlessGone),
    setStatus: ({ state, context, description }: CommitStatus) =>
      askGitLab('set the commit status', async () => {
        const isTooLong = (pull.runUrl?.length ?? 0) > LONGEST_TARGET;
        const run = pull.runUrl === null || isTooLong ? {} : { targetUrl: pull.runUrl };
        await commits.editStatus(project, pull.head, STATES[state], { name: context, description, ...run });
      }),
  };
}

/** Asks GitLab, and names by what happens next what goes wrong. */
export async function askGitLab<T>(tried: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GitbeakerRetryError && error.message.includes('429')) {
      // The client has asked ten times within a second, and keeps the answer to itself.
      throw refusalError({ tried, label: GITLAB, status: 429, header: () => null }, error);
    }
    const response = error instanceof GitbeakerRequestError ? error.cause?.response : undefined;
    if (response === undefined) {
      throw silenceError(GITLAB, tried, error);
    }
    const header = (name: string) => response.headers.get(name);
    throw refusalError({ tried, label: GITLAB, status: response.status, header }, error);
  }
}
