/** Opens repositories at their forges, whose errors are the same for all. */
import type { Clock } from '../core/clock.ts';
import { openBitbucket } from './bitbucket.ts';
import type { ForgeName, ForgeRepository, PullRequest } from './ci-job.ts';
import type {
  CommitStatus,
  CommitStatuses,
  ForgeAccess,
  ForgeAccount,
  ForgeApi,
  HookTarget,
  PullBranches,
  PullText,
} from './forge.ts';
import { openGitea } from './gitea.ts';
import { openGitHub } from './github.ts';
import { openGitLab } from './gitlab.ts';
import { ask, ignoreNotFound, withRetries } from './requests.ts';

const OPENERS = {
  github: openGitHub,
  gitlab: openGitLab,
  gitea: openGitea,
  bitbucket: openBitbucket,
} as const satisfies Record<ForgeName, (access: ForgeAccess) => ForgeApi>;
const SET_STATUS = 'set the commit status';

/**
 * Pull request at a forge, reduced to the operations that show a plan. They throw AuthError if the token lacks the
 * permission, RateLimitedError, TransientError, or RejectedError (including 404: missing, or hidden from this token).
 */
export type Forge = NonNullable<ReturnType<typeof openForge>>;

/** Opens a pull request at its forge; null if Octavo does not support comments there. */
export function openForge(pull: PullRequest, token: string, signal: AbortSignal, userAgent: string) {
  const { forge, apiUrl, repository, number, head, runUrl } = pull;
  if (forge === 'bitbucket') {
    return null;
  }
  const api = OPENERS[forge]({ apiUrl, repository, token, signal, userAgent, ref: null });
  return {
    label: api.label,
    /** Maximum length of a comment, in characters. */
    maxLength: api.maxLength,
    /** Returns the comments by the owner of the token, oldest first. */
    listOwn: async () => (await ask(api, 'list the comments', () => api.listOwn(number))).sort((a, b) => a.id - b.id),
    /** Not safe to repeat: a comment whose response was lost may exist. */
    create: (body: string) => ask(api, 'write a comment', () => api.createComment(number, body)),
    update: (id: number, body: string) => tell(api, 'update the comment', () => api.updateComment(number, id, body)),
    /** Succeeds if the comment no longer exists. */
    remove: (id: number) => tell(api, 'remove a comment', () => api.removeComment(number, id)).catch(ignoreNotFound),
    /** Sets a status of the commit that the pull request proposes. */
    setStatus: (status: CommitStatus) => tell(api, SET_STATUS, () => api.setStatus(head, { ...status, url: runUrl })),
  };
}

/** Pull requests of a repository, whose operations throw the same errors as those of {@link Forge}. */
export type Pulls = ReturnType<typeof openPulls>;

/** Opens the pull requests of a repository. */
export function openPulls(at: ForgeRepository, token: string, signal: AbortSignal, userAgent: string) {
  const { forge, apiUrl, repository } = at;
  const api = OPENERS[forge]({ apiUrl, repository, token, signal, userAgent, ref: null });
  const { noun } = api;
  const findClosed = async (state: 'closed' | 'merged', branches: PullBranches, commit: string) => {
    const all = await ask(api, `find ${state} ${noun}s`, () => api.listPulls(branches, state));
    return all.find(({ head }) => head === commit)?.number ?? null;
  };
  return {
    label: api.label,
    /** Maximum length of a description, in characters. */
    maxLength: api.maxLength,
    /** Finds the open one from a branch of this repository, never from a fork's branch of the same name. */
    findOpen: async (branches: PullBranches) =>
      (await ask(api, `find the ${noun}`, () => api.listPulls(branches, 'open')))[0] ?? null,
    /** Returns the number of one that was closed without being merged while the branch was at this commit. */
    findDeclined: (branches: PullBranches, commit: string) => findClosed('closed', branches, commit),
    /**
     * Returns the number of one that was merged while the branch was at this commit, even if a squash or rebase changed
     * its commits.
     */
    findMerged: (branches: PullBranches, commit: string) => findClosed('merged', branches, commit),
    /** Rejected (409 or 422) if one from this branch is already open. */
    open: (branches: PullBranches, text: PullText) => ask(api, `open a ${noun}`, () => api.openPull(branches, text)),
    update: (number: number, text: PullText) => tell(api, `update the ${noun}`, () => api.updatePull(number, text)),
    /** Not safe to repeat: a comment whose response was lost may exist. */
    comment: (number: number, body: string) => tell(api, 'write a comment', () => api.createComment(number, body)),
    /** Succeeds if it is already closed. */
    close: (number: number) => tell(api, `close the ${noun}`, () => api.closePull(number)),
  };
}

/** Opens what people comment on pull requests of a repository; null if Octavo does not support approvals by comment there. */
export function openApprovals({ type, ...access }: { type: ForgeName } & Omit<ForgeAccess, 'ref'>) {
  const api = type === 'bitbucket' ? null : OPENERS[type]({ ...access, ref: null });
  if (api === null || api.approvals === null) {
    return null;
  }
  const { noun, label, approvals } = api;
  return {
    label,
    anchor: approvals.anchor,
    readPull: (pull: number) => ask(api, `read the ${noun}`, () => approvals.readPull(pull)),
    listComments: (pull: number) => ask(api, 'list the comments', () => approvals.listComments(pull)),
    readMembership: (account: ForgeAccount) =>
      ask(api, 'read the permission of the account', () => approvals.readMembership(account)),
    hasCommit: (pull: number, account: ForgeAccount) =>
      ask(api, 'list the commits', () => approvals.hasCommit(pull, account)),
    answer: (pull: number, body: string) => tell(api, 'write a comment', () => api.createComment(pull, body)),
  };
}

/** Opens the commit statuses of a repository at its forge. */
export function openForgeStatuses(
  { type, apiUrl, repository, token, ref }: { type: ForgeName } & Omit<ForgeAccess, 'signal' | 'userAgent'>,
  signal: AbortSignal,
  userAgent: string,
): CommitStatuses {
  const api: ForgeApi = OPENERS[type]({ apiUrl, repository, token, signal, userAgent, ref });
  const { label, maxDescription, deployments } = api;
  return {
    label,
    maxDescription,
    setStatus: (commit, status) => ask(api, SET_STATUS, () => api.setStatus(commit, status)),
    deployments: deployments && {
      createdState: deployments.createdState,
      create: (deployment) => ask(api, 'create the deployment', () => deployments.create(deployment)),
      find: (deployment) => ask(api, 'find the deployment', () => deployments.find(deployment)),
      setState: (id, state, status) =>
        ask(api, 'set the state of the deployment', () => deployments.setState(id, state, status)),
    },
  };
}

/** Webhook to create, and the repository that gets it. */
export interface HookSettings extends HookTarget, Pick<ForgeAccess, 'apiUrl' | 'repository' | 'token'> {
  readonly forge: ForgeName;
}

/**
 * Ensures that the repository has a webhook with this URL. A webhook that exists is updated, because forges do not show
 * its secret. After a lost response, the webhook is searched for before it is created again.
 */
export async function ensureHook(
  { forge, apiUrl, repository, token, url, secret, hasComments }: HookSettings,
  { clock, signal, userAgent }: { readonly clock: Clock; readonly signal: AbortSignal; readonly userAgent: string },
): Promise<'created' | 'updated'> {
  const api = OPENERS[forge]({ apiUrl, repository, token, signal, userAgent, ref: null });
  const hook = { url, secret, hasComments };
  return withRetries(clock, async () => {
    const found = (await ask(api, 'list the webhooks', () => api.listHooks())).find((each) => each.url === url);
    await (found === undefined
      ? ask(api, 'create the webhook', () => api.createHook(hook))
      : ask(api, 'update the webhook', () => api.updateHook(found.id, hook)));
    return found === undefined ? 'created' : 'updated';
  });
}

async function tell(api: ForgeApi, action: string, work: () => Promise<unknown>): Promise<void> {
  await ask(api, action, work);
}
