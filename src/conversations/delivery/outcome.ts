import {
  AuthError,
  CancelledError,
  LeaseLostError,
  NotThePlatformError,
  RateLimitedError,
  RejectedError,
  TransientError,
} from '../../core/errors.ts';

/** Outcome of one request with conversations. */
export type SendOutcome =
  | { readonly kind: 'taken' | 'cancelled' }
  /** The content of at least one conversation is refused. */
  | { readonly kind: 'bad-content'; readonly reason: string }
  /** No response; the platform may have accepted the batch. */
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'not-sent'; readonly reason: string }
  /** Requires manual action. */
  | { readonly kind: 'refused' | 'unsupported'; readonly reason: string; readonly maybeTaken: boolean };

const CONTENT: readonly number[] = [400, 413, 422];
const NOT_THERE: readonly number[] = [404, 405, 410];

/** Classifies an error of the platform client by what it means for a batch. */
export function classifyError(error: unknown): SendOutcome {
  if (error instanceof RejectedError) {
    return rejected(error);
  }
  if (error instanceof AuthError) {
    return { kind: 'refused', reason: error.message, maybeTaken: false };
  }
  if (error instanceof NotThePlatformError) {
    // A proxy or gateway responded; it may have forwarded the request.
    return { kind: 'refused', reason: error.message, maybeTaken: true };
  }
  if (error instanceof CancelledError) {
    return { kind: 'cancelled' };
  }
  if (error instanceof RateLimitedError || error instanceof LeaseLostError) {
    return { kind: 'not-sent', reason: error.message };
  }
  if (error instanceof TransientError) {
    return { kind: error.maybeDone ? 'lost' : 'not-sent', reason: error.message };
  }
  return { kind: 'lost', reason: `an unexpected ${error instanceof Error ? error.name : 'error'}` };
}

function rejected({ status, message }: RejectedError): SendOutcome {
  if (CONTENT.includes(status)) {
    return { kind: 'bad-content', reason: message };
  }
  if (NOT_THERE.includes(status)) {
    return { kind: 'unsupported', reason: `this platform has no conversations: ${message}`, maybeTaken: false };
  }
  return { kind: 'refused', reason: message, maybeTaken: false };
}
