import type { Change, ChangeResult } from '../core/change.ts';
import { CancelledError, StoreError } from '../core/errors.ts';

/** Lets an apply end before its plan does: what is begun goes on, and nothing else begins. */
export class EarlyEnd {
  /** Aborts when nothing new is to begin, for whatever reason. */
  readonly signal: AbortSignal;
  readonly #own = new AbortController();
  #trouble: StoreError | null = null;
  /** Changes that failed because they could not be recorded. */
  readonly #unrecorded = new Set<Change>();

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

  /** Records a change, and ends the apply if that fails: a change that cannot be recorded is not started. */
  async recording(change: Change, work: () => Promise<void> | undefined): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof StoreError) {
        this.#trouble ??= error;
        this.#unrecorded.add(change);
        this.#own.abort();
      }
      throw error;
    }
  }

  /** Reports whether a result is about its change, and not only about the early end of the whole apply. */
  isNews({ status }: ChangeResult, change: Change): boolean {
    return !this.#own.signal.aborted || (status !== 'skipped' && !this.#unrecorded.has(change));
  }

  /** Throws the StoreError that ended it, if one did. */
  throwTrouble(): void {
    if (this.#trouble !== null) {
      throw this.#trouble;
    }
  }
}
