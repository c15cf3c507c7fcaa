/** Reads the replicas and leases of a fleet, and corrects what is out of date. */
import type { LeaseRecord, LeaseTable, Replica } from '../store/leases.ts';

/** Replicas and leases, as the database had them at one time. */
export interface ObservedFleet {
  readonly replicas: readonly Replica[];
  /** Leases by name. */
  readonly records: ReadonlyMap<string, LeaseRecord>;
  /** Time of the reading, on the monotonic clock. */
  readonly readAt: number;
}

export interface FleetQuery {
  readonly table: LeaseTable;
  /** Id of the replica that reads: it does not evict itself. */
  readonly replica: string;
  /** Returns the names of the leases that must exist. */
  readonly needed: () => readonly string[];
  readonly monotonic: () => number;
}

/** Reads replicas and leases. Evicts other replicas that have expired, and defines leases that are missing. */
export async function readFleet({ table, replica, needed, monotonic }: FleetQuery): Promise<ObservedFleet> {
  const replicas = await readReplicas(table, replica);
  const records = await readLeases(table);
  const readAt = monotonic();
  const missing = needed().filter((name) => !records.has(name));
  if (missing.length === 0) {
    return { replicas, records, readAt };
  }
  await table.define(missing);
  return { replicas, records: await readLeases(table), readAt: monotonic() };
}

/** Returns the milliseconds until another replica can be evicted; infinite without one. */
export function nextExpiry({ replicas }: ObservedFleet, own: string): number {
  const others = replicas.filter(({ id }) => id !== own);
  return others.reduce((earliest, { left }) => Math.min(earliest, Math.max(left, 0)), Number.POSITIVE_INFINITY);
}

async function readReplicas(table: LeaseTable, own: string): Promise<readonly Replica[]> {
  const replicas = await table.replicas();
  const hasExpired = replicas.some(({ left, id }) => left < 0 && id !== own);
  return hasExpired && (await table.evict()) > 0 ? table.replicas() : replicas;
}

async function readLeases(table: LeaseTable): Promise<ReadonlyMap<string, LeaseRecord>> {
  return new Map((await table.leases()).map((record) => [record.name, record]));
}
