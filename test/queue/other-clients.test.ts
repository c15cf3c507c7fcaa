import { expect, test } from 'vitest';
import { OtherClients } from '../../src/queue/pacing.ts';

test('other clients that were seen in one window are expected in the next, and then forgotten', () => {
  const others = new OtherClients();
  expect(others.areSeen).toBe(false);
  others.begin(100, 0, 0);
  others.count(1);
  others.share(90);
  expect(others.areSeen).toBe(true);
  others.begin(100, 0, 1000);
  expect(others.areSeen).toBe(true);
  expect(others.share(100)).toBe(4);
  others.begin(100, 0, 2000);
  expect(others.areSeen).toBe(false);
});
