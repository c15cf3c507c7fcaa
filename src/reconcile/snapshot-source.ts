import { DependencyNotReadyError } from '../core/errors.ts';
import type { Actual } from '../core/resource.ts';
import type { Detail, DetailRequest, Kind } from '../kinds/model/kind.ts';
import { estimateSeconds } from '../queue/estimate.ts';
import {
  type ActualResources,
  type ActualSource,
  combineResources,
  isRequired,
  type RequiredDetails,
  withDetails,
} from './observe/actual-source.ts';
import type { Estimate } from './planning.ts';
import type { KindSnapshot, RequestRate, Snapshot } from './snapshot.ts';

/** Source that reads a snapshot instead of the platform: the same details are required, and no request is made. */
export class SnapshotSource implements ActualSource {
  /** Requests that the platform would have received. */
  #requests = 0;
  readonly #snapshot: Snapshot;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  requests(): number {
    return this.#requests;
  }

  async read(kinds: readonly Kind[], required: RequiredDetails): Promise<ActualResources> {
    const listings = kinds.map((kind) => ({ kind, listing: this.#listing(kind) }));
    this.#requests += sharedRequests(listings.map(({ listing }) => listing));
    return combineResources(
      listings.flatMap(({ kind, listing }) => [
        { actuals: [], people: listing.people },
        ...listing.resources.map(({ actual, details }) =>
          withDetails(actual, this.#detailsOf(kind, actual, details, required)),
        ),
      ]),
    );
  }

  #listing(kind: Kind): KindSnapshot {
    const of = this.#snapshot.kinds[kind.name];
    if (of === undefined || 'error' in of) {
      const why = of === undefined ? 'it is not in the snapshot' : `when the snapshot was taken: ${of.error}`;
      throw new DependencyNotReadyError(`${kind.name} could not be read ${why}`);
    }
    return of;
  }

  #detailsOf(
    kind: Kind,
    actual: Actual,
    details: KindSnapshot['resources'][number]['details'],
    required: RequiredDetails,
  ): readonly Detail[] {
    const answers: Detail[] = [];
    for (const first of kind.details ?? []) {
      for (
        let next: DetailRequest | undefined = first;
        next !== undefined && isRequired(next, actual, required);
        next = next.next
      ) {
        const answer = details[next.name];
        this.#requests += answer?.requests ?? 0;
        answers.push((answer ?? {}) as Detail);
      }
    }
    return answers;
  }
}

/** Counts the requests of kinds that are listed at the same time; a request that several kinds need is counted once. */
function sharedRequests(listings: readonly KindSnapshot[]): number {
  const most = new Map<string, number>();
  for (const { requests } of listings) {
    for (const [operation, count] of Object.entries(requests)) {
      most.set(operation, Math.max(most.get(operation) ?? 0, count));
    }
  }
  return [...most.values()].reduce((sum, count) => sum + count, 0);
}

/** Estimates how long work takes at the request rate that was measured when the snapshot was taken. */
export function estimateAtRate({ rtt, budgets }: RequestRate, concurrency: number, parallel: number): Estimate {
  return (work) => estimateSeconds({ work, parallel, rtt, concurrency, budgets });
}
