import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Files, Shape } from './shapes.ts';
import { grownMore, startCounting, total, type WorkCounter } from './work.ts';

/**
 * Most work that a pass over twice as much may take, relative to the smaller one; comparing each with each takes four
 * times.
 */
const MOST = 2.4;
/** The same for a single function, among those with a relevant amount of work. */
const MAX_OF_ONE = 2.9;
const SIZE = 80;

let counter: WorkCounter;
let pass: typeof import('./pass.ts');
let shapes: typeof import('./shapes.ts');
beforeAll(async () => {
  // Before any measured code is compiled.
  counter = await startCounting();
  pass = await import('./pass.ts');
  shapes = await import('./shapes.ts');
});
afterAll(() => counter.stop());

async function expectLinear(run: (n: number) => Promise<number>): Promise<void> {
  // Work that happens only once is not counted.
  await run(10);
  const shown: number[] = [];
  const small = await counter.count(async () => shown.push(await run(SIZE)));
  const large = await counter.count(async () => shown.push(await run(2 * SIZE)));
  expect(grownMore(small, large, MAX_OF_ONE, 20 * SIZE)).toEqual([]);
  expect(total(large) / total(small)).toBeLessThan(MOST);
  expect((shown[1] ?? 0) / (shown[0] ?? 1)).toBeLessThan(MOST);
}

test('loading, planning, ordering, rendering and applying take time linear in the declared resources', async () => {
  for (const [name, shape] of Object.entries<Shape>(shapes.SHAPES)) {
    await expectLinear((n) => pass.passOver(shape, n)).catch(withName(name));
  }
});

test('validation takes time linear in the manifests', async () => {
  for (const [name, files] of Object.entries<(n: number) => Files>(shapes.BROKEN)) {
    await expectLinear((n) => pass.loadBroken(files, n)).catch(withName(name));
  }
});

function withName(name: string) {
  return (error: Error) => {
    error.message = `${name}: ${error.message}`;
    throw error;
  };
}
