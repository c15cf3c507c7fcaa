/** Repositories at Bitbucket Cloud. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { NotThePlatformError } from '../core/errors.ts';
import type { CommitState, ForgeAccess, ForgeApi, HookTarget } from './forge.ts';
import { boundedFetch, readPages, refusalOfResponse } from './requests.ts';

const LABEL = 'Bitbucket';
/** Maximum length of the key and of the description, in characters (Bitbucket Cloud REST API, commit statuses). */
const MAX_KEY = 40;
const MAX_DESCRIPTION = 255;
const STATES = {
  pending: 'INPROGRESS',
  running: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  error: 'FAILED',
  superseded: 'STOPPED',
} as const satisfies Record<CommitState, string>;

const hookPage = z.object({
  values: z.array(z.object({ uuid: z.string(), url: z.string() })),
  next: z.string().optional(),
});

/** Opens a repository. The token is an access token, or `email:token` for the API token of a user. */
export function openBitbucket({ apiUrl, repository, token, signal }: ForgeAccess): ForgeApi {
  const send = boundedFetch(apiUrl, signal);
  const authorization = token.includes(':') ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`;
  const headers = { authorization, accept: 'application/json', 'content-type': 'application/json' };
  const root = `${apiUrl}/repositories/${repository.split('/').map(encodeURIComponent).join('/')}`;
  const request = async (method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<unknown> => {
    const response = await send(root + path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (!response.ok) {
      throw response;
    }
    return response.json().catch(() => null);
  };
  return {
    label: LABEL,
    maxDescription: MAX_DESCRIPTION,
    deployments: null,
    refusalOf: refusalOfResponse,
    setStatus: (commit, { state, context, description, url }) =>
      request('POST', `/commit/${commit}/statuses/build`, {
        key: statusKey(context),
        name: context,
        state: STATES[state],
        description,
        // Bitbucket requires a link.
        url: url ?? `https://bitbucket.org/${repository}/commits/${commit}`,
      }),
    listHooks: () =>
      readPages(async (page) => {
        const { success, data } = hookPage.safeParse(await request('GET', `/hooks?pagelen=100&page=${page}`));
        if (!success) {
          throw new NotThePlatformError(`${LABEL} answers in another format; check forge.apiUrl`);
        }
        return { items: data.values.map(({ uuid, url }) => ({ id: uuid, url })), isLast: data.next === undefined };
      }),
    createHook: (hook) => request('POST', '/hooks', hookOf(hook)),
    updateHook: (id, hook) => request('PUT', `/hooks/${encodeURIComponent(id)}`, hookOf(hook)),
  };
}

function hookOf({ url, secret }: HookTarget) {
  return { description: 'Octavo', url, active: true, events: ['repo:push'], secret };
}

/** Returns the context if it fits, otherwise a hash that stays the same. */
function statusKey(context: string): string {
  return [...context].length <= MAX_KEY
    ? context
    : createHash('sha256').update(context).digest('hex').slice(0, MAX_KEY);
}
