/** So many clean answers for each request allowed at a time earn one more. */
const CLEAN_RUN = 10;

/** Requests allowed at a time where the platform refuses without telling a budget: halved on refusal, grown by one. */
export class InFlightCap {
  most = Number.POSITIVE_INFINITY;
  #clean = 0;

  halve(inFlight: number): void {
    this.most = Math.max(1, Math.floor(Math.min(this.most, inFlight) / 2));
    this.#clean = 0;
  }

  /** An answer that was no refusal. */
  grow(): void {
    if (this.most === Number.POSITIVE_INFINITY) {
      return;
    }
    this.#clean += 1;
    if (this.#clean >= CLEAN_RUN * this.most) {
      this.most += 1;
      this.#clean = 0;
    }
  }
}
