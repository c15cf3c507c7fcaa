/** Division of the organizations between replicas, as the daemon uses it. See docs/fleet.md#leases. */
import type { Lease, Replica } from '../store/leases.ts';

export interface FleetOrganization {
  readonly id: string;
  /** Hash of the platform's address and the token. Organizations of one shard have the same owner. */
  readonly shard: string;
}

/** Work that needs a lease: an organization (`organization/ID`), or what exists once (`fleet`). */
export interface LeaseWork {
  /** Starts the work of a lease that was claimed. */
  begin(lease: Lease): void;
  /**
   * Ends the work: at once if `lease.lost` has aborted, otherwise after the requests in flight, because the lease is to be
   * given away. The lease is released when this settles, and not claimed again before.
   */
  end(lease: Lease): Promise<void>;
}

/** State of this replica in the fleet. */
export interface FleetStatus {
  /** True once it has joined and made its first claims. */
  readonly hasJoined: boolean;
  /** Milliseconds that its leases last without another renewal; infinite for a state file, at most 0 if they are lost. */
  readonly left: number;
  /** Why the last renewal failed; null if it succeeded. */
  readonly failure: string | null;
  /** Replicas as the last check found them; empty for a state file. */
  readonly replicas: readonly Replica[];
  /** Names of the leases whose work has begun. */
  readonly leases: readonly string[];
  /** Leases that no replica has, of those that the configuration of this one needs. */
  readonly unowned: readonly { readonly name: string; readonly age: number }[];
}

/** Replica that has a lease. */
export interface LeaseHolder {
  /** Null: no replica has it. */
  readonly replica: Replica | null;
  /** Milliseconds since the holder changed; null if it is not known. */
  readonly age: number | null;
}

/** Claims, renews and releases the leases of this replica. */
export interface FleetLeases {
  /** Id of this replica; null for a state file. */
  readonly replica: string | null;
  /** Joins the fleet and makes the first claims. Throws StoreError. */
  start(): Promise<void>;
  /** Replaces the organizations of the configuration. Work of those that are gone, or have another shard, ends. */
  setOrganizations(organizations: readonly FleetOrganization[]): void;
  /**
   * Gives all leases away as soon as their work has ended, and leaves the fleet. After `limit` milliseconds the leases of
   * unfinished work are lost. Never rejects.
   */
  drain(limit: number): Promise<void>;
  status(): FleetStatus;
  /** Returns who has a lease, as the last check found it; null for a state file. */
  holder(name: string): LeaseHolder | null;
}
