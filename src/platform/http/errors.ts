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
import type { HttpAnswer } from './whole-response.ts';

/** Maximum characters of the platform's message that are repeated. */
const MAX_QUOTE_LENGTH = 300;

/** Subject of a request, to name the likely mistake in the configuration. */
export interface RequestSubject {
  readonly baseUrl?: string;
  /** Organization, if nothing else in the request can be missing. */
  readonly organization?: string;
  /** Source of the token, such as `OCTAVO_TOKEN`. */
  readonly tokenSource?: string | undefined;
}

/**
 * Converts an unsuccessful response to an AppError. `origin` is that of the response. Source:
 * docs/platform-notes.md#errors
 */
export function responseError(
  operation: string,
  answer: HttpAnswer,
  origin: string,
  retryAfter: number | null,
  { baseUrl = '', organization, tokenSource }: RequestSubject = {},
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
  if (status === 408 || status >= 500) {
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
  return new RejectedError(`${operation}: the platform refused it (${status})${said}`, status);
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
