/** Combines listeners: each event goes to all of them, in order. */
export function combineListeners<Events extends object>(listeners: readonly Events[]): Events {
  type Handlers = Record<string, ((...details: unknown[]) => void) | undefined>;
  const all = listeners as readonly Handlers[];
  const names = new Set(all.flatMap((listener) => Object.keys(listener)));
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      (...details: unknown[]) => {
        for (const listener of all) {
          listener[name]?.(...details);
        }
      },
    ]),
  ) as Events;
}
