import { RejectedError } from '../../core/errors.ts';

/** The two ways in which versions of the platform do one thing. Each throws AppError where it was not done. */
export interface VersionVariants {
  /** As the API document describes it. */
  usual(): Promise<void>;
  /** As versions do it that answer the usual with 404. */
  other(): Promise<void>;
}

/**
 * Remembers, for one pass, which operations the platform has: no request shows whether a write operation exists. The
 * first change that needs a feature tries it while the others wait, so a missing operation is tried once and not once
 * per change. Source: docs/platform-notes.md#changes-by-version
 */
export class VersionMemory {
  /** By feature: which way works. */
  readonly #known = new Map<string, keyof VersionVariants>();
  /** By feature: who is finding out. */
  readonly #trials = new Map<string, Promise<void>>();

  /** Does it in the way that works here. Throws AppError where none does; nothing is learned from that. */
  async choose(feature: string, ways: VersionVariants): Promise<void> {
    while (!this.#known.has(feature) && this.#trials.has(feature)) {
      await this.#trials.get(feature);
    }
    const known = this.#known.get(feature);
    if (known === 'other') {
      await ways.other();
    } else if (known === 'usual') {
      await ways.usual();
    } else {
      await this.#findOut(feature, ways);
    }
  }

  async #findOut(feature: string, ways: VersionVariants): Promise<void> {
    const trial = Promise.withResolvers<void>();
    this.#trials.set(feature, trial.promise);
    try {
      this.#known.set(feature, await tryBoth(ways));
    } finally {
      this.#trials.delete(feature);
      trial.resolve();
    }
  }
}

/**
 * A 404 may also mean that what the request names has gone. Then the other way is refused too, or not followed, and both
 * refusals are reported: either may be the one that gives the reason.
 */
async function tryBoth({ usual, other }: VersionVariants): Promise<keyof VersionVariants> {
  try {
    await usual();
    return 'usual';
  } catch (error) {
    if (!(error instanceof RejectedError && error.status === 404)) {
      throw error;
    }
    try {
      await other();
      return 'other';
    } catch (second) {
      throw second instanceof RejectedError
        ? new RejectedError(`${error.message}; ${second.message}`, second.status)
        : second;
    }
  }
}
