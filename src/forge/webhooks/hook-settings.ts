/** Creates or updates the webhook of a repository at its forge. */

import { ProjectHooks } from '@gitbeaker/rest';
import * as z from 'zod';
import type { Clock } from '../../core/clock.ts';
import { NotThePlatformError } from '../../core/errors.ts';
import { BITBUCKET, bitbucketClient } from '../clients/bitbucket-client.ts';
import { askGitea, giteaClient, readGiteaPages } from '../clients/gitea-client.ts';
import { askGitHub, githubClient, readGitHubPages } from '../clients/github-client.ts';
import { askGitLab, gitlabOptions, readGitLabPages } from '../clients/gitlab-client.ts';
import { readPages } from '../clients/read-pages.ts';
import { withRetries } from '../publish.ts';
import type { ForgeName } from '../pull-request.ts';

/** Webhook to create, and the repository that gets it. */
export interface HookSettings {
  readonly forge: ForgeName;
  readonly apiUrl: string;
  readonly repository: string;
  readonly token: string;
  /** URL that receives the requests. */
  readonly url: string;
  readonly secret: string;
}

/** Webhooks of a repository. Throws AuthError, RateLimitedError, TransientError or RejectedError. */
interface HookApi {
  list(): Promise<readonly { readonly id: string | number; readonly url: string | undefined }[]>;
  create(): Promise<unknown>;
  update(id: string | number): Promise<unknown>;
}

const LIST = 'list the webhooks';
const CREATE = 'create the webhook';
const UPDATE = 'update the webhook';
/** Hooks on one page of a list. */
const PAGE = 100;

/**
 * Ensures that the repository has a webhook with this URL. A webhook that exists is updated, because forges do not show
 * its secret. After a lost response, the webhook is searched for before it is created again.
 */
export async function ensureHook(
  settings: HookSettings,
  { clock, signal, userAgent }: { readonly clock: Clock; readonly signal: AbortSignal; readonly userAgent: string },
): Promise<'created' | 'updated'> {
  const api = openHooks(settings, signal, userAgent);
  return withRetries(clock, async () => {
    const found = (await api.list()).find(({ url }) => url === settings.url);
    await (found === undefined ? api.create() : api.update(found.id));
    return found === undefined ? 'created' : 'updated';
  });
}

function openHooks(settings: HookSettings, signal: AbortSignal, userAgent: string): HookApi {
  switch (settings.forge) {
    case 'github':
      return githubHooks(settings, signal, userAgent);
    case 'gitlab':
      return gitlabHooks(settings, signal);
    case 'gitea':
      return giteaHooks(settings, signal);
    case 'bitbucket':
      return bitbucketHooks(settings, signal);
  }
}

function githubHooks({ apiUrl, repository, token, url, secret }: HookSettings, signal: AbortSignal, userAgent: string) {
  const [owner = '', repo = ''] = repository.split('/');
  const octokit = githubClient(apiUrl, token, signal, userAgent);
  const config = { url, content_type: 'json', secret, insecure_ssl: '0' } as const;
  const hook = { owner, repo, active: true, events: ['push'], config };
  return {
    list: () =>
      askGitHub(LIST, async () => {
        const filter = { owner, repo, per_page: PAGE };
        const path = 'GET /repos/{owner}/{repo}/hooks';
        const all = await readGitHubPages((page) => octokit.request(path, { ...filter, page }));
        return all.map(({ id, config }) => ({ id, url: config.url }));
      }),
    create: () =>
      askGitHub(CREATE, () => octokit.request('POST /repos/{owner}/{repo}/hooks', { ...hook, name: 'web' })),
    update: (id) =>
      askGitHub(UPDATE, () =>
        octokit.request('PATCH /repos/{owner}/{repo}/hooks/{hook_id}', { ...hook, hook_id: Number(id) }),
      ),
  } satisfies HookApi;
}

function gitlabHooks({ apiUrl, repository, token, url, secret }: HookSettings, signal: AbortSignal): HookApi {
  const hooks = new ProjectHooks(gitlabOptions(apiUrl, token, signal));
  // The client passes unknown options on: it does not know signing tokens yet.
  const key = secret.startsWith('whsec_') ? { signingToken: secret } : { token: secret };
  const events = { pushEvents: true, tagPushEvents: true, enableSslVerification: true, ...key };
  return {
    list: () =>
      askGitLab(LIST, async () => {
        const all = await readGitLabPages((page) => hooks.all(repository, page));
        return all.map(({ id, url }) => ({ id, url }));
      }),
    create: () => askGitLab(CREATE, () => hooks.add(repository, url, events)),
    update: (id) => askGitLab(UPDATE, () => hooks.edit(repository, Number(id), url, events)),
  };
}

function giteaHooks({ apiUrl, repository, token, url, secret }: HookSettings, signal: AbortSignal): HookApi {
  const [owner = '', repo = ''] = repository.split('/');
  const { repos } = giteaClient(apiUrl, token, signal);
  const hook = { active: true, events: ['push'], config: { url, content_type: 'json', secret } };
  return {
    list: () =>
      askGitea(LIST, async () => {
        const all = await readGiteaPages((page) => repos.repoListHooks(owner, repo, { page, limit: 50 }));
        return all.map(({ id = 0, config }) => ({ id, url: config?.url }));
      }),
    create: () => askGitea(CREATE, () => repos.repoCreateHook(owner, repo, { ...hook, type: 'gitea' })),
    update: (id) => askGitea(UPDATE, () => repos.repoEditHook(owner, repo, Number(id), hook)),
  };
}

const bitbucketPage = z.object({
  values: z.array(z.object({ uuid: z.string(), url: z.string() })),
  next: z.string().optional(),
});

function bitbucketHooks({ apiUrl, repository, token, url, secret }: HookSettings, signal: AbortSignal): HookApi {
  const ask = bitbucketClient(apiUrl, token, signal);
  const path = `/repositories/${repository.split('/').map(encodeURIComponent).join('/')}/hooks`;
  const hook = { description: 'Octavo', url, active: true, events: ['repo:push'], secret };
  return {
    list: () =>
      readPages(async (page) => {
        const { success, data } = bitbucketPage.safeParse(await ask(LIST, `${path}?pagelen=${PAGE}&page=${page}`));
        if (!success) {
          throw new NotThePlatformError(`${BITBUCKET} answers in another format; check forge.apiUrl`);
        }
        return { items: data.values.map(({ uuid, url }) => ({ id: uuid, url })), isLast: data.next === undefined };
      }),
    create: () => ask(CREATE, path, hook),
    update: (id) => ask(UPDATE, `${path}/${encodeURIComponent(id)}`, hook, 'PUT'),
  };
}
