/** Work that runs under leases: begins when a lease is claimed, and ends before it is released. */
import type { Lease } from '../store/leases.ts';
import type { LeaseWork } from './fleet-leases.ts';

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
