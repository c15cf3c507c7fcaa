import { expect, test } from 'vitest';
import { EventBus } from '../../src/core/event-bus.ts';

interface Events {
  onStart?(name: string, count: number): void;
  onEnd?(): void;
}

test('subscribers are called in their order, as members of what they subscribed, until they end the subscription', () => {
  const bus = new EventBus<Events>();
  const heard: string[] = [];
  class Listener implements Events {
    readonly #prefix = 'first';
    onStart(name: string, count: number): void {
      heard.push(`${this.#prefix} ${name} ${count}`);
    }
  }
  const end = bus.subscribe(new Listener());
  const { onStart } = bus.publish;
  bus.subscribe({ onStart: (name) => void heard.push(`second ${name}`), onEnd: () => void heard.push('end') });
  onStart?.('a', 1);
  end();
  bus.publish.onStart?.('b', 2);
  bus.publish.onEnd?.();
  expect(heard).toEqual(['first a 1', 'second a', 'second b', 'end']);
});

test('a subscription that ends during an event does not disturb it', () => {
  const bus = new EventBus<Events>();
  const heard: string[] = [];
  const end = bus.subscribe({ onEnd: () => end() });
  bus.subscribe({ onEnd: () => void heard.push('end') });
  bus.publish.onEnd?.();
  expect(heard).toEqual(['end']);
});
