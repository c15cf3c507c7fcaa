/** Lease that this replica holds. */
import type { Lease } from '../store/leases.ts';

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
