/** Repositories at Gitea or Forgejo. */
import { giteaApi, type PullRequest } from 'gitea-js';
import { link } from './ci-job.ts';
import { type ForgeAccess, type HookTarget, type OpenPull, PLAIN_STATES, type PullApi } from './forge.ts';
import { boundedFetch, readPages, refusalOfResponse } from './requests.ts';

/** Maximum length of a comment, in characters. Gitea documents no limit, so that of GitHub is used. */
const MAX_LENGTH = 65_535;
/** Maximum length of the description of a commit status, in characters. Gitea documents no limit. */
const MAX_DESCRIPTION = 255;
/** Maximum page size of Gitea (`MAX_RESPONSE_ITEMS`). */
const PAGE = 50;
/** User id of workflow tokens; ids of real users are positive. */
const ACTIONS_USER = -2;

export function openGitea({ apiUrl, repository, token, signal }: ForgeAccess): PullApi {
  const customFetch = boundedFetch(apiUrl, signal);
  const { repos, user } = giteaApi(apiUrl.replace(/\/api\/v1\/?$/, ''), { token, customFetch });
  const [owner = '', repo = ''] = repository.split('/');
  /** Author id of an own comment: a token without the scope read:user cannot read its user. */
  let writer: number | undefined;
  const whoAmI = () =>
    user.userGetCurrent().then(
      ({ data }) => data.id,
      (error: { status?: number }) => {
        if (error.status === undefined || error.status >= 500 || error.status === 429) {
          throw error;
        }
        return ACTIONS_USER;
      },
    );
  return {
    label: 'Gitea',
    noun: 'pull request',
    maxLength: MAX_LENGTH,
    maxDescription: MAX_DESCRIPTION,
    deployments: null,
    approvals: null,
    refusalOf: refusalOfResponse,
    async listOwn(pull) {
      const self = writer ?? (await whoAmI());
      // This list is not paginated.
      const { data } = await repos.issueGetComments(owner, repo, pull);
      return data.filter(({ user }) => user?.id === self).map(({ id = 0, body = '' }) => ({ id, body }));
    },
    async createComment(pull, body) {
      const { data } = await repos.issueCreateComment(owner, repo, pull, { body });
      writer = data.user?.id ?? writer;
      return { id: data.id ?? 0, body };
    },
    updateComment: (_pull, id, body) => repos.issueEditComment(owner, repo, id, { body }),
    removeComment: (_pull, id) => repos.issueDeleteComment(owner, repo, id),
    async listPulls({ from, into }, state) {
      const wanted = { state: state === 'open' ? 'open' : 'closed', sort: 'recentupdate', limit: PAGE } as const;
      // The list has no filter for branches.
      const all = await readAll((page) => repos.repoListPullRequests(owner, repo, { ...wanted, page }));
      return all
        .filter(
          ({ head, base }) =>
            head?.ref === from &&
            base?.ref === into &&
            head?.repo?.full_name?.toLowerCase() === repository.toLowerCase(),
        )
        .filter(({ merged }) => state === 'open' || (merged === true) === (state === 'merged'))
        .map(listed);
    },
    async openPull({ from, into }, { title, body }) {
      return listed((await repos.repoCreatePullRequest(owner, repo, { head: from, base: into, title, body })).data);
    },
    updatePull: (number, { title, body }) => repos.repoEditPullRequest(owner, repo, number, { title, body }),
    closePull: (number) => repos.repoEditPullRequest(owner, repo, number, { state: 'closed' }),
    setStatus(commit, { state, context, description, url }) {
      const target = url === null ? {} : { target_url: url };
      return repos.repoCreateStatus(owner, repo, commit, {
        state: PLAIN_STATES[state],
        context,
        description,
        ...target,
      });
    },
    async listHooks() {
      const all = await readAll((page) => repos.repoListHooks(owner, repo, { page, limit: PAGE }));
      return all.map(({ id = 0, config }) => ({ id, url: config?.url }));
    },
    createHook: (hook) => repos.repoCreateHook(owner, repo, { ...hookOf(hook), type: 'gitea' }),
    updateHook: (id, hook) => repos.repoEditHook(owner, repo, Number(id), hookOf(hook)),
  };
}

function listed({ number = 0, html_url, title = '', body, head }: PullRequest): OpenPull {
  return { number, url: link(html_url), title, body: body ?? '', head: head?.sha };
}

function hookOf({ url, secret }: HookTarget) {
  return { active: true, events: ['push'], config: { url, content_type: 'json', secret } };
}

/** Returns the items of all pages. The last one is empty: the server may return fewer items than the limit. */
function readAll<T>(read: (page: number) => Promise<{ readonly data: readonly T[] }>): Promise<T[]> {
  return readPages(async (page) => {
    const { data } = await read(page);
    return { items: data, isLast: data.length === 0 };
  });
}
