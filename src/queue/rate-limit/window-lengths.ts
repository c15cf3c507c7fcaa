// Lists the lengths that windows of rate limits have.

/** Weights of common lengths in seconds. Other whole seconds up to a minute have the weight `RARE`. */
const COMMON = new Map([
  [1, 4],
  [2, 4],
  [5, 3],
  [10, 4],
  [15, 2],
  [20, 2],
  [30, 3],
  [60, 6],
  [300, 0.5],
  [600, 0.5],
  [900, 0.5],
  [1800, 0.5],
  [3600, 2],
]);
const RARE = 0.15;
const RARE_UP_TO = 60;

/** Returns the lengths in seconds, with their weights. */
export function windowLengths(): readonly (readonly [seconds: number, weight: number])[] {
  const rare = Array.from({ length: RARE_UP_TO }, (_, index) => [index + 1, RARE] as const);
  return [...new Map([...rare, ...COMMON])];
}
