// Cancels the attempts of one request.

/** Part of AbortSignal that sending a request needs. */
export interface CancelSignal extends Pick<AbortSignal, 'aborted' | 'reason'> {
  addEventListener(type: 'abort', listener: CancelListener): void;
  removeEventListener(type: 'abort', listener: CancelListener): void;
}

interface CancelListener {
  handleEvent(): void;
}

const NONE: readonly CancelListener[] = [];

/**
 * Controller and signal for the attempts of one request. An AbortSignal would take as much time as everything else that
 * the queue does for a request, and stay in memory with the request and its response until a full garbage collection.
 */
export class AttemptSignal implements CancelSignal {
  aborted = false;
  reason: AbortSignal['reason'];
  #listeners: readonly CancelListener[] = NONE;

  /** Calls the listeners, once. */
  abort(reason: Error): void {
    if (this.aborted) {
      return;
    }
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = NONE;
    for (const listener of listeners) {
      listener.handleEvent();
    }
  }

  addEventListener(_: 'abort', listener: CancelListener): void {
    this.#listeners = [...this.#listeners, listener];
  }

  removeEventListener(_: 'abort', listener: CancelListener): void {
    const others = this.#listeners.filter((each) => each !== listener);
    this.#listeners = others.length === 0 ? NONE : others;
  }
}

/** Returns an AbortSignal that aborts with a signal. */
export function toAbortSignal(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) {
    return signal;
  }
  const controller = new AbortController();
  const handleEvent = () => controller.abort(signal.reason);
  if (signal.aborted) {
    handleEvent();
  } else {
    signal.addEventListener('abort', { handleEvent });
  }
  return controller.signal;
}
