/** Leases of a process without a fleet. */
import { type Clock, endsWithin } from '../core/clock.ts';
import type { Lease } from '../store/leases.ts';
import type { FleetLeases, FleetOrganization, FleetStatus, LeaseWork } from './fleet-leases.ts';
import { groupLeases, groupNames } from './lease-groups.ts';
import { LeaseRuns } from './lease-runs.ts';

/** Lease of a process that has its state for itself. */
class LocalLease implements Lease {
  readonly name: string;
  readonly epoch = 0;
  readonly group: string;
  readonly #end = new AbortController();

  constructor(name: string, group: string) {
    this.name = name;
    this.group = group;
  }

  get lost(): AbortSignal {
    return this.#end.signal;
  }

  left(): number {
    return this.#end.signal.aborted ? 0 : Number.POSITIVE_INFINITY;
  }

  end(): void {
    this.#end.abort();
  }
}

/** Leases of a process with a state file: it has all of them, and loses none. */
export class LocalLeases implements FleetLeases {
  readonly replica = null;
  readonly #clock: Clock;
  readonly #runs: LeaseRuns;
  readonly #held = new Map<string, LocalLease>();
  #groupOf: ReadonlyMap<string, string> = groupNames(groupLeases([], 'token'));
  #hasStarted = false;
  #isDraining = false;

  constructor(clock: Clock, work: LeaseWork) {
    this.#clock = clock;
    this.#runs = new LeaseRuns(work);
  }

  async start(): Promise<void> {
    this.#hasStarted = true;
    this.#claim();
  }

  setOrganizations(organizations: readonly FleetOrganization[]): void {
    this.#groupOf = groupNames(groupLeases(organizations, 'token'));
    for (const lease of this.#held.values()) {
      if (this.#groupOf.get(lease.name) !== lease.group) {
        void this.#release(lease);
      }
    }
    this.#claim();
  }

  async drain(limit: number): Promise<void> {
    this.#isDraining = true;
    const leases = [...this.#held.values()];
    await endsWithin(
      this.#clock,
      limit,
      leases.map((lease) => this.#release(lease)),
    );
    for (const lease of leases) {
      lease.end();
    }
  }

  holder(): null {
    return null;
  }

  status(): FleetStatus {
    return {
      hasJoined: this.#hasStarted,
      isDraining: this.#isDraining,
      left: Number.POSITIVE_INFINITY,
      failure: null,
      replicas: [],
      leases: this.#runs.names,
      unowned: [],
    };
  }

  #claim(): void {
    if (!this.#hasStarted || this.#isDraining) {
      return;
    }
    for (const [name, group] of this.#groupOf) {
      if (!this.#held.has(name)) {
        const lease = new LocalLease(name, group);
        this.#held.set(name, lease);
        this.#runs.begin(lease);
      }
    }
  }

  async #release(lease: LocalLease): Promise<void> {
    await this.#runs.end(lease);
    lease.end();
    if (this.#held.get(lease.name) === lease) {
      this.#held.delete(lease.name);
      this.#claim();
    }
  }
}
