/** Reads bodies and queries of requests. */

import type { IncomingMessage } from 'node:http';
import { ApiError, invalid } from '../model/answers.ts';

/** Largest request body, in bytes; a larger one answers 413. Source: docs/platform-notes.md#errors */
const MAX_BODY = 10 * 1024 * 1024;

/** Reads the body. Returns null if it is longer than a request may be; the rest is read and discarded. */
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

/**
 * Parses the body as JSON; returns undefined without a body. Throws a 413 for more than `most` bytes, a 415 for another
 * content type, and a 400 for invalid JSON.
 */
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

/** Parses the query. A repeated name becomes a list. */
export function readQuery(search: string): Record<string, string | string[]> {
  const query = new Map<string, string | string[]>();
  for (const [name, value] of search === '' ? [] : new URLSearchParams(search)) {
    const before = query.get(name);
    query.set(name, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(query);
}
