/** Watches which replica has which organization, and reports what changes. */
import type { LeaseTable } from '../../store/leases.ts';

const PREFIX = 'organization/';

/** A lease of an organization that moved. */
export interface LeaseMove {
  readonly organization: string;
  /** Process id of the replica that has it now; null: nobody has it. */
  readonly owner: number | null;
  readonly epoch: number;
  /** Milliseconds for which nobody had it, as far as this watch saw. */
  readonly gap: number;
}

export class LeaseWatch {
  readonly #table: Pick<LeaseTable, 'leases' | 'replicas'>;
  readonly #monotonic: () => number;
  readonly #hasEnded: (pid: number) => boolean;
  readonly #owners = new Map<string, number | null>();
  readonly #freeSince = new Map<string, number>();

  /** `hasEnded`: the replica of this process is gone, which the database does not know yet. */
  constructor(
    table: Pick<LeaseTable, 'leases' | 'replicas'>,
    monotonic: () => number,
    hasEnded: (pid: number) => boolean,
  ) {
    this.#table = table;
    this.#monotonic = monotonic;
    this.#hasEnded = hasEnded;
  }

  /** Number of organizations of a replica, by its process id. */
  count(pid: number): number {
    return [...this.#owners.values()].filter((owner) => owner === pid).length;
  }

  /** Reads the leases once. Throws StoreError. */
  async check(): Promise<readonly LeaseMove[]> {
    const [leases, replicas] = await Promise.all([this.#table.leases(), this.#table.replicas()]);
    const now = this.#monotonic();
    const pids = new Map(replicas.map(({ id, address }) => [id, Number(/\d+$/.exec(address)?.[0] ?? 0)]));
    const moves: LeaseMove[] = [];
    for (const { name, holder, epoch } of leases) {
      if (!name.startsWith(PREFIX)) {
        continue;
      }
      const organization = name.slice(PREFIX.length);
      const holderPid = holder === null ? null : (pids.get(holder) ?? null);
      const owner = holderPid === null || this.#hasEnded(holderPid) ? null : holderPid;
      if (owner === null) {
        this.#freeSince.set(organization, this.#freeSince.get(organization) ?? now);
      }
      if (owner !== (this.#owners.get(organization) ?? null)) {
        this.#owners.set(organization, owner);
        const gap = now - (this.#freeSince.get(organization) ?? now);
        moves.push({ organization, owner, epoch, gap });
      }
      if (owner !== null) {
        this.#freeSince.delete(organization);
      }
    }
    return moves;
  }
}
