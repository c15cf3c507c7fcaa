interface Seen {
  readonly version: string;
  readonly batch: number;
}

/**
 * Which versions of which records were given out, so that what a poll looks at again, on purpose, is not read again.
 * It is a saving and never the truth: only what is certain to be durable counts, and after a restart nothing does.
 */
export class RecentVersions {
  readonly #seen = new Map<string, Seen>();

  /**
   * A poll begins behind this batch, the last one that was kept: what was given out in later ones counts for nothing,
   * as whoever took them may have died with them.
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

  /** `version` is the time of its last change. */
  add(id: string, version: string, batch: number): void {
    // Those that were seen last stand last, so that the oldest are found without looking at all.
    this.#seen.delete(id);
    this.#seen.set(id, { version, batch });
  }

  /** What last changed before this, in milliseconds since the epoch, is not looked at again. */
  forgetBefore(time: number): void {
    for (const [id, { version }] of this.#seen) {
      if (Date.parse(version) >= time) {
        return;
      }
      this.#seen.delete(id);
    }
  }
}
