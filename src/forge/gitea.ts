import { ignoreNotFound } from './clients/forge-error.ts';
import { askGitea, GITEA, giteaClient } from './clients/gitea-client.ts';
import type { Forge } from './forge.ts';
import type { PullRequest } from './pull-request.ts';
import { openGiteaStatuses } from './statuses/gitea-statuses.ts';

/** Maximum length of a comment, in characters. Gitea documents no limit, so that of GitHub is used. */
export const GITEA_MAX_LENGTH = 65_535;
/** User id of workflow tokens; ids of real users are positive. */
const ACTIONS_USER = -2;

/** Opens a pull request at Gitea or Forgejo. */
export function openGitea(pull: PullRequest, token: string, signal: AbortSignal): Forge {
  const api = giteaClient(pull.apiUrl, token, signal);
  const statuses = openGiteaStatuses(pull, token, signal);
  const [owner = '', repo = ''] = pull.repository.split('/');
  /** Author id of an own comment: a token without the scope read:user cannot read its user. */
  let writer: number | undefined;
  const whoAmI = () =>
    api.user.userGetCurrent().then(
      ({ data }) => data.id,
      (error: { status?: number }) => {
        if (error.status === undefined || error.status >= 500 || error.status === 429) {
          throw error;
        }
        return ACTIONS_USER;
      },
    );
  return {
    label: GITEA,
    maxLength: GITEA_MAX_LENGTH,
    listOwn: () =>
      askGitea('list the comments', async () => {
        const self = writer ?? (await whoAmI());
        // This list is not paginated.
        const { data } = await api.repos.issueGetComments(owner, repo, pull.number);
        return data
          .filter(({ user }) => user?.id === self)
          .map(({ id = 0, body = '' }) => ({ id, body }))
          .sort((a, b) => a.id - b.id);
      }),
    create: (body) =>
      askGitea('write a comment', async () => {
        const { data } = await api.repos.issueCreateComment(owner, repo, pull.number, { body });
        writer = data.user?.id ?? writer;
        return { id: data.id ?? 0, body };
      }),
    update: (id, body) =>
      askGitea('update the comment', async () => {
        await api.repos.issueEditComment(owner, repo, id, { body });
      }),
    remove: (id) =>
      askGitea('remove a comment', async () => {
        await api.repos.issueDeleteComment(owner, repo, id);
      }).catch(ignoreNotFound),
    setStatus: (status) => statuses.setStatus(pull.head, { ...status, url: pull.runUrl }),
  };
}
