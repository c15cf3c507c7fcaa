import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases, SEED } from '../support/campaign.ts';
import { driftCases, findDrift } from './drift-cases.ts';

const RUNS = countCases({ sample: 60, ci: 300, full: 10_000 });

const commentsIn = (files: Readonly<Record<string, string>>) =>
  Object.values(files).flatMap((text) => text.match(/ # \d+$/gm) ?? []);

test('ends for drift of any edits, keeps what exists, and leaves open only what it reports', async () => {
  await fc.assert(
    fc.asyncProperty(driftCases, async (each) => {
      const { drift, declared, bound, plans, after } = await findDrift(each);
      // 1. It ends, after a number of plans that is bounded by the number of places.
      expect(plans).toBeLessThanOrEqual(4 * (drift.fields.length + drift.places.length + drift.omitted.length) + 1);
      // 2. Nothing is removed that still exists, or that is inside something that stays in the manifest without a
      // binding.
      const removed = [...declared.keys()].filter((address) => !after.declared.has(address));
      expect(removed.filter((address) => bound.has(address))).toEqual([]);
      const orphans = removed.filter((address) => {
        const { within, place } = declared.get(address) ?? { within: null, place: null };
        return [within, place?.list ?? null].some(
          (holder) => holder !== null && after.declared.has(holder) && !bound.has(holder),
        );
      });
      expect(orphans).toEqual([]);
      // 3. Removals are reported as removals, and nothing is added.
      const reported = new Set(drift.places.filter(({ action }) => action === 'delete').map(({ address }) => address));
      const isInside = (address: string): boolean => {
        const { within, place } = declared.get(address) ?? { within: null, place: null };
        return [place?.list, within].some((holder) => holder && (reported.has(holder) || isInside(holder)));
      };
      expect(removed.filter((address) => !reported.has(address) && !isInside(address))).toEqual([]);
      expect([...reported].filter((address) => !removed.includes(address))).toEqual([]);
      expect([...after.declared.keys()].filter((address) => !declared.has(address))).toEqual([]);
      // 4. Remaining changes were reported as skipped.
      const left = new Set(drift.omitted.map(({ address }) => address));
      const open = after.open.filter(({ action, address }) => action !== 'delete' && !left.has(address));
      expect(open).toEqual([]);
      // 5. A comment is lost only with its line: that of a removed resource, or of a member who left a team.
      const lost =
        reported.size > 0 ? [] : commentsIn(each.files).filter((one) => !commentsIn(after.texts).includes(one));
      const lines = Object.values(each.files).flatMap((text) => text.split('\n'));
      const lostWith = lost.map((one) => lines.find((line) => line.endsWith(one)) ?? '');
      expect(lostWith.filter((line) => !/^ +\S+@\S+: /.test(line))).toEqual([]);
    }),
    { seed: SEED, numRuns: RUNS, endOnFailure: process.env.OCTAVO_SHRINK === undefined },
  );
});
