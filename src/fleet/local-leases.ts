/** Leases of a process without a fleet. */
import { type Clock, endsWithin } from '../core/clock.ts';
import type { FleetLeases, FleetOrganization, FleetStatus, LeaseWork } from './fleet-leases.ts';
import { groupLeases, HeldLease, LeaseRuns } from './own-leases.ts';

/** Leases of a process with a state file: it has all of them, and loses none. */
export class LocalLeases implements FleetLeases {
  readonly replica = null;
  readonly #clock: Clock;
  readonly #runs: LeaseRuns;
  readonly #held = new Map<string, HeldLease>();
  #groupOf: ReadonlyMap<string, string> = groupLeases([], 'token').groupOf;
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
    const before = this.#groupOf;
    this.#groupOf = groupLeases(organizations, 'token').groupOf;
    for (const lease of this.#held.values()) {
      if (this.#groupOf.get(lease.name) !== before.get(lease.name)) {
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
    for (const name of this.#groupOf.keys()) {
      if (!this.#held.has(name)) {
        const lease = new HeldLease({ name, epoch: 0, sequence: 0, claimedAt: 0 }, () => Number.POSITIVE_INFINITY);
        this.#held.set(name, lease);
        this.#runs.begin(lease);
      }
    }
  }

  async #release(lease: HeldLease): Promise<void> {
    await this.#runs.end(lease);
    lease.end();
    if (this.#held.get(lease.name) === lease) {
      this.#held.delete(lease.name);
      this.#claim();
    }
  }
}
