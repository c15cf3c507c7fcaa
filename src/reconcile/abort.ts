import type { ChangeResult } from '../core/change.ts';
import { CancelledError, StoreError } from '../core/errors.ts';

/** Lets an apply end before its plan does: what is begun goes on, and nothing else begins. */
export class EarlyEnd {
  /** Aborts when nothing new is to begin, for whatever reason. */
  readonly signal: AbortSignal;
  readonly #own = new AbortController();
  #trouble: StoreError | null = null;

  /** `asked` aborts when the process is asked to end. */
  constructor(asked: AbortSignal) {
    this.signal = AbortSignal.any([asked, this.#own.signal]);
  }

  /** Ends it where no change may begin now. Throws CancelledError then. */
  unless(mayBegin: boolean): void {
    if (!mayBegin) {
      this.#own.abort();
      throw new CancelledError('no change may begin now');
    }
  }

  /** Ends it where this cannot be recorded: what cannot be recorded is not begun. */
  async recording(work: () => Promise<void> | undefined): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof StoreError) {
        this.#trouble ??= error;
        this.#own.abort();
      }
      throw error;
    }
  }

  /** Whether a result says something of its change, and not only that the whole ended early. */
  isNews({ status, error }: ChangeResult): boolean {
    return !this.#own.signal.aborted || (status !== 'skipped' && error !== this.#trouble?.message);
  }

  /** Throws the StoreError that ended it, if one did. */
  throwTrouble(): void {
    if (this.#trouble !== null) {
      throw this.#trouble;
    }
  }
}
