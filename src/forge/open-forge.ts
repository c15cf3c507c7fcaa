/** Opens repositories at their forges, whose errors are the same for all. */
import type { Clock } from '../core/clock.ts';
import { openBitbucket } from './bitbucket.ts';
import { type ForgeName, type ForgeRepository, link, type PullRequest } from './ci-job.ts';
import type {
  CommitStatuses,
  Forge,
  ForgeAccess,
  ForgeApi,
  HookTarget,
  ListedPull,
  OpenPull,
  PullBranches,
  Pulls,
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

/** Opens a pull request at its forge; null if Octavo does not support comments there. */
export function openForge(pull: PullRequest, token: string, signal: AbortSignal, userAgent: string): Forge | null {
  const { forge, apiUrl, repository, number, head, runUrl } = pull;
  if (forge === 'bitbucket') {
    return null;
  }
  const api = OPENERS[forge]({ apiUrl, repository, token, signal, userAgent, ref: null });
  return {
    label: api.label,
    maxLength: api.maxLength,
    listOwn: async () => (await ask(api, 'list the comments', () => api.listOwn(number))).sort((a, b) => a.id - b.id),
    create: (body) => ask(api, 'write a comment', () => api.createComment(number, body)),
    update: (id, body) => tell(api, 'update the comment', () => api.updateComment(number, id, body)),
    remove: (id) => tell(api, 'remove a comment', () => api.removeComment(number, id)).catch(ignoreNotFound),
    setStatus: (status) => statusesOf(api).setStatus(head, { ...status, url: runUrl }),
  };
}

/** Opens the pull requests of a repository. */
export function openPulls(at: ForgeRepository, token: string, signal: AbortSignal, userAgent: string): Pulls {
  const { forge, apiUrl, repository } = at;
  const api = OPENERS[forge]({ apiUrl, repository, token, signal, userAgent, ref: null });
  const { noun } = api;
  const findClosed = async (state: 'closed' | 'merged', branches: PullBranches, commit: string) => {
    const all = await ask(api, `find ${state} ${noun}s`, () => api.listPulls(branches, state));
    return all.find(({ head }) => head === commit)?.number ?? null;
  };
  return {
    label: api.label,
    maxLength: api.maxLength,
    async findOpen(branches) {
      const [found] = await ask(api, `find the ${noun}`, () => api.listPulls(branches, 'open'));
      return found === undefined ? null : shown(found);
    },
    findDeclined: (branches, commit) => findClosed('closed', branches, commit),
    findMerged: (branches, commit) => findClosed('merged', branches, commit),
    open: async (branches, text) => shown(await ask(api, `open a ${noun}`, () => api.openPull(branches, text))),
    update: (number, text) => tell(api, `update the ${noun}`, () => api.updatePull(number, text)),
    comment: (number, body) => tell(api, 'write a comment', () => api.createComment(number, body)),
    close: (number) => tell(api, `close the ${noun}`, () => api.closePull(number)),
  };
}

function shown({ number, url, title, body }: ListedPull): OpenPull {
  return { number, url: link(url), title, body };
}

/** Opens the commit statuses of a repository at its forge. */
export function openForgeStatuses(
  { type, apiUrl, repository, token, ref }: { type: ForgeName } & Omit<ForgeAccess, 'signal' | 'userAgent'>,
  signal: AbortSignal,
  userAgent: string,
): CommitStatuses {
  return statusesOf(OPENERS[type]({ apiUrl, repository, token, signal, userAgent, ref }));
}

function statusesOf(api: ForgeApi): CommitStatuses {
  const { label, maxDescription, deployments } = api;
  return {
    label,
    maxDescription,
    setStatus: (commit, status) => tell(api, 'set the commit status', () => api.setStatus(commit, status)),
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
  { forge, apiUrl, repository, token, url, secret }: HookSettings,
  { clock, signal, userAgent }: { readonly clock: Clock; readonly signal: AbortSignal; readonly userAgent: string },
): Promise<'created' | 'updated'> {
  const api = OPENERS[forge]({ apiUrl, repository, token, signal, userAgent, ref: null });
  const hook = { url, secret };
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
