// Registers many abort callbacks with one listener per signal.

interface Listeners {
  readonly callbacks: Set<() => void>;
  readonly dispatch: () => void;
}

/**
 * Shares one listener per abort signal among many callbacks. Node searches all listeners of a signal when one is added
 * or removed. With thousands of requests on one signal, that would cost more than the requests.
 */
export class AbortListeners {
  readonly #bySignal = new Map<AbortSignal, Listeners>();

  /** Calls `callback` when the signal aborts. Returns a function that removes the callback. */
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
