/** What a new value weighs at least against those before. */
const LEAST_WEIGHT = 0.02;

/** The average of what was seen, in which the latest weighs most. */
export class Average {
  /** Null before the first. */
  value: number | null = null;
  #seen = 0;

  add(sample: number): void {
    this.#seen += 1;
    this.value = (this.value ?? 0) + Math.max(LEAST_WEIGHT, 1 / this.#seen) * (sample - (this.value ?? 0));
  }
}
