import { RejectedError } from '../../core/errors.ts';

/**
 * Two requests with the same effect on different versions of the platform. Each throws AppError if it had no effect.
 */
export interface VersionVariants {
  /** The request that the API document describes. */
  documented(): Promise<void>;
  /** The request for versions that answer the documented one with 404. */
  alternative(): Promise<void>;
}

/**
 * Remembers, for one pass, which operations the platform has: no request shows whether a write operation exists. The
 * first change that needs a feature tries it while the others wait, so a missing operation is tried once and not once
 * per change. Source: docs/platform-notes.md#changes-by-version
 */
export class VersionMemory {
  /** The variant that works, by feature. */
  readonly #known = new Map<string, keyof VersionVariants>();
  /** Trials in progress, by feature. */
  readonly #trials = new Map<string, Promise<void>>();

  /** Sends the variant that works on this platform. Throws AppError if neither does; nothing is learned from that. */
  async choose(feature: string, ways: VersionVariants): Promise<void> {
    while (!this.#known.has(feature) && this.#trials.has(feature)) {
      await this.#trials.get(feature);
    }
    const known = this.#known.get(feature);
    if (known === 'alternative') {
      await ways.alternative();
    } else if (known === 'documented') {
      await ways.documented();
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
 * A 404 may also mean that the resource no longer exists. Then the alternative fails too, and both errors are reported,
 * since either may give the reason.
 */
async function tryBoth({ documented, alternative }: VersionVariants): Promise<keyof VersionVariants> {
  try {
    await documented();
    return 'documented';
  } catch (error) {
    if (!(error instanceof RejectedError && error.status === 404)) {
      throw error;
    }
    try {
      await alternative();
      return 'alternative';
    } catch (second) {
      throw second instanceof RejectedError
        ? new RejectedError(`${error.message}; ${second.message}`, second.status)
        : second;
    }
  }
}
