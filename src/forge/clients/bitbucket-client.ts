/** Client of the API of Bitbucket Cloud. */
import { boundedFetch } from '../forge.ts';
import { noAnswerError, refusalError } from '../forge-error.ts';

export const BITBUCKET = 'Bitbucket';

/** Sends JSON to a path of the API, and ignores the content of the answer. */
export type PostToBitbucket = (action: string, path: string, body: object) => Promise<void>;

/** Creates a client. `token`: an access token, or `email:token` for the API token of a user. */
export function bitbucketClient(apiUrl: string, token: string, signal: AbortSignal): PostToBitbucket {
  const send = boundedFetch(signal);
  const authorization = token.includes(':') ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`;
  const headers = { authorization, accept: 'application/json', 'content-type': 'application/json' };
  return async (action, path, body) => {
    let response: Response;
    try {
      response = await send(apiUrl + path, {
        ...{ method: 'POST', headers, body: JSON.stringify(body) },
        // A redirect would repeat the request as GET.
        redirect: 'manual',
      });
    } catch (error) {
      throw noAnswerError(BITBUCKET, action, error);
    }
    if (!response.ok) {
      const header = (name: string) => response.headers.get(name);
      throw refusalError({ action, label: BITBUCKET, status: response.status, header }, undefined);
    }
  };
}
