import { expect, test } from 'vitest';
import { nextTurn } from '../../src/git/run.ts';

test('starts at most one git in each turn of the event loop', async () => {
  const seen: number[] = [];
  let turn = 0;
  const tick = () => {
    turn += 1;
    if (seen.length < 3) {
      setImmediate(tick);
    }
  };
  setImmediate(tick);
  await Promise.all(
    [1, 2, 3].map(async () => {
      await nextTurn();
      seen.push(turn);
    }),
  );
  expect(new Set(seen).size).toBe(3);
});
