/** Projects at GitLab. */
import { createRequesterFn, type RequestOptions } from '@gitbeaker/requester-utils';
import {
  Commits,
  GitbeakerRequestError,
  Deployments as GitLabDeployments,
  MergeRequestNotes,
  MergeRequests,
  ProjectHooks,
  ProjectMembers,
  Users,
} from '@gitbeaker/rest';
import { link } from './ci-job.ts';
import type { CommitState, DeploymentState, ForgeAccess, HookTarget, Membership, OpenPull, PullApi } from './forge.ts';
import { boundedFetch, readPages } from './requests.ts';

/** GitLab instance limits: size of comments and descriptions, in characters. */
const MAX_LENGTH = 1_000_000;
/** Maximum length of the link of a commit status, in characters; GitLab rejects a longer one. */
const MAX_TARGET_LENGTH = 255;
/** Maximum length of the description of a commit status, in characters. */
const MAX_DESCRIPTION = 255;
const STATES = {
  pending: 'pending',
  running: 'running',
  success: 'success',
  failure: 'failed',
  error: 'failed',
  superseded: 'canceled',
} as const satisfies Record<CommitState, string>;
const DEPLOYMENT_STATES = {
  in_progress: 'running',
  success: 'success',
  failure: 'failed',
  inactive: 'canceled',
} as const satisfies Record<DeploymentState, string>;
const PULL_STATES = { open: 'opened', closed: 'closed', merged: 'merged' } as const;

export function openGitLab({ apiUrl, repository: project, token, signal, ref }: ForgeAccess): PullApi {
  const options = {
    host: apiUrl.replace(/\/api\/v4\/?$/, ''),
    token,
    requesterFn: singleRequester(boundedFetch(apiUrl, signal)),
  };
  const notes = new MergeRequestNotes(options);
  const requests = new MergeRequests(options);
  const commits = new Commits(options);
  const deployments = new GitLabDeployments(options);
  const hooks = new ProjectHooks(options);
  const members = new ProjectMembers(options);
  const users = new Users(options);
  const listNotes = (pull: number) =>
    readAll((page) => notes.all(project, pull, { ...page, sort: 'asc', orderBy: 'created_at' }));
  return {
    label: 'GitLab',
    noun: 'merge request',
    maxLength: MAX_LENGTH,
    maxDescription: MAX_DESCRIPTION,
    refusalOf(error) {
      const response = responseOf(error);
      return response === undefined ? null : { status: response.status, header: (name) => response.headers.get(name) };
    },
    async listOwn(pull) {
      const self = await users.showCurrentUser();
      const all = await listNotes(pull);
      return all.filter(({ author, system }) => author.id === self.id && !system).map(({ id, body }) => ({ id, body }));
    },
    createComment: async (pull, body) => ({ id: (await notes.create(project, pull, body)).id, body }),
    updateComment: (pull, id, body) => notes.edit(project, pull, id, { body }),
    removeComment: (pull, id) => notes.remove(project, pull, id),
    async listPulls({ from, into }, state) {
      const wanted = { projectId: project, state: PULL_STATES[state], sourceBranch: from, targetBranch: into };
      const all = await readAll((page) => requests.all({ ...wanted, ...page }));
      return all
        .filter(
          (each) =>
            each.source_branch === from &&
            each.target_branch === into &&
            Number(each.source_project_id) === Number(each.target_project_id),
        )
        .map(listed);
    },
    openPull: async ({ from, into }, { title, body }) =>
      listed(await requests.create(project, from, into, title, { description: body, removeSourceBranch: true })),
    updatePull: (number, { title, body }) => requests.edit(project, number, { title, description: body }),
    closePull: (number) => requests.edit(project, number, { stateEvent: 'close' }),
    setStatus: (commit, { state, context, description, url }) =>
      ignoreRepeated(() =>
        commits.editStatus(project, commit, STATES[state], {
          name: context,
          description,
          ...(url !== null && url.length <= MAX_TARGET_LENGTH ? { targetUrl: url } : {}),
          ...(ref === null ? {} : { ref }),
        }),
      ),
    deployments: {
      createdState: 'in_progress',
      async create({ commit, environment }) {
        const made = await deployments.create(project, environment, commit, ref ?? commit, false, {
          status: 'running',
        });
        return String(made.id);
      },
      async find({ commit, environment }) {
        const wanted = { environment, orderBy: 'id', sort: 'desc', perPage: 20, maxPages: 1 } as const;
        const found = (await deployments.all(project, wanted)).find(({ sha }) => sha === commit);
        return found === undefined ? null : String(found.id);
      },
      setState: (id, state) => ignoreRepeated(() => deployments.edit(project, Number(id), DEPLOYMENT_STATES[state])),
    },
    approvals: {
      anchor: '#note_',
      async readPull(pull) {
        const { state, sha, target_branch, author, web_url, merged_at } = await requests.show(project, pull);
        return {
          state: state === 'merged' ? 'merged' : state === 'opened' ? 'open' : 'closed',
          mergedAt: Date.parse(String(merged_at ?? '')),
          head: sha,
          into: target_branch,
          author: author?.id,
          url: link(String(web_url)),
        };
      },
      async listComments(pull) {
        return (await listNotes(pull))
          .filter(({ system }) => !system)
          .map(({ id, body, author, created_at, updated_at }) => ({
            id,
            body: String(body ?? ''),
            author: { id: author.id, login: String(author.username) },
            createdAt: Date.parse(created_at),
            updatedAt: Date.parse(updated_at),
          }));
      },
      async readMembership({ id }) {
        const isBot = (await users.show(id)).bot === true;
        const { access_level, state } = await members.show(project, id, { includeInherited: true });
        const level = state === 'active' ? access_level : 0;
        // The account of a project access token is a bot.
        return { permission: permissionOf(level), isBot, showsPlans: level >= (isBot ? REPORTER : DEVELOPER) };
      },
      async hasCommit(pull, { id, login }) {
        // The emails of an account are known to it alone, except for these.
        const { public_email } = await users.show(id);
        const hidden = `${id}-${login}@users.noreply.`.toLowerCase();
        const all = await readAll((page) => requests.allCommits(project, pull, page));
        const isTheirs = all
          .flatMap(({ author_email = '', committer_email = '' }) => [author_email, committer_email])
          .map((email) => String(email).toLowerCase())
          .some((email) => email.startsWith(hidden) || (public_email && email === String(public_email).toLowerCase()));
        return all.length > 0 ? isTheirs : null;
      },
    },
    async listHooks() {
      const all = await readAll((page) => hooks.all(project, page));
      return all.map(({ id, url }) => ({ id, url }));
    },
    createHook: (hook) => hooks.add(project, hook.url, hookOptions(hook)),
    updateHook: (id, hook) => hooks.edit(project, Number(id), hook.url, hookOptions(hook)),
  };
}

function listed(request: {
  readonly iid: number;
  readonly web_url: unknown;
  readonly title: string;
  readonly description?: string | null;
  readonly sha: string;
}): OpenPull {
  const { iid, web_url, title, description, sha } = request;
  return { number: iid, url: link(String(web_url)), title, body: description ?? '', head: sha };
}

/** Access levels (GitLab API, roles). */
const REPORTER = 20;
const DEVELOPER = 30;

function permissionOf(level: number): Membership['permission'] {
  const levels = [
    [50, 'admin'],
    [40, 'maintain'],
    [DEVELOPER, 'write'],
  ] as const;
  return levels.find(([least]) => level >= least)?.[1] ?? 'none';
}

function hookOptions({ secret, hasComments }: HookTarget) {
  // The client passes unknown options on: it does not know signing tokens yet.
  const key = secret.startsWith('whsec_') ? { signingToken: secret } : { token: secret };
  return { pushEvents: true, tagPushEvents: true, noteEvents: hasComments, enableSslVerification: true, ...key };
}

/** GitLab refuses a state that a status or a deployment already has. */
async function ignoreRepeated(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const response = responseOf(error);
    const isRepeated = response?.status === 400 && /Cannot transition status/i.test(await response.clone().text());
    if (!isRepeated) {
      throw error;
    }
  }
}

function responseOf(error: unknown): Response | undefined {
  return error instanceof GitbeakerRequestError ? error.cause?.response : undefined;
}

/**
 * Returns the items of all pages. The client itself would follow links without an end: its own limit counts items, of
 * which a page may have none.
 */
function readAll<T>(
  read: (page: { readonly page: number; readonly perPage: number; readonly showExpanded: true }) => Promise<{
    readonly data: readonly T[];
    readonly paginationInfo: { readonly next: number | null };
  }>,
): Promise<T[]> {
  return readPages(async (page) => {
    const { data, paginationInfo } = await read({ page, perPage: 100, showExpanded: true });
    return { items: data, isLast: paginationInfo?.next == null };
  });
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
