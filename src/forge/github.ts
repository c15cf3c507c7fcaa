/** Repositories at GitHub: github.com, ghe.com, or GitHub Enterprise Server by the address of its API. */
import { Octokit } from '@octokit/core';
import { link } from './ci-job.ts';
import {
  type CommentedPull,
  type ForgeAccess,
  type HookTarget,
  type Membership,
  type OpenPull,
  PLAIN_STATES,
  type PullApi,
} from './forge.ts';
import { boundedFetch, type Refusal, readPages } from './requests.ts';

/**
 * Maximum length of a comment, in characters: one less than GitHub's limit, because in some versions its message
 * "maximum is 65536 characters" means fewer than 65,536.
 */
const MAX_LENGTH = 65_535;
/** Maximum length of a description, in characters (GitHub REST API, commit statuses and deployment statuses). */
const MAX_DESCRIPTION = 140;
const PATCH_PULL = 'PATCH /repos/{owner}/{repo}/pulls/{pull_number}';

/** Account that comments for the token of a workflow. */
const JOB_ACCOUNT = 'github-actions[bot]';
/** Number of commits of a pull request that GitHub lists at most. */
const MAX_COMMITS = 250;

export function openGitHub({ apiUrl, repository, token, signal, userAgent }: ForgeAccess): PullApi {
  const [owner = '', repo = ''] = repository.split('/');
  const at = { owner, repo };
  const silent = () => undefined;
  const octokit = new Octokit({
    auth: token,
    baseUrl: apiUrl,
    userAgent,
    request: { fetch: boundedFetch(apiUrl, signal) },
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  const listComments = (pull: number) => {
    const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
    const wanted = { ...at, issue_number: pull, per_page: 100 };
    return readAll((page) => octokit.request(path, { ...wanted, page }));
  };
  const hookOf = ({ url, secret, hasComments }: HookTarget) => ({
    ...at,
    active: true,
    events: ['push', ...(hasComments ? ['issue_comment'] : [])],
    config: { url, content_type: 'json', secret, insecure_ssl: '0' },
  });
  return {
    label: 'GitHub',
    noun: 'pull request',
    maxLength: MAX_LENGTH,
    maxDescription: MAX_DESCRIPTION,
    refusalOf,
    async listOwn(pull) {
      // The token of a workflow cannot read its user from the REST API.
      const { viewer } = await octokit.graphql<{ viewer: { databaseId: number } }>('{ viewer { databaseId } }');
      const all = await listComments(pull);
      return all
        .filter(({ user }) => user?.id === viewer.databaseId)
        .map(({ id, body }) => ({ id: Number(id), body: body ?? '' }));
    },
    async createComment(pull, body) {
      const comment = { ...at, issue_number: pull, body };
      const { data } = await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', comment);
      return { id: Number(data.id), body };
    },
    updateComment: (_pull, id, body) =>
      octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...at, comment_id: id, body }),
    removeComment: (_pull, id) =>
      octokit.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...at, comment_id: id }),
    async listPulls({ from, into }, state) {
      const asked = state === 'open' ? ('open' as const) : ('closed' as const);
      const wanted = { ...at, state: asked, head: `${owner}:${from}`, base: into, per_page: 100 };
      const all = await readAll((page) => octokit.request('GET /repos/{owner}/{repo}/pulls', { ...wanted, page }));
      return (
        all
          // GitHub ignores a filter that it does not understand.
          .filter(
            ({ head, base }) =>
              head.ref === from &&
              base.ref === into &&
              head.repo?.full_name?.toLowerCase() === repository.toLowerCase(),
          )
          .filter(({ merged_at }) => state === 'open' || Boolean(merged_at) === (state === 'merged'))
          .map(listed)
      );
    },
    async openPull({ from, into }, { title, body }) {
      const made = { ...at, head: from, base: into, title, body };
      return listed((await octokit.request('POST /repos/{owner}/{repo}/pulls', made)).data);
    },
    updatePull: (number, { title, body }) => octokit.request(PATCH_PULL, { ...at, pull_number: number, title, body }),
    closePull: (number) => octokit.request(PATCH_PULL, { ...at, pull_number: number, state: 'closed' }),
    setStatus: (sha, { state, context, description, url }) =>
      octokit.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
        ...at,
        sha,
        state: PLAIN_STATES[state],
        context,
        description,
        ...(url === null ? {} : { target_url: url }),
      }),
    deployments: {
      createdState: null,
      async create({ commit, environment, description }) {
        const { data } = await octokit.request('POST /repos/{owner}/{repo}/deployments', {
          ...at,
          ref: commit,
          environment,
          description: description.slice(0, MAX_DESCRIPTION),
          // The commit is already on its branch, and whether it may be applied is decided by Octavo's own rules.
          auto_merge: false,
          required_contexts: [],
        });
        if (!('id' in data)) {
          throw new Error('the answer has no deployment');
        }
        return String(data.id);
      },
      async find({ commit, environment }) {
        const wanted = { ...at, sha: commit, environment, per_page: 1 };
        const [newest] = (await octokit.request('GET /repos/{owner}/{repo}/deployments', wanted)).data;
        return newest === undefined ? null : String(newest.id);
      },
      async setState(id, state, { description, url }) {
        await octokit.request('POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', {
          ...at,
          deployment_id: Number(id),
          state,
          description,
          ...(url === null ? {} : { log_url: url }),
        });
      },
    },
    approvals: {
      anchor: '#issuecomment-',
      async readPull(pull) {
        const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', {
          ...at,
          pull_number: pull,
        });
        const closed: CommentedPull['state'] = data.merged ? 'merged' : 'closed';
        return {
          state: data.state === 'open' ? 'open' : closed,
          mergedAt: Date.parse(data.merged_at ?? ''),
          head: data.head.sha,
          into: data.base.ref,
          author: Number(data.user?.id),
          url: link(data.html_url),
        };
      },
      async listComments(pull) {
        return (await listComments(pull)).map(({ id, body, user, created_at, updated_at }) => ({
          id: Number(id),
          body: String(body ?? ''),
          author: user === null ? null : { id: Number(user.id), login: String(user.login) },
          createdAt: Date.parse(created_at),
          updatedAt: Date.parse(updated_at),
        }));
      },
      async readMembership({ id, login }) {
        // No person can have a name with brackets.
        if (login.endsWith('[bot]')) {
          return { permission: 'none', isBot: true, showsPlans: login === JOB_ACCOUNT };
        }
        const path = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission';
        const { data } = await octokit.request(path, { ...at, username: login });
        // Somebody else may have taken the name since.
        const permission = Number(data.user?.id) === id ? permissionOf(data.role_name, data.permission) : 'none';
        return { permission, isBot: data.user?.type === 'Bot', showsPlans: permission !== 'none' };
      },
      async hasCommit(pull, { id }) {
        const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/commits';
        const wanted = { ...at, pull_number: pull, per_page: 100 };
        const all = await readAll((page) => octokit.request(path, { ...wanted, page }));
        const isTheirs = all.some(({ author, committer }) => author?.id === id || committer?.id === id);
        return isTheirs || (all.length > 0 && all.length < MAX_COMMITS) ? isTheirs : null;
      },
    },
    async listHooks() {
      const path = 'GET /repos/{owner}/{repo}/hooks';
      const all = await readAll((page) => octokit.request(path, { ...at, per_page: 100, page }));
      return all.map(({ id, config }) => ({ id, url: config.url }));
    },
    createHook: (hook) => octokit.request('POST /repos/{owner}/{repo}/hooks', { ...hookOf(hook), name: 'web' }),
    updateHook: (id, hook) =>
      octokit.request('PATCH /repos/{owner}/{repo}/hooks/{hook_id}', { ...hookOf(hook), hook_id: Number(id) }),
  };
}

/** Returns a permission. That of a role of an organization's own is the one that it extends, and `maintain` is below that. */
function permissionOf(role: string, permission: string): Membership['permission'] {
  const known = (['admin', 'maintain', 'write'] as const).find((each) => each === role);
  return known ?? (['admin', 'write'] as const).find((each) => each === permission) ?? 'none';
}

interface GitHubPull {
  readonly number: number;
  readonly html_url: string;
  readonly title: string;
  readonly body: string | null;
  readonly head?: { readonly sha: string };
}

function listed({ number, html_url, title, body, head }: GitHubPull): OpenPull {
  return { number, url: link(html_url), title, body: body ?? '', head: head?.sha };
}

/** Returns the items of all pages. Every page but the last has a link to the next one. */
function readAll<T>(
  read: (page: number) => Promise<{ readonly headers: { readonly link?: string | undefined }; readonly data: T[] }>,
): Promise<T[]> {
  return readPages(async (page) => {
    const { headers, data } = await read(page);
    return { items: data, isLast: !/\brel="next"/.test(headers.link ?? '') };
  });
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

function refusalOf(error: unknown): Refusal | null {
  const { response, status, errors } = error as GitHubFailure;
  if (errors !== undefined) {
    // Only an error of GraphQL with the type "forbidden" is permanent; others are retried.
    const types = errors.map(({ type }) => type ?? '');
    const isForbidden = types.some((type) => type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES');
    const isLimit = types.some((type) => /^RATE_LIMIT/.test(type));
    return { status: isLimit || isForbidden ? 403 : 502, header: () => null, isLimit };
  }
  if (response === undefined || status === undefined) {
    return null;
  }
  return {
    status,
    header: (name) => (response.headers[name] === undefined ? null : String(response.headers[name])),
    // Without limit headers, only the documentation link identifies a secondary limit (GitHub REST API, rate limits).
    isLimit: status === 403 && /rate-limit/.test(response.data?.documentation_url ?? ''),
  };
}
