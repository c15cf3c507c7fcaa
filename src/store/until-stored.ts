/** Repeats a write until the store takes it, for what would otherwise be lost. */
import type { Clock } from '../core/clock.ts';
import { LeaseLostError, StoreError } from '../core/errors.ts';

export interface RepeatOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Ends the repetition: after it aborts, the work is tried at most once more. */
  readonly signal: AbortSignal;
  /** Called with the first error. */
  readonly onError: (error: StoreError) => void;
}

/** Milliseconds between two attempts. */
const RETRY = 5000;
/** Attempts within 24 hours, after which a write is given up: the store may refuse what it contains. */
const MAX_ATTEMPTS = (24 * 3_600_000) / RETRY;

/**
 * Runs work that can be repeated, until it succeeds. `isRepeated`: an earlier attempt may have stored it, because its answer
 * was lost. Throws LeaseLostError, every error that is not a StoreError, and StoreError after
 * the signal has aborted or 24 hours.
 */
export async function untilStored<T>(
  work: (isRepeated: boolean) => Promise<T>,
  { clock, signal, onError }: RepeatOptions,
): Promise<T> {
  for (let attempts = 0; ; attempts += 1) {
    const isLast = signal.aborted || attempts >= MAX_ATTEMPTS;
    try {
      return await work(attempts > 0);
    } catch (error) {
      if (!(error instanceof StoreError) || error instanceof LeaseLostError || isLast) {
        throw error;
      }
      if (attempts === 0) {
        onError(error);
      }
    }
    await clock.sleep(RETRY, signal).catch(() => undefined);
  }
}
