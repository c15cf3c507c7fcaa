/** Reads of many resources: how many are open at a time, what an error stops, and lists that were begun early. */
import { describe, expect, test } from 'vitest';
import type { Actual } from '../../src/core/resource.ts';
import type { Kind } from '../../src/kinds/model/kind.ts';
import type { Reader } from '../../src/platform/client.ts';
import { platformSource } from '../../src/reconcile/observe.ts';

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

describe('a list that was begun early', () => {
  test('is used by one read, and only the next read lists again', async () => {
    let lists = 0;
    const observe = async ({ add }: { add(actual: Actual): void }) => {
      lists += 1;
      add({ id: 'a', fields: {} } as Actual);
    };
    const kind = { observe } as unknown as Kind;
    const source = platformSource({} as Reader);
    source.begin([kind]);
    source.begin([kind]);
    expect(lists).toBe(1);
    expect((await source.read([kind], ALL)).actuals).toHaveLength(1);
    expect(lists).toBe(1);
    await source.read([kind], ALL);
    expect(lists).toBe(2);
  });

  test('does not exist for a kind without a list', () => {
    platformSource({} as Reader).begin([{ observe: null } as Kind]);
  });
});
