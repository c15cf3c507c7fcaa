interface Seen {
  readonly version: string;
  readonly batch: number;
}

/**
 * Cache of the record versions that were yielded recently, so that the overlap of two polls is not read twice. An
 * optimization only; never relied on for correctness: it contains only versions that are durable, and none after a restart.
 */
export class RecentVersions {
  readonly #seen = new Map<string, Seen>();

  /**
   * Starts a poll after this batch, the last durable one. Versions of later batches are forgotten, because those batches
   * may not have been stored.
   */
  startAfter(batch: number): void {
    for (const [id, seen] of this.#seen) {
      if (seen.batch > batch) {
        this.#seen.delete(id);
      }
    }
  }

  has(id: string, version: string): boolean {
    return this.#seen.get(id)?.version === version;
  }

  /** Adds a version: the time of the last change. */
  add(id: string, version: string, batch: number): void {
    // Insertion order is age order, so that the oldest are found without a scan.
    this.#seen.delete(id);
    this.#seen.set(id, { version, batch });
  }

  /** Forgets records that last changed before this time, in milliseconds since the epoch. */
  forgetBefore(time: number): void {
    for (const [id, { version }] of this.#seen) {
      if (Date.parse(version) >= time) {
        return;
      }
      this.#seen.delete(id);
    }
  }
}
