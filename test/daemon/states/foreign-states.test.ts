/** States in the database that another program or another version has written. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StateReader, UNKNOWN_STATE } from '../../../src/daemon/states/states.ts';
import { openMemoryStore } from '../../../src/store/memory.ts';
import { countCases, SEED } from '../../support/campaign.ts';

const RECONCILER = { isRunning: true, failingSince: null, checkedAt: null, hasEnded: false, desired: null };
const GOOD = JSON.stringify({ format: 2, parts: {}, reconciler: RECONCILER, statuses: { failure: null } });
const PARTS = ['end', 'plan', 'clusters', 'ingestion', 'queue', 'bindings/1/0', 'declared/1/0'];

const content = fc.oneof(
  fc.constantFrom('', 'null', '[]', '{}', '"text"', '7', '{"plan":null}', '{"plan":{"changes":[]},"drift":[0]}', GOOD),
  fc.string(),
  fc.json(),
);
/** Summary that names the parts, in this format, so that they are read. */
const named = fc.record({
  reconciler: fc.constantFrom(null, RECONCILER, {}, 3, { ...RECONCILER, checkedAt: 1, desired: { size: 'x' } }),
  statuses: fc.constantFrom(null, {}, 'x'),
});

test('content that Octavo did not write hides only its organization', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        content,
        named.map((rest) => ({ format: 2, ...rest })),
      ),
      fc.array(content, { minLength: PARTS.length, maxLength: PARTS.length }),
      async (summary, contents) => {
        const states = openMemoryStore().organizationStates();
        const status =
          typeof summary === 'string'
            ? summary
            : JSON.stringify({ ...summary, parts: Object.fromEntries(PARTS.map((part) => [part, part])) });
        const parts = PARTS.map((part, index) => ({ part, hash: part, content: contents[index] ?? '' }));
        const at = { epoch: 1, at: 1, removed: [] };
        await states.write('bad', { ...at, parts: [{ part: 'status', hash: 'bad', content: status }, ...parts] });
        await states.write('good', { ...at, parts: [{ part: 'status', hash: 'good', content: GOOD }] });
        const reader = new StateReader(states);
        await reader.refresh(new Set(['bad', 'good']));
        expect(reader.find('good')?.reconciler.isRunning).toBe(true);
        reader.find('bad')?.queue?.(0);
        await reader.resources('bad');
      },
    ),
    { seed: SEED, numRuns: countCases({ sample: 300, ci: 600, full: 5000 }) },
  );
});

test('a state of another format is not known, until it is of the own one again', async () => {
  const states = openMemoryStore().organizationStates();
  const write = (hash: string, text: string) =>
    states.write('acme', { epoch: 1, at: 1, parts: [{ part: 'status', hash, content: text }], removed: [] });
  const reader = new StateReader(states);
  const refresh = async () => {
    await reader.refresh(new Set(['acme']));
    return reader.find('acme')?.reconciler;
  };
  await write('1', GOOD.replace('"format":2', '"format":1'));
  expect(await refresh()).toEqual(UNKNOWN_STATE.reconciler);
  await write('2', GOOD);
  expect((await refresh())?.isRunning).toBe(true);
  await write('3', GOOD.replace('"format":2,', ''));
  expect(await refresh()).toEqual(UNKNOWN_STATE.reconciler);
});
