/** Age of what a view says. Nothing may be called in sync on the basis of an old observation. */

/** When something was last observed. Times are ISO 8601 in UTC. */
export interface Freshness {
  /** Null: never. */
  readonly asOf: string | null;
  readonly ageSeconds: number | null;
  /** Usual time between observations; null if it is not known. */
  readonly intervalSeconds: number | null;
  /** True if it was never observed, or longer ago than twice the interval. */
  readonly isStale: boolean;
}

/** Describes an observation. All arguments are milliseconds, and the first two since the epoch. */
export function freshness(at: number | null, now: number, interval: number | null): Freshness {
  const age = at === null ? null : Math.max(0, now - at);
  return {
    asOf: at === null ? null : new Date(at).toISOString(),
    ageSeconds: age === null ? null : Math.floor(age / 1000),
    intervalSeconds: interval === null ? null : Math.round(interval / 1000),
    isStale: age === null || (interval !== null && age > 2 * interval),
  };
}
