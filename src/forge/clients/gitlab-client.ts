/** Client of GitLab's API. */
import { createRequesterFn, type RequestOptions } from '@gitbeaker/requester-utils';
import { GitbeakerRequestError } from '@gitbeaker/rest';
import { boundedFetch } from './bounded-fetch.ts';
import { noAnswerError, refusalError } from './forge-error.ts';
import { readPages } from './read-pages.ts';

export const GITLAB = 'GitLab';
const PAGE = 100;

/** Options of every GitLab client. Requests end with `signal`. */
export function gitlabOptions(apiUrl: string, token: string, signal: AbortSignal) {
  return {
    host: apiUrl.replace(/\/api\/v4\/?$/, ''),
    token,
    requesterFn: singleRequester(boundedFetch(apiUrl, signal)),
  };
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

/**
 * Returns the items of all pages. The client itself would follow links without an end: its own limit counts items, of
 * which a page may have none.
 */
export function readGitLabPages<T>(
  read: (page: { readonly page: number; readonly perPage: number; readonly showExpanded: true }) => Promise<{
    readonly data: readonly T[];
    readonly paginationInfo: { readonly next: number | null };
  }>,
): Promise<T[]> {
  return readPages(async (page) => {
    const { data, paginationInfo } = await read({ page, perPage: PAGE, showExpanded: true });
    return { items: data, isLast: paginationInfo?.next == null };
  });
}

/** Runs a request to GitLab and classifies its errors. */
export async function askGitLab<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const response = error instanceof GitbeakerRequestError ? error.cause?.response : undefined;
    if (response === undefined) {
      throw noAnswerError(GITLAB, action, error);
    }
    const header = (name: string) => response.headers.get(name);
    throw refusalError({ action, label: GITLAB, status: response.status, header }, error);
  }
}
