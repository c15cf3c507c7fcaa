/** `fetch` with a timeout and a maximum size of responses, whose requests never leave the forge. */
import { NotThePlatformError } from '../../core/errors.ts';
import { findExceededLimit } from '../../core/json.ts';

/** Timeout of a request to a forge, in milliseconds. */
export const FORGE_TIMEOUT = 30_000;

/** Maximum size of a response, in bytes after decompression. */
const MAX_RESPONSE = 64 * 1024 * 1024;

/** Maximum number of redirects that are followed, such as those of a renamed repository. */
const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Redirects that keep the method and the body; a POST becomes a GET with the others. */
const KEEPS_METHOD = new Set([307, 308]);

/** A response of a forge cannot be used, and a retry would not help. */
export class UnusableResponseError extends NotThePlatformError {}

/**
 * Returns a `fetch` that stops when `signal` aborts. It sends requests only to the origin of `apiUrl`, because they contain
 * secrets, and a response can link to anything, such as the next page of a list. It follows redirects only if the request
 * stays the same.
 */
export function boundedFetch(apiUrl: string, signal: AbortSignal): typeof fetch {
  const { origin } = new URL(apiUrl);
  return async (input, init) => {
    const signals = [signal, AbortSignal.timeout(FORGE_TIMEOUT), ...(init?.signal ? [init.signal] : [])];
    const request = new Request(input, { ...init, redirect: 'manual', signal: AbortSignal.any(signals) });
    const target = new URL(request.url);
    if (target.origin !== origin) {
      throw new UnusableResponseError(`a link of the response leads to ${target.origin}, which is not followed`);
    }
    return await readWhole(await follow(request, MAX_REDIRECTS));
  };
}

async function follow(request: Request, left: number): Promise<Response> {
  const again = request.clone();
  const response = await fetch(request);
  const { status, headers } = response;
  if (!REDIRECTS.has(status)) {
    return response;
  }
  await response.body?.cancel();
  const target = URL.parse(headers.get('location') ?? '', request.url);
  const isSameRequest = KEEPS_METHOD.has(status) || request.method === 'GET';
  if (left === 0 || target === null || !isSameRequest || target.origin !== new URL(request.url).origin) {
    const to = target === null ? '' : ` to ${target.origin}`;
    throw new UnusableResponseError(`the response is a redirect${to} (${status}), which is not followed`);
  }
  return follow(new Request(target, again), left - 1);
}

/** Reads a response to its end: one of the clients ignores errors of its body, but none ignores those of `fetch`. */
async function readWhole(response: Response): Promise<Response> {
  if (response.body === null) {
    return response;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_RESPONSE) {
      throw new UnusableResponseError(`the response is larger than ${MAX_RESPONSE / 2 ** 20} MiB`);
    }
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  // The clients parse any response that looks like JSON. Its syntax is ASCII.
  const reason = findExceededLimit(bytes.toString('latin1'));
  if (reason !== null) {
    throw new UnusableResponseError(`the response ${reason}, and is not read`);
  }
  const { status, statusText, headers, url } = response;
  return Object.defineProperty(new Response(bytes, { status, statusText, headers }), 'url', {
    value: url,
  });
}
