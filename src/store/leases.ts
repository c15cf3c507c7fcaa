/** Leases: which replica works on what. See docs/fleet.md#leases. */
import type { Json, JsonObject } from '../core/json.ts';

/**
 * Right of this process to work on something alone, such as an organization. Whatever is written under a lease is refused
 * once another replica has claimed it. A state file gives one lease for everything, which never ends.
 */
export interface Lease {
  /** Name of its subject, such as `organization/acme`. */
  readonly name: string;
  /** Fencing token: greater with every claim. */
  readonly epoch: number;
  /** Aborts when the lease is lost or released. */
  readonly lost: AbortSignal;
  /** Returns the milliseconds for which it certainly lasts, by the monotonic clock; at most 0 after its end. */
  left(): number;
}

/** Name of the lease for work that exists once in a fleet, such as sending notifications. */
export const FLEET_LEASE = 'fleet';

const ORGANIZATION = 'organization/';

/** Returns the name of the lease that everything written for an organization needs. */
export function organizationLease(id: string): string {
  return `${ORGANIZATION}${id}`;
}

/** Returns the id of the organization that a lease is for; null for other leases. */
export function organizationOfLease(name: string): string | null {
  return name.startsWith(ORGANIZATION) ? name.slice(ORGANIZATION.length) : null;
}

/** Returns the name of the lease for all organizations of a token, so that one replica counts its requests. */
export function shardLease(shard: string): string {
  return `token/${shard}`;
}

/** A process of the fleet. Times are those of the database, in milliseconds since the epoch. */
export interface Replica {
  /** Different for every start of a process. */
  readonly id: string;
  readonly version: string;
  /** Host name and process id, for people. */
  readonly address: string;
  /** Share of the work in comparison with other replicas. */
  readonly weight: number;
  /** True: it gives its leases away, and claims none. */
  readonly isDraining: boolean;
  readonly startedAt: number;
  readonly seenAt: number;
  /** Milliseconds until it can be evicted, unless it renews; negative after that. */
  readonly left: number;
}

/** A lease as the table has it. */
export interface LeaseRecord {
  readonly name: string;
  /** Replica that has it; null: nobody has it. */
  readonly holder: string | null;
  readonly epoch: number;
  /** Milliseconds since the holder changed, by the clock of the database. */
  readonly age: number;
}

export interface ClaimedLease {
  readonly name: string;
  readonly epoch: number;
}

/** Part of a replica that it sets itself. */
export type OwnReplica = Pick<Replica, 'id' | 'version' | 'address' | 'weight' | 'isDraining'>;

/**
 * Replicas and leases in the database, whose clock alone decides what has expired. A replica that did not renew for `ttl`
 * milliseconds is evicted by any other one, which frees its leases.
 */
export interface LeaseTable {
  /** Adds leases that do not exist yet, without a holder. */
  define(names: readonly string[]): Promise<void>;
  /**
   * Joins the fleet or renews the membership, and returns all leases that this replica has, in one transaction. The
   * membership then lasts for at least `extension` milliseconds, by default `ttl`, and at most `ttl`. An evicted replica
   * joins again, without leases, unless the extension is 0.
   */
  renew(replica: OwnReplica, ttl: number, extension?: number): Promise<readonly ClaimedLease[]>;
  /** Evicts replicas that have expired. Returns how many. */
  evict(): Promise<number>;
  /** Claims free leases among these names, at most `limit`, those that have been free longest first. */
  claim(replica: string, names: readonly string[], limit: number): Promise<readonly ClaimedLease[]>;
  /** Gives leases away; those that the replica does not have, or has with another epoch, are ignored. */
  release(replica: string, leases: readonly ClaimedLease[]): Promise<void>;
  /** Removes the replica, and gives all its leases away. */
  leave(replica: string): Promise<void>;
  /**
   * Removes leases that nobody has had for `age` milliseconds, and states of organizations without a lease. A lease that is
   * added again continues with greater epochs.
   */
  removeUnused(age: number): Promise<void>;
  replicas(): Promise<readonly Replica[]>;
  leases(): Promise<readonly LeaseRecord[]>;
}

/** `leases`: some are free; `command`, `answer`, `change`: see the payload. */
export const SIGNAL_KINDS = ['leases', 'command', 'answer', 'change'] as const;
type SignalKind = (typeof SIGNAL_KINDS)[number];

/** A message to all replicas. Messages can be lost, so receivers also check regularly. */
export interface FleetSignal {
  readonly kind: SignalKind;
  readonly payload: JsonObject;
}

/** Messages between the replicas of a fleet. */
export interface FleetSignals {
  /** False while messages do not arrive, for example because of PgBouncer in transaction mode. */
  readonly isConnected: boolean;
  /**
   * Sends a message to all replicas, including this one. A payload of more than 7000 bytes is replaced by an empty one.
   * Never rejects.
   */
  send(signal: FleetSignal): Promise<void>;
  /**
   * Calls the listener for each message; returns a function that ends this. After an interruption it is called once for
   * each kind, with an empty payload.
   */
  listen(listener: (signal: FleetSignal) => void): () => void;
}

/** Tables and messages by which the replicas of a fleet divide the work. */
export interface FleetStore {
  readonly leases: LeaseTable;
  readonly signals: FleetSignals;
  /** Replaces shared state with the result of `change`, one replica after the other; null: nothing was stored. */
  update(topic: string, change: (value: Json) => Json): Promise<void>;
  /** Returns the time of the database, in milliseconds since the epoch. */
  time(): Promise<number>;
  close(): Promise<void>;
}
