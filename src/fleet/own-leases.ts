/** Leases that a replica needs and holds, and the work that runs under them. */
import { FLEET_LEASE, type Lease, organizationLease, shardLease } from '../store/leases.ts';
import type { FleetOrganization, LeaseWork } from './fleet-leases.ts';

interface Run {
  readonly lease: Lease;
  /** Settles when the work has ended; null while it runs. */
  ended: Promise<void> | null;
}

/** At most one run for each name at a time. */
export class LeaseRuns {
  readonly #work: LeaseWork;
  readonly #runs = new Map<string, Run>();

  constructor(work: LeaseWork) {
    this.#work = work;
  }

  get names(): readonly string[] {
    return [...this.#runs.keys()];
  }

  /** Begins the work of a lease, after the work of an earlier lease of the same name. */
  begin(lease: Lease): void {
    const earlier = this.#runs.get(lease.name);
    if (earlier !== undefined) {
      void this.end(earlier.lease).then(() => this.begin(lease));
    } else if (!lease.lost.aborted) {
      this.#runs.set(lease.name, { lease, ended: null });
      this.#work.begin(lease);
    }
  }

  /** Resolves when the work of this lease has ended; at once if it has not begun. */
  async end(lease: Lease): Promise<void> {
    const run = this.#runs.get(lease.name);
    if (run?.lease !== lease) {
      return;
    }
    run.ended ??= this.#work
      .end(lease)
      .catch(() => undefined)
      .then(() => void this.#runs.delete(lease.name));
    await run.ended;
  }
}

/** Lease that this replica claimed. It lasts as long as the replica's membership, unless it ends before. */
export class HeldLease implements Lease {
  readonly name: string;
  readonly epoch: number;
  /** Position of the claim among the requests of the keeper. */
  readonly sequence: number;
  /** Monotonic time of the claim. */
  readonly claimedAt: number;
  readonly #end = new AbortController();
  readonly #left: () => number;

  constructor(claim: Pick<HeldLease, 'name' | 'epoch' | 'sequence' | 'claimedAt'>, left: () => number) {
    this.name = claim.name;
    this.epoch = claim.epoch;
    this.sequence = claim.sequence;
    this.claimedAt = claim.claimedAt;
    this.#left = left;
  }

  get lost(): AbortSignal {
    return this.#end.signal;
  }

  left(): number {
    return this.#end.signal.aborted ? 0 : this.#left();
  }

  end(): void {
    this.#end.abort();
  }
}

/** Leases that one replica has together. */
export interface LeaseGroup {
  /** Lease that is claimed first. */
  readonly name: string;
  /** Leases whose work begins; may include the first lease. */
  readonly work: readonly string[];
  /** Number of organizations. */
  readonly weight: number;
}

/** `token`: all organizations of a token have the same owner; `organization`: each is divided on its own. */
type FleetSplit = 'token' | 'organization';

/** Returns the groups by the name of their first lease, and the name of the group of each lease whose work begins. */
export function groupLeases(organizations: readonly FleetOrganization[], split: FleetSplit) {
  const groups = new Map<string, LeaseGroup>([[FLEET_LEASE, { name: FLEET_LEASE, work: [FLEET_LEASE], weight: 0 }]]);
  const shards = Map.groupBy(organizations, ({ id, shard }) =>
    split === 'token' ? shardLease(shard) : organizationLease(id),
  );
  for (const [name, items] of shards) {
    groups.set(name, { name, work: items.map(({ id }) => organizationLease(id)), weight: items.length });
  }
  const names = [...groups.values()].flatMap(({ name, work }) => work.map((each) => [each, name] as const));
  return { groups, groupOf: new Map(names) } as const;
}
