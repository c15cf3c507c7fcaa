// Chooses the time of a probe, if the end of a window is uncertain.

/** End that a window may have. Times are in milliseconds. */
interface Opening {
  readonly at: number;
  readonly weight: number;
  /** Length of the window. */
  readonly length: number;
}

/** Cost of a probe that is refused, and maximum cost of one that is sent too late, in windows. */
const COST_OF_429 = 0.05;
const MAX_LATE = 2;

/**
 * Returns the first of the times of probing that are expected to cost least in all: 429s of probes that are sent too
 * early, and the time that is lost by probes that are sent too late.
 */
export function cheapestProbe(unordered: readonly Opening[]): number {
  const openings = unordered.toSorted((a, b) => a.at - b.at);
  // Loss of a probe at an opening, and cost and weight from an opening on, after all openings before it were ruled out.
  const losses = openings.map(() => 0);
  const costs = [...losses, 0];
  const weights = [...losses, 0];
  let first = 0;
  for (let from = openings.length - 1; from >= 0; from -= 1) {
    const { at, weight, length } = openings[from] as Opening;
    weights[from] = (weights[from + 1] ?? 0) + weight;
    costs[from] = Number.POSITIVE_INFINITY;
    for (let to = from; to < openings.length; to += 1) {
      const late = ((openings[to]?.at ?? at) - at) / length;
      losses[to] = (losses[to] ?? 0) + weight * Math.min(MAX_LATE, late);
      const cost = (losses[to] ?? 0) + (weights[to + 1] ?? 0) * COST_OF_429 + (costs[to + 1] ?? 0);
      if (cost < (costs[from] ?? 0)) {
        costs[from] = cost;
        first = to;
      }
    }
  }
  return openings[first]?.at ?? Number.POSITIVE_INFINITY;
}
