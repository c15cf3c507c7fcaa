/** Removes what the database keeps for organizations that are not configured any more. See docs/fleet.md#leases. */
import type { Clock } from '../core/clock.ts';
import type { LeaseTable } from '../store/leases.ts';

/** Milliseconds that a lease without a holder, and the state of its organization, are kept. */
export const LEASE_RETENTION = 7 * 24 * 3_600_000;
/** Milliseconds between removals. */
const INTERVAL = 3_600_000;

/**
 * Replicas claim within minutes what their configuration needs. So what nobody had for days is in no configuration, or no
 * replica was running; then the rows are added again.
 */
export class LeaseRetention {
  readonly #table: Pick<LeaseTable, 'removeUnused'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #isComplete: () => boolean;
  #removedAt: number;

  /**
   * Removes nothing within the first interval: the other replicas claim what they need first. `isComplete` returns false while
   * the configuration may have organizations that are not known.
   */
  constructor(table: Pick<LeaseTable, 'removeUnused'>, clock: Pick<Clock, 'monotonic'>, isComplete: () => boolean) {
    this.#table = table;
    this.#clock = clock;
    this.#isComplete = isComplete;
    this.#removedAt = clock.monotonic();
  }

  /** Removes what is due, if this replica has the lease for work that exists once. Throws StoreError. */
  async apply(isResponsible: boolean): Promise<void> {
    if (!this.#isComplete()) {
      // After that, the replicas have an interval again to claim what they need.
      this.#removedAt = this.#clock.monotonic();
      return;
    }
    if (isResponsible && this.#clock.monotonic() - this.#removedAt >= INTERVAL) {
      await this.#table.removeUnused(LEASE_RETENTION);
      this.#removedAt = this.#clock.monotonic();
    }
  }
}
