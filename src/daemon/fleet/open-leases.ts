/** Opens the leases and the clock of this process: those of a fleet, or those of a single process. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { shortestLease } from '../../config/store.ts';
import type { Clock } from '../../core/clock.ts';
import { ConfigError } from '../../core/errors.ts';
import { FleetClock } from '../../fleet/fleet-clock.ts';
import type { FleetLeases, LeaseWork } from '../../fleet/fleet-leases.ts';
import { LocalLeases } from '../../fleet/local-leases.ts';
import { SharedLeases } from '../../fleet/shared-leases.ts';
import type { Logger } from '../../log.ts';
import type { SharedState } from '../../queue/shared-limiter.ts';
import type { Store } from '../../store/store.ts';
import type { DaemonContext } from '../organization/feature.ts';

/**
 * Opens the leases. `isComplete` returns false while the configuration may have organizations that are not known. Throws
 * ConfigError if they are too short for the timeout of requests.
 */
export function openLeases(context: DaemonContext, work: LeaseWork, isComplete: () => boolean): FleetLeases {
  const { config, store, clock, random, version, log } = context;
  const shared = store.fleet();
  if (shared === null) {
    return new LocalLeases(clock, work);
  }
  const { lease: ttl, weight, split } = config.fleet;
  const shortest = shortestLease(config.platform.timeout);
  if (ttl < shortest) {
    throw new ConfigError(
      `fleet.lease is too short (${seconds(ttl)}) to send requests that may take ${seconds(config.platform.timeout)}; set fleet.lease to at least ${seconds(shortest)}, or lower platform.timeout`,
    );
  }
  const host = hostname();
  return new SharedLeases({
    store: shared,
    clock,
    random,
    ttl,
    split,
    work,
    isComplete,
    replica: { id: `${host}-${randomBytes(4).toString('hex')}`, version, address: `${host} ${process.pid}`, weight },
    onFailure: (reason) =>
      reason === null
        ? log.info('the database can be used again; leases are renewed')
        : log.warn({ reason }, 'leases cannot be renewed; requests that change something stop before they expire'),
  });
}

/** Opens the clock that the replicas of a fleet share; a single process uses that of its machine. */
export async function openClock(clock: Clock, store: Store, log: Logger): Promise<Clock> {
  const shared = store.fleet();
  if (shared === null) {
    return clock;
  }
  return FleetClock.open({
    clock,
    store: shared,
    onDifference: (ahead) =>
      ahead === 0
        ? log.info('the clock of this machine agrees with that of the database again')
        : log.warn(
            { seconds: Math.round(ahead / 1000) },
            'the clocks of this machine and of the database differ; the time of the database is used. Synchronize both with NTP',
          ),
  });
}

/** Returns the shared state of each token's budgets, if replicas divide the organizations of a token. */
export function sharedBudgets(
  { config, store }: Pick<DaemonContext, 'config' | 'store'>,
  { replica }: Pick<FleetLeases, 'replica'>,
): (digest: string) => SharedState | undefined {
  const fleet = store.fleet();
  if (fleet === null || replica === null || config.fleet.split === 'token') {
    return () => undefined;
  }
  return (digest) => ({
    replica,
    update: (change) => fleet.update(`budgets/${digest}/shared`, change),
  });
}

/** Returns a duration in whole seconds, rounded up, as settings have it. */
function seconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1000)}s`;
}
