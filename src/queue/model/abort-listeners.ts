interface Listeners {
  readonly callbacks: Set<() => void>;
  readonly dispatch: () => void;
}

/**
 * Listens to abort signals with one listener for each signal: Node searches all listeners of a signal to add or take
 * one, which with thousands of requests under one signal would cost more than the requests.
 */
export class AbortListeners {
  readonly #bySignal = new Map<AbortSignal, Listeners>();

  /** Calls back when the signal aborts, until the function returned is called. */
  add(signal: AbortSignal, callback: () => void): () => void {
    let listeners = this.#bySignal.get(signal);
    if (listeners === undefined) {
      const callbacks = new Set<() => void>();
      const dispatch = () => {
        this.#bySignal.delete(signal);
        for (const call of callbacks) {
          call();
        }
      };
      listeners = { callbacks, dispatch };
      this.#bySignal.set(signal, listeners);
      signal.addEventListener('abort', dispatch, { once: true });
    }
    const { callbacks, dispatch } = listeners;
    callbacks.add(callback);
    return () => {
      callbacks.delete(callback);
      if (callbacks.size === 0 && this.#bySignal.get(signal)?.callbacks === callbacks) {
        this.#bySignal.delete(signal);
        signal.removeEventListener('abort', dispatch);
      }
    };
  }
}
