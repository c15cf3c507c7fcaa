/** Answers of the platform: errors, events of a stream, and pages of a list. */

import { createParser } from 'eventsource-parser';
import {
  type AppError,
  AuthError,
  NotThePlatformError,
  RateLimitedError,
  RejectedError,
  TransientError,
} from '../../core/errors.ts';
import { isObject, parseBounded } from '../../core/json.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import type { HttpAnswer } from './transport.ts';

/** Maximum characters of the platform's message that are repeated. */
const MAX_QUOTE_LENGTH = 300;

/** Subject of a request, to name the likely mistake in the configuration. */
export interface RequestSubject {
  readonly baseUrl?: string;
  /** Organization, if nothing else in the request can be missing. */
  readonly organization?: string;
  /** Source of the token, such as `OCTAVO_TOKEN`. */
  readonly tokenSource?: string | undefined;
  /** Platforms that have the operation, in words; null for all. */
  readonly limitedTo?: string | null;
}

/** Statuses with which a platform reports that an operation does not exist. */
export const NOT_THERE: readonly number[] = [404, 405, 410, 501];

/**
 * Converts an unsuccessful response to an AppError. `origin` is that of the response. Source:
 * docs/platform-notes.md#errors
 */
export function responseError(
  operation: string,
  answer: HttpAnswer,
  origin: string,
  retryAfter: number | null,
  { baseUrl = '', organization, tokenSource, limitedTo = null }: RequestSubject = {},
): AppError {
  const { status } = answer;
  const version = /\/v\d+\/?$/.exec(baseUrl)?.[0];
  if (status === 404 && version !== undefined) {
    const right = baseUrl.slice(0, -version.length);
    return new NotThePlatformError(
      `${operation}: ${origin} has no such path (404): the base URL ends in ${version}, which Octavo adds itself; write ${right}`,
    );
  }
  if (status >= 300 && status < 400) {
    return redirected(answer, origin);
  }
  const said = wordsOf(answer);
  if (status === 429) {
    return new RateLimitedError(`${operation}: the rate limit is used up (429)${said}`, retryAfter);
  }
  if (status === 408 || (status >= 500 && status !== 501)) {
    return new TransientError(`${operation}: the platform failed (${status})${said}`, true);
  }
  if (status === 400 && isPlainOnTls(answer)) {
    return new NotThePlatformError(`${operation}: ${origin} expects TLS on this port; write https:// in the base URL`);
  }
  if (isHtml(answer)) {
    return notJson(operation, answer, origin);
  }
  if (status === 401) {
    const token = tokenSource === undefined ? 'the token' : `the token from ${tokenSource}`;
    return new AuthError(`the platform does not accept ${token} (401)${said}; replace it, see docs/token.md`, status);
  }
  if (status === 403) {
    return new AuthError(`the token has no permission for ${operation} (403)${said}`, status);
  }
  if (status === 404 && organization !== undefined) {
    const question = `does the organization ${JSON.stringify(organization)} exist, and may the token see it?`;
    return new RejectedError(`${operation}: not found (404)${said}; ${question}`, status);
  }
  const only = limitedTo !== null && NOT_THERE.includes(status) ? `; only ${limitedTo} have this operation` : '';
  return new RejectedError(`${operation}: the platform refused it (${status})${said}${only}`, status);
}

/** Returns true for the response of a TLS server to plain HTTP. */
function isPlainOnTls({ body }: HttpAnswer): boolean {
  return typeof body === 'string' && /plain HTTP request was sent to HTTPS|HTTP request to an HTTPS server/i.test(body);
}

/** Creates the error for a body that is not JSON. */
export function notJson(operation: string, answer: HttpAnswer, origin: string): NotThePlatformError {
  const what = isHtml(answer) ? 'with HTML, not JSON' : 'with something that is not JSON';
  return new NotThePlatformError(`${operation}: ${origin} answered ${what} (${answer.status}); check the base URL`);
}

/** Creates the error for a response that is not a stream of events. */
export function notEvents(operation: string, answer: HttpAnswer, origin: string): NotThePlatformError {
  const what = isHtml(answer) ? 'with HTML' : 'with something else';
  return new NotThePlatformError(
    `${operation}: ${origin} answered ${what}, not a stream of events (${answer.status}); check the base URL`,
  );
}

function redirected(answer: HttpAnswer, origin: string): NotThePlatformError {
  const location = answer.headers.location;
  const to = typeof location === 'string' && URL.canParse(location, origin) ? new URL(location, origin).origin : null;
  const where = to === null || to === origin ? 'elsewhere' : `to ${to}`;
  return new NotThePlatformError(
    `${origin} redirects ${where} (${answer.status}); redirects are not followed; check the base URL`,
  );
}

function isHtml(answer: HttpAnswer): boolean {
  const type = String(answer.headers['content-type'] ?? '');
  return type.includes('html') || (typeof answer.body === 'string' && /^\s*<(!doctype|html)/i.test(answer.body));
}

/** Returns the message in the platform's error body, shortened to one line. */
function wordsOf(answer: HttpAnswer): string {
  if (typeof answer.body !== 'string') {
    return '';
  }
  let body: unknown;
  try {
    body = parseBounded(answer.body, 'the answer');
  } catch {
    return '';
  }
  const error = isObject(body) ? body.error : undefined;
  const message = isObject(error) ? error.message : error;
  if (typeof message !== 'string' || message.trim() === '') {
    return '';
  }
  const line = maskUrls(message.replaceAll(/\s+/g, ' ').trim());
  return `: ${line.length > MAX_QUOTE_LENGTH ? `${line.slice(0, MAX_QUOTE_LENGTH)}…` : line}`;
}

/** Data of the last event. Source: docs/platform-notes.md#ask */
const END = 'done';

/**
 * Reads the events of a stream as JSON, up to the event `done`, without waiting for more. `name` is that of the
 * operation. Throws NotThePlatformError for an event that is not JSON, and TransientError if the stream ends before
 * `done`.
 */
export async function* readEvents(name: string, chunks: AsyncIterable<string>): AsyncGenerator<unknown> {
  const found: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => found.push(data) });
  for await (const chunk of closed(chunks)) {
    parser.feed(chunk);
    for (const text of found.splice(0).flatMap(linesOf)) {
      if (text === END) {
        return;
      }
      yield parseEvent(name, text);
    }
  }
  throw new TransientError(`${name}: the answer ended before it was complete`, true);
}

/** The last event is also read if no blank line follows it. */
async function* closed(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  yield* chunks;
  yield '\n\n';
}

/** Reads each line as an event, with or without blank lines between them: the platform's JSON has no line breaks. */
function linesOf(data: string): string[] {
  return data
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function parseEvent(name: string, text: string): unknown {
  try {
    return parseBounded(text, `${name}: an event`);
  } catch (error) {
    if (error instanceof NotThePlatformError) {
      throw error;
    }
    throw new NotThePlatformError(`${name}: the platform sent an event that is not JSON`, { cause: error });
  }
}

const MAX_ITEMS = 1_000_000;
const MAX_PAGES = 10_000;
/** Maximum number of consecutive empty pages. The last page may be empty, and so may one that was just deleted. */
const MAX_EMPTY = 3;
/** Maximum length of a cursor in characters: it is sent in a URL. */
const MAX_CURSOR = 8_192;

/** Progress through the pages of a list, which detects that the platform does not end it. */
export class ListProgress {
  readonly #name: string;
  readonly #cursors = new Set<string>();
  #items = 0;
  #empty = 0;

  /** `name`: name of the operation in messages. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Adds a page with its number of items and the cursor of the next page. Throws NotThePlatformError. */
  add(items: number, next: string | null | undefined): void {
    if (!next) {
      return;
    }
    this.#items += items;
    this.#empty = items === 0 ? this.#empty + 1 : 0;
    const reason = this.#findReason(next);
    if (reason !== null) {
      throw new NotThePlatformError(`${this.#name}: the list does not end: ${reason}`);
    }
    this.#cursors.add(next);
  }

  #findReason(next: string): string | null {
    if (this.#cursors.has(next)) {
      return 'the platform names the same next page twice';
    }
    if (this.#empty >= MAX_EMPTY) {
      return `${MAX_EMPTY} empty pages in a row name a next page`;
    }
    if (this.#cursors.size + 1 >= MAX_PAGES || this.#items >= MAX_ITEMS) {
      return `it has more than ${MAX_PAGES} pages or ${MAX_ITEMS} items`;
    }
    return next.length > MAX_CURSOR ? `the cursor of a page has more than ${MAX_CURSOR} characters` : null;
  }
}
