import { describe, expect, test } from 'vitest';
import { LeaseLostError, StoreError } from '../../src/core/errors.ts';
import { untilStored } from '../../src/store/until-stored.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';

const FAILURE = new StoreError('the state cannot be used; wait');

/** Runs work whose attempts fail with these errors. `stopsAt`: milliseconds after which the signal aborts. */
async function run(errors: readonly Error[], stopsAt = 60_000) {
  const clock = createVirtualClock();
  const start = clock.now();
  const stopping = new AbortController();
  const attempts: { readonly at: number; readonly isRepeated: boolean }[] = [];
  const reported: StoreError[] = [];
  void clock.sleep(stopsAt).then(() => stopping.abort());
  const stored = untilStored(
    async (isRepeated) => {
      attempts.push({ at: clock.now() - start, isRepeated });
      const error = errors[attempts.length - 1];
      if (error !== undefined) {
        throw error;
      }
      return 'stored';
    },
    { clock, signal: stopping.signal, onError: (error) => reported.push(error) },
  ).catch((error: unknown) => error);
  const result = await clock.run(stored);
  return { result, times: attempts.map(({ at }) => at), repeats: attempts.map((each) => each.isRepeated), reported };
}

describe('a write that is repeated', () => {
  test('succeeds as soon as the store takes it, and reports the first error', async () => {
    expect(await run([])).toEqual({ result: 'stored', times: [0], repeats: [false], reported: [] });
    expect(await run([FAILURE, new StoreError('another')])).toEqual({
      ...{ result: 'stored', times: [0, 5000, 10_000], repeats: [false, true, true], reported: [FAILURE] },
    });
  });

  test.each([
    ['a lost lease', new LeaseLostError('organization/a')],
    ['a mistake', new TypeError('a mistake')],
  ])('fails at once with %s', async (_what, error) => {
    expect(await run([error])).toMatchObject({ result: error, times: [0] });
    expect(await run([FAILURE, error])).toMatchObject({ result: error, times: [0, 5000] });
  });

  test('is given up after 24 hours', async () => {
    const forever = Array.from({ length: 20_000 }, () => FAILURE);
    const { result, times } = await run(forever, 48 * 3_600_000);
    expect(result).toBe(FAILURE);
    expect(times.at(-1)).toBe(24 * 3_600_000);
  });

  test('is tried once more when the work stops', async () => {
    const forever = Array.from({ length: 100 }, () => FAILURE);
    expect(await run(forever, 7000)).toMatchObject({ result: FAILURE, times: [0, 5000, 7000] });
    expect(await run([FAILURE, FAILURE], 7000)).toMatchObject({ result: 'stored', times: [0, 5000, 7000] });
  });
});
