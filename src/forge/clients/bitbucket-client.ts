/** Client of the API of Bitbucket Cloud. */
import { boundedFetch } from './bounded-fetch.ts';
import { noAnswerError, refusalError } from './forge-error.ts';

export const BITBUCKET = 'Bitbucket';

/** Sends a request to a path of the API: POST if it has a body, otherwise GET. Returns the content of the answer. */
export type AskBitbucket = (
  action: string,
  path: string,
  body?: object,
  method?: 'GET' | 'POST' | 'PUT',
) => Promise<unknown>;

/** Creates a client. `token`: an access token, or `email:token` for the API token of a user. */
export function bitbucketClient(apiUrl: string, token: string, signal: AbortSignal): AskBitbucket {
  const send = boundedFetch(apiUrl, signal);
  const authorization = token.includes(':') ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`;
  const headers = { authorization, accept: 'application/json', 'content-type': 'application/json' };
  return async (action, path, body, method = body === undefined ? 'GET' : 'POST') => {
    let response: Response;
    try {
      response = await send(apiUrl + path, {
        ...{ method, headers, body: body === undefined ? null : JSON.stringify(body) },
      });
    } catch (error) {
      throw noAnswerError(BITBUCKET, action, error);
    }
    if (!response.ok) {
      const header = (name: string) => response.headers.get(name);
      throw refusalError({ action, label: BITBUCKET, status: response.status, header }, undefined);
    }
    return response.json().catch(() => null);
  };
}
