/** Plans as the history keeps them. */
import { expect, test } from 'vitest';
import { excerptPlan } from '../../src/plan/render/document.ts';
import { planOf } from '../support/planning.ts';

async function planFor(count: number, titleOf: (index: number) => string) {
  const teams = Array.from({ length: count }, (_, index) => `  t${index}: { title: ${titleOf(index)} }`);
  return (await planOf({ manifests: `teams:\n${teams.join('\n')}` })).plan;
}

test('a small plan is kept as a whole', async () => {
  const plan = await planFor(3, (index) => `Team ${index}`);
  const { json, changes } = excerptPlan(plan);
  expect(changes).toEqual(plan.changes);
  expect(json.changes).toHaveLength(3);
  expect(json).not.toHaveProperty('notKept');
});

test('of many changes, 1,000 are kept, and the rest is counted', async () => {
  const { json, changes } = excerptPlan(await planFor(1200, (index) => `T${index}`));
  const notKept = (json.notKept as { changes: number }).changes;
  expect(changes.length).toBeGreaterThan(300);
  expect(changes.length + notKept).toBe(1200);
  expect(json.changes).toHaveLength(changes.length);
});

test('an excerpt has at most 256 kB, and a large change does not displace the others', async () => {
  const small = await planFor(100, (index) => `Team ${index}`);
  const value = (index: number) => (index === 0 ? 'A'.repeat(500_000) : 'ä'.repeat(2000));
  const changes = small.changes.map((change, index) => ({
    ...change,
    fields: [{ path: 'title', from: null, to: value(index) }],
  }));
  const unmanaged = Array.from({ length: 5000 }, (_, index) => ({
    ...{ kind: 'team', id: `id-${index}`, title: 'x'.repeat(50) },
  }));
  const excerpt = excerptPlan({ ...small, changes, unmanaged });
  expect(Buffer.byteLength(JSON.stringify(excerpt.json))).toBeLessThanOrEqual(256_000);
  expect(excerpt.changes).not.toContain(changes[0]);
  expect(excerpt.changes).toContain(changes[1]);
  expect(excerpt.changes.length).toBeGreaterThan(30);
  expect(excerpt.json.notKept).toMatchObject({ changes: 100 - excerpt.changes.length, unmanaged: expect.any(Number) });
});
