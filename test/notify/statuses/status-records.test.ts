import { describe, expect, test } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import { StatusRecords } from '../../../src/notify/status-sender.ts';
import type { CommitStatusRecord } from '../../../src/store/commit-statuses.ts';
import { openMemoryStore } from '../../../src/store/memory.ts';
import { createVirtualClock } from '../../queue/virtual-clock.ts';

const COMMIT = 'a'.repeat(40);
const FAILURE = new StoreError('the state cannot be used; wait');

function record(description: string): CommitStatusRecord {
  const wanted = { state: 'pending', description, url: null } as const;
  return {
    commit: COMMIT,
    context: 'octavo',
    wanted,
    sent: null,
    changedAt: 1,
    applied: 0,
    total: null,
    deployment: null,
  };
}

/** Records whose table fails so often, before or after it stores something. */
function failing(operation: 'list' | 'put', times: number, isStored: boolean) {
  const clock = createVirtualClock();
  const real = openMemoryStore().commitStatuses('org_1');
  let left = times;
  let changes = 0;
  const errors: string[] = [];
  const stopping = new AbortController();
  const fail = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const isFailing = name === operation && left > 0;
    left -= isFailing ? 1 : 0;
    if (isFailing && !isStored) {
      throw FAILURE;
    }
    const result = await work();
    if (isFailing) {
      throw FAILURE;
    }
    return result;
  };
  const records = new StatusRecords({
    table: { list: () => fail('list', () => real.list()), put: (given) => fail('put', () => real.put(given)) },
    onChange: () => {
      changes += 1;
    },
    repeat: { clock, signal: stopping.signal, onError: ({ message }) => errors.push(message) },
  });
  return { clock, records, real, errors, stopping, changes: () => changes };
}

describe('a change of a commit status that the store fails', () => {
  test.each([
    ['reading', 'list', false],
    ['writing', 'put', false],
    ['answering', 'put', true],
  ] as const)('is repeated before any later one: %s', async (_what, operation, isStored) => {
    const { clock, records, real, errors, changes } = failing(operation, 3, isStored);
    const first = records.change(() => [record('first')]);
    const second = records.change(([before]) => [record(`${before?.wanted.description}, second`)]);
    await clock.run(Promise.all([first, second]));
    expect((await real.list()).map(({ wanted }) => wanted.description)).toEqual(['first, second']);
    expect(changes()).toBe(2);
    expect(errors).toEqual([FAILURE.message]);
  });

  test('wakes the sender if only its answer was lost', async () => {
    const { clock, records, changes } = failing('put', 1, true);
    await clock.run(records.change((before) => (before.length === 0 ? [record('first')] : [])));
    expect(changes()).toBe(1);
  });

  test('fails when the organization stops', async () => {
    const { clock, records, stopping } = failing('put', 100, false);
    const change = records.change(() => [record('first')]).catch((error: unknown) => error);
    await clock.advance(30_000);
    stopping.abort();
    expect(await clock.run(change)).toBe(FAILURE);
  });
});
