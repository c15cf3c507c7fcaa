/** Client of GitHub's API. */
import { Octokit } from '@octokit/core';
import { boundedFetch } from './bounded-fetch.ts';
import { noAnswerError, refusalError } from './forge-error.ts';
import { readPages } from './read-pages.ts';

export const GITHUB = 'GitHub';
const silent = () => undefined;

/** Creates a client of GitHub's API that does not log. */
export function githubClient(apiUrl: string, token: string, signal: AbortSignal, userAgent: string) {
  return new Octokit({
    auth: token,
    baseUrl: apiUrl,
    userAgent,
    request: { fetch: boundedFetch(apiUrl, signal) },
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
}

/** Returns the items of all pages. Every page but the last has a link to the next one. */
export function readGitHubPages<T>(
  read: (page: number) => Promise<{ readonly headers: { readonly link?: string | undefined }; readonly data: T[] }>,
): Promise<T[]> {
  return readPages(async (page) => {
    const { headers, data } = await read(page);
    return { items: data, isLast: !/\brel="next"/.test(headers.link ?? '') };
  });
}

/** Runs a request to GitHub and classifies its errors. */
export async function askGitHub<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { response, status, errors } = error as GitHubFailure;
    if (errors !== undefined) {
      throw graphError(action, errors, error);
    }
    if (response === undefined || status === undefined) {
      throw noAnswerError(GITHUB, action, error);
    }
    const header = (name: string) => (response.headers[name] === undefined ? null : String(response.headers[name]));
    // Without limit headers, only the documentation link identifies a secondary limit (GitHub REST API, rate limits).
    const isLimit = status === 403 && /rate-limit/.test(response.data?.documentation_url ?? '');
    throw refusalError({ action, label: GITHUB, status, header, isLimit }, error);
  }
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

/** Classifies a GraphQL error. Only an error of type "forbidden" is permanent; others are retried. */
function graphError(action: string, errors: readonly { readonly type?: string }[], cause: unknown): Error {
  const types = errors.map(({ type }) => type ?? '');
  const isForbidden = types.some((type) => type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES');
  const isLimit = types.some((type) => /^RATE_LIMIT/.test(type));
  const status = isLimit || isForbidden ? 403 : 502;
  return refusalError({ action, label: GITHUB, status, header: () => null, isLimit }, cause);
}
