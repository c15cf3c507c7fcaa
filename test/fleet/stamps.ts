/** Reads from the platform's request log which replica sent a request, under which lease. */
import type { RequestEntry } from '../../src/emulator/http/request-log.ts';

/** Origin of a request. */
export interface Stamp {
  readonly replica: string;
  readonly epoch: number;
}

/** Returns the stamp of a request; null if no fleet sent it. */
export function readStamp({ agent }: Pick<RequestEntry, 'agent'>): Stamp | null {
  const [, replica, epoch] = /\(replica ([^;]+); epoch (\d+)\)/.exec(agent) ?? [];
  return replica === undefined ? null : { replica, epoch: Number(epoch) };
}

/**
 * Returns the faults in the order of requests that change something: an epoch that goes back, or one that two replicas
 * share. Only requests about the teams of an organization count.
 */
export function findEpochFaults(entries: readonly RequestEntry[]): readonly string[] {
  const last = new Map<string, Stamp>();
  const faults: string[] = [];
  for (const entry of entries) {
    const [, name] = /^\/v1\/orgs\/([^/]+)\/teams/.exec(entry.path) ?? [];
    if (entry.method === 'GET' || name === undefined) {
      continue;
    }
    const stamp = readStamp(entry);
    const before = last.get(name);
    const request = `request ${entry.n} (${entry.operation}) of ${name}`;
    if (stamp === null) {
      faults.push(`${request} has no stamp: ${entry.agent}`);
      continue;
    }
    if (before !== undefined && stamp.epoch < before.epoch) {
      faults.push(`${request} has epoch ${stamp.epoch} after ${before.epoch}`);
    } else if (before !== undefined && stamp.epoch === before.epoch && stamp.replica !== before.replica) {
      faults.push(`${request} has epoch ${stamp.epoch} of ${stamp.replica}, and ${before.replica} had it`);
    } else {
      last.set(name, stamp);
    }
  }
  return faults;
}
