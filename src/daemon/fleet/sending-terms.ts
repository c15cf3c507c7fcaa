/** Refuses requests that an organization must not send any more. */
import { SEND_MARGIN } from '../../config/store.ts';
import { type AppError, CancelledError, LeaseLostError } from '../../core/errors.ts';
import type { SendingTerms } from '../../platform/connection.ts';
import type { Lease } from '../../store/leases.ts';

/**
 * Returns the error of a request that might still be on its way when the lease has ended; null if it may be sent.
 * `timeout`: milliseconds after which the request is given up.
 */
export function leaseRefusal(lease: Pick<Lease, 'name' | 'left'>, timeout: number): AppError | null {
  return lease.left() >= timeout + SEND_MARGIN ? null : new LeaseLostError(lease.name, 'short');
}

/**
 * Returns the terms of an organization: nothing is sent once `stopping` aborts, and no write that the lease may not outlast.
 * `timeout`: that of a request, in milliseconds.
 */
export function sendingTerms(
  lease: Pick<Lease, 'name' | 'left'>,
  stopping: AbortSignal,
  timeout: number,
  userAgent: string,
): SendingTerms {
  const readRefusal = () =>
    stopping.aborted ? new CancelledError('the request was not sent: the organization is stopping') : null;
  return { readRefusal, writeRefusal: () => readRefusal() ?? leaseRefusal(lease, timeout), userAgent };
}

/** Returns the user agent of requests; in a fleet it names the replica and the epoch of the lease. */
export function userAgent(version: string, replica: string | null, { epoch }: Pick<Lease, 'epoch'>): string {
  // A header has no characters outside of ASCII.
  const name = replica?.replaceAll(/[^\w.:-]/g, '_');
  return name === undefined ? `octavo/${version}` : `octavo/${version} (replica ${name}; epoch ${epoch})`;
}
