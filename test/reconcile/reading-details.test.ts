/** Reads of details of many resources: how many are open at a time, and what an error stops. */
import { expect, test } from 'vitest';
import type { Actual } from '../../src/core/resource.ts';
import type { Kind } from '../../src/kinds/model/kind.ts';
import type { Reader } from '../../src/platform/client.ts';
import { platformSource } from '../../src/reconcile/observe/actual-source.ts';

const ALL = { needsFields: () => true, needsParts: () => true };

/** Kind with this many resources, whose details are read by `read`. */
function kindOf(count: number, read: (actual: Actual) => Promise<object>): Kind {
  const actuals = Array.from({ length: count }, (_, index) => ({ id: String(index), fields: {} }) as Actual);
  const observe = async ({ add }: { add(actual: Actual): void }) => actuals.forEach(add);
  return { details: [{ fields: ['size'], read }], observe } as unknown as Kind;
}

const readAll = (kind: Kind) => platformSource({} as Reader).read([kind], ALL);

test('at most 1,000 resources are read at a time, and all are returned in their order', async () => {
  let open = 0;
  let most = 0;
  const kind = kindOf(2500, async ({ id }) => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
    return { fields: { size: Number(id) } };
  });
  const { actuals } = await readAll(kind);
  expect(most).toBe(1000);
  expect(actuals.map(({ fields }) => fields.size)).toEqual(Array.from({ length: 2500 }, (_, index) => index));
});

test('after an error nothing more is read, and the error is thrown once the others have ended', async () => {
  let started = 0;
  let ended = 0;
  const kind = kindOf(2500, async ({ id }) => {
    started += 1;
    await new Promise((resolve) => setImmediate(resolve));
    ended += 1;
    if (id === '3') {
      throw new Error('refused');
    }
    return {};
  });
  await expect(readAll(kind)).rejects.toThrow('refused');
  expect(ended).toBe(started);
  expect(started).toBeLessThan(1100);
});
