/** Client of the API of Gitea and Forgejo. */
import { giteaApi } from 'gitea-js';
import { boundedFetch } from './bounded-fetch.ts';
import { noAnswerError, refusalError } from './forge-error.ts';
import { readPages } from './read-pages.ts';

export const GITEA = 'Gitea';

export function giteaClient(apiUrl: string, token: string, signal: AbortSignal) {
  return giteaApi(apiUrl.replace(/\/api\/v1\/?$/, ''), { token, customFetch: boundedFetch(apiUrl, signal) });
}

/** Runs a request to Gitea, whose client throws the response, and classifies its errors. */
export async function askGitea<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Response)) {
      throw noAnswerError(GITEA, action, error);
    }
    const header = (name: string) => error.headers.get(name);
    throw refusalError({ action, label: GITEA, status: error.status, header }, undefined);
  }
}

/** Returns the items of all pages. The last one is empty: the server may return fewer items than the limit. */
export function readGiteaPages<T>(read: (page: number) => Promise<{ readonly data: readonly T[] }>): Promise<T[]> {
  return readPages(async (page) => {
    const { data } = await read(page);
    return { items: data, isLast: data.length === 0 };
  });
}
