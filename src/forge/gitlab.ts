import { MergeRequestNotes, Users } from '@gitbeaker/rest';
import { ignoreNotFound } from './clients/forge-error.ts';
import { askGitLab, GITLAB, gitlabOptions, readGitLabPages } from './clients/gitlab-client.ts';
import type { Forge } from './forge.ts';
import type { PullRequest } from './pull-request.ts';
import { openGitLabStatuses } from './statuses/gitlab-statuses.ts';

/** GitLab instance limits: size of comments and descriptions, in characters. */
export const GITLAB_MAX_LENGTH = 1_000_000;

/** Opens a merge request at GitLab with its notes. */
export function openGitLab(pull: PullRequest, token: string, signal: AbortSignal): Forge {
  const options = gitlabOptions(pull.apiUrl, token, signal);
  const notes = new MergeRequestNotes(options);
  const users = new Users(options);
  const statuses = openGitLabStatuses(pull, token, signal);
  const { repository: project, number } = pull;
  return {
    label: GITLAB,
    maxLength: GITLAB_MAX_LENGTH,
    listOwn: () =>
      askGitLab('list the comments', async () => {
        const self = await users.showCurrentUser();
        const all = await readGitLabPages((page) =>
          notes.all(project, number, { ...page, sort: 'asc', orderBy: 'created_at' }),
        );
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
    setStatus: (status) => statuses.setStatus(pull.head, { ...status, url: pull.runUrl }),
  };
}
