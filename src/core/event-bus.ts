/** Typed event bus. */

/**
 * Passes events on to subscribers. `Events` has a method for each event: publishers call it on `publish`, and the bus calls
 * it on every subscriber that has it, in the order in which they subscribed.
 */
export class EventBus<Events extends object> {
  readonly publish: Events;
  #subscribers: readonly Events[] = [];

  constructor() {
    this.publish = new Proxy({} as Events, {
      get:
        (_, name) =>
        (...details: unknown[]) =>
          this.#pass(name, details),
    });
  }

  /** Returns a function that ends the subscription. */
  subscribe(subscriber: Events): () => void {
    this.#subscribers = [...this.#subscribers, subscriber];
    return () => {
      this.#subscribers = this.#subscribers.filter((each) => each !== subscriber);
    };
  }

  #pass(name: string | symbol, details: readonly unknown[]): void {
    for (const subscriber of this.#subscribers as readonly Record<string | symbol, unknown>[]) {
      const method = subscriber[name];
      if (typeof method === 'function') {
        method.apply(subscriber, details);
      }
    }
  }
}
