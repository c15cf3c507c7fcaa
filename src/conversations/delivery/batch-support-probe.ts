/** Number of refused batches, with none accepted, after which batches count as unsupported. */
const MIN_REFUSALS = 6;

/**
 * Detects whether the platform accepts more than one conversation in a request. Without this, every batch would be
 * split down to single conversations. Source: docs/platform-notes.md#conversations
 */
export class BatchSupportProbe {
  isUnsupported = false;
  /** True until an answer shows what may be in a request: a list was accepted, or only single conversations are. */
  isUndecided = true;
  #taken = 0;
  #refused = 0;
  #singles = 0;

  learn(items: number, isTaken: boolean): void {
    if (items === 1) {
      this.#singles += isTaken ? 1 : 0;
    } else if (isTaken) {
      this.#taken += 1;
    } else {
      this.#refused += 1;
    }
    this.isUnsupported = this.#taken === 0 && this.#refused >= MIN_REFUSALS && this.#singles > 1;
    this.isUndecided = this.#taken === 0 && !this.isUnsupported && (this.#refused > 0 || this.#singles === 0);
  }
}
