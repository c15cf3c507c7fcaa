/** Minimum weight of a new sample. */
const MIN_WEIGHT = 0.02;

/** Moving average that gives recent samples more weight. */
export class Average {
  /** Null before the first sample. */
  value: number | null = null;
  #count = 0;

  add(sample: number): void {
    this.#count += 1;
    this.value = (this.value ?? 0) + Math.max(MIN_WEIGHT, 1 / this.#count) * (sample - (this.value ?? 0));
  }
}
