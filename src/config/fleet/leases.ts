/** Settings of a fleet of replicas. */
import * as z from 'zod';
import { CLOCK_DRIFT } from '../../core/clock.ts';
import { choice, count, positive } from '../model/settings.ts';

/** Schema of `fleet`. See docs/fleet.md. */
export function fleetSchema() {
  return z
    .strictObject({
      lease: positive('the time after which others take over from a replica that failed, such as 60s').prefault('60s'),
      weight: count(1, 1000).prefault(1),
      split: choice(['token', 'organization']).prefault('token'),
    })
    .prefault({});
}

/** Part of a lease that is left at worst, because replicas renew after a quarter of it, and clocks drift. */
const LEFT = 0.75 - CLOCK_DRIFT;
/** Milliseconds by which a lease must outlast the timeout of a request that changes something. */
export const SEND_MARGIN = 2000;

/**
 * Returns the shortest lease in milliseconds with which a replica can send requests between two renewals, if a request may
 * take `timeout` milliseconds.
 */
export function shortestLease(timeout: number): number {
  return Math.ceil((timeout + SEND_MARGIN) / LEFT);
}
