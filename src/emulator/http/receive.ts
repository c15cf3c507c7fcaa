import type { IncomingMessage } from 'node:http';
import { ApiError, invalid } from '../model/answers.ts';

/** Largest request body, in bytes; a larger one answers 413. Source: docs/platform-notes.md#errors */
const MAX_BODY = 10 * 1024 * 1024;

/** The whole body, or null when it is longer than a request may be; what is too long is read and thrown away. */
export async function receiveBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY) {
      chunks.push(chunk);
    }
  }
  return length > MAX_BODY ? null : Buffer.concat(chunks);
}

/** The body as JSON; undefined without one. 413 longer than `most` bytes, 415 not JSON by type, 400 not JSON by content. */
export function readJson(body: Buffer | null, contentType: string | undefined, most = MAX_BODY): unknown {
  if (body === null || body.length > most) {
    throw new ApiError(413, `The body is longer than ${most} bytes`);
  }
  if (body.length === 0) {
    return undefined;
  }
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType ?? '')) {
    throw new ApiError(415, 'Content-Type must be application/json');
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw invalid('body', 'not valid JSON in UTF-8');
  }
}

/** The query by name; a name given more than once has a list. */
export function readQuery(search: string): Record<string, string | string[]> {
  const query = new Map<string, string | string[]>();
  for (const [name, value] of search === '' ? [] : new URLSearchParams(search)) {
    const before = query.get(name);
    query.set(name, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(query);
}
