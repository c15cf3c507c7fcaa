/** Requests to the embedded platform by a client that shares no code with the product. */
import type { Emulator } from '../../src/emulator/emulator.ts';

/**
 * Sends a request below the organization, unless the path begins with `/v1`, and returns the body of the answer. Throws
 * unless it succeeds.
 */
export async function callPlatform(
  { url, token, organization }: Pick<Emulator, 'url' | 'token' | 'organization'>,
  method: string,
  path: string,
  body?: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect answers of every shape
): Promise<any> {
  const response = await fetch(`${url}${path.startsWith('/v1') ? path : `/v1/orgs/${organization}${path}`}`, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${method} ${path}: ${response.status} ${text}`);
  }
  return text === '' ? undefined : JSON.parse(text);
}
