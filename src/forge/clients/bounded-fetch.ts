/** `fetch` with a timeout and a maximum size of responses. */

/** Timeout of a request to a forge, in milliseconds. */
const FORGE_TIMEOUT = 30_000;

/** Maximum size of a response, in bytes after decompression. */
const MAX_RESPONSE = 64 * 1024 * 1024;

/** A response of a forge is larger than the maximum. */
export class ResponseTooLargeError extends Error {
  override readonly message = `the response is larger than ${MAX_RESPONSE / 2 ** 20} MiB`;
}

/** Returns a `fetch` with a timeout and a maximum size of responses that also stops when `signal` aborts. */
export function boundedFetch(signal: AbortSignal): typeof fetch {
  return async (input, init) => {
    const signals = [signal, AbortSignal.timeout(FORGE_TIMEOUT), ...(init?.signal ? [init.signal] : [])];
    return await readWhole(await fetch(input, { ...init, signal: AbortSignal.any(signals) }));
  };
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
      throw new ResponseTooLargeError();
    }
    chunks.push(chunk);
  }
  const { status, statusText, headers, url } = response;
  return Object.defineProperty(new Response(Buffer.concat(chunks), { status, statusText, headers }), 'url', {
    value: url,
  });
}
