import { expect, test } from 'vitest';
import { EventBus } from '../../src/core/event-bus.ts';

test('a subscription that ends during an event does not disturb it', () => {
  const bus = new EventBus<{ onEnd?(): void }>();
  const heard: string[] = [];
  const end = bus.subscribe({ onEnd: () => end() });
  bus.subscribe({ onEnd: () => void heard.push('end') });
  bus.publish.onEnd?.();
  expect(heard).toEqual(['end']);
});
