import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Files, Shape } from './shapes.ts';
import { grownMore, MOST, startCounting, type WorkCounter } from './work.ts';

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
  const shown: number[] = [];
  const measure = (n: number) => counter.count(async () => shown.push(await run(n)));
  expect(await grownMore(measure, SIZE)).toEqual([]);
  const [, small = 1, large = 0] = shown;
  expect(large / small).toBeLessThan(MOST);
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
