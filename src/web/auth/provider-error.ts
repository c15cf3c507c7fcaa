/** Errors of an OpenID Connect provider: whether it refused, or cannot be used now. */
import { PageError } from '../page-error.ts';

/** Codes of openid-client for answers that say nothing about the person. */
const UNUSABLE: ReadonlySet<string> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  // The keys of the provider are cached for up to a minute, and may have been replaced since.
  'OAUTH_KEY_SELECTION_FAILED',
]);
/** OAuth errors with the same meaning. Source: RFC 6749, section 4.1.2.1, and RFC 8628 for `slow_down`. */
const TEMPORARY: ReadonlySet<string> = new Set(['temporarily_unavailable', 'server_error', 'slow_down']);
const TOO_MANY_REQUESTS = 429;

interface ProviderError {
  readonly error?: unknown;
  readonly code?: unknown;
  readonly status?: unknown;
  readonly cause?: unknown;
}

/** Returns true if the provider could not answer, so that nothing is known about the person. */
export function isUnavailable(error: unknown): boolean {
  const { error: reason, code, status } = partsOf(error);
  return (
    // Thrown by fetch for every failure of the network.
    error instanceof TypeError ||
    (typeof code === 'string' && UNUSABLE.has(code)) ||
    (typeof reason === 'string' && TEMPORARY.has(reason)) ||
    status === TOO_MANY_REQUESTS
  );
}

/** Returns the error of a sign-in that failed. */
export function signInError(error: unknown): PageError {
  return isUnavailable(error)
    ? unavailable(error)
    : new PageError(403, `The sign-in was refused: ${describeError(error)}. Sign in again.`);
}

/** Returns the error for a provider that cannot be used now. */
export function unavailable(error: unknown): PageError {
  return new PageError(502, `The sign-in provider cannot be used now (${describeError(error)}). Try again later.`);
}

/** Describes an error by its code, without details of the requests. */
export function describeError(error: unknown): string {
  const { error: reason, code, cause } = partsOf(error);
  const found = [reason, code, partsOf(cause).code].find(
    (each): each is string => typeof each === 'string' && /^[\w.-]{1,80}$/.test(each),
  );
  return found ?? 'an unknown reason';
}

function partsOf(error: unknown): ProviderError {
  return typeof error === 'object' && error !== null ? error : {};
}
