import { DependencyNotReadyError } from '../core/errors.ts';
import type { Actual } from '../core/resource.ts';
import type { Detail, DetailRequest, Kind } from '../kinds/model/kind.ts';
import { estimateSeconds } from '../queue/estimate/estimate.ts';
import { type ActualSource, type Asks, type Found, isAsked, together, withTold } from './observe/actual-source.ts';
import type { Estimate } from './planning.ts';
import type { Listing, Pace, Snapshot } from './snapshot.ts';

/** A snapshot in the platform's place: the same questions, the same answers, and no request. */
export class SnapshotSource implements ActualSource {
  /** Requests that the platform would have been asked. */
  reads = 0;
  readonly #snapshot: Snapshot;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  async read(kinds: readonly Kind[], asks: Asks): Promise<Found> {
    const listings = kinds.map((kind) => ({ kind, listing: this.#listing(kind) }));
    this.reads += sharedRequests(listings.map(({ listing }) => listing));
    return together(
      listings.flatMap(({ kind, listing }) => [
        { actuals: [], people: listing.people },
        ...listing.resources.map(({ actual, told }) => withTold(actual, this.#told(kind, actual, told, asks))),
      ]),
    );
  }

  #listing(kind: Kind): Listing {
    const of = this.#snapshot.kinds[kind.name];
    if (of === undefined || 'unread' in of) {
      const why = of === undefined ? 'it is not in the snapshot' : `when the snapshot was taken: ${of.unread}`;
      throw new DependencyNotReadyError(`${kind.name} could not be read ${why}`);
    }
    return of;
  }

  #told(
    { details = [] }: Kind,
    actual: Actual,
    told: Listing['resources'][number]['told'],
    asks: Asks,
  ): readonly Detail[] {
    const answers: Detail[] = [];
    for (const first of details) {
      for (
        let next: DetailRequest | undefined = first;
        next !== undefined && isAsked(next, actual, asks);
        next = next.next
      ) {
        const answer = told[next.name];
        this.reads += answer?.requests ?? 0;
        answers.push((answer ?? {}) as Detail);
      }
    }
    return answers;
  }
}

/** Kinds are listed at the same time, so what two of them ask for is asked once. */
function sharedRequests(listings: readonly Listing[]): number {
  const most = new Map<string, number>();
  for (const { requests } of listings) {
    for (const [operation, count] of Object.entries(requests)) {
      most.set(operation, Math.max(most.get(operation) ?? 0, count));
    }
  }
  return [...most.values()].reduce((sum, count) => sum + count, 0);
}

/** How long work takes at the pace that was seen when the snapshot was taken. */
export function paceEstimate({ rtt, budgets }: Pace, concurrency: number, parallel: number): Estimate {
  return (work) => estimateSeconds({ work, parallel, rtt, concurrency, budgets });
}
