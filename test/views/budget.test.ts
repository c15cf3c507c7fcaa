/** View of the budgets. */
import { expect, test } from 'vitest';
import { budgetView } from '../../src/views/budget.ts';
import type { BudgetSample } from '../../src/views/model/budget-samples.ts';
import { someBudget, someQueue } from './queue-samples.ts';
import { NOW, someOrganization } from './some-backend.ts';

const NONE = { person: 0, apply: 0, clusters: 0, ingestion: 0, drift: 0 };

async function sentenceOf(queue: Parameters<typeof someQueue>[0]): Promise<string | undefined> {
  const state = someOrganization('acme', { queue: { snapshot: () => someQueue(queue) } });
  return (await budgetView([state], 0)).queues[0]?.sentence;
}

test('says what waits and for how long, or what stops it', async () => {
  expect(await sentenceOf({ waiting: NONE, inFlight: 0 })).toBe('Idle');
  expect(await sentenceOf({ waiting: { ...NONE, drift: 1 }, budgets: [] })).toBe('1 request waits');
  const budgets = [someBudget({ remaining: 5, rate: 2 })];
  expect(await sentenceOf({ waiting: { ...NONE, apply: 45 }, budgets })).toBe('45 requests wait, for about 20 seconds');
  expect(await sentenceOf({ breaker: 'open' })).toBe(
    'The platform fails, so only trial requests are sent; 7 requests wait',
  );
  expect(await sentenceOf({ budgets: [someBudget({ cooldown: 90_000 })] })).toBe(
    'The platform refused a request (429), so nothing is sent for 1 minute; 7 requests wait',
  );
});

test('organizations with the same token are one queue, and the busiest is first', async () => {
  const shared = { name: 'a', snapshot: () => someQueue({ waiting: NONE }) };
  const view = await budgetView(
    [
      someOrganization('a', { queue: shared }),
      someOrganization('b', { queue: shared }),
      someOrganization('c', { queue: { name: 'c', snapshot: () => someQueue() } }),
    ],
    0,
  );
  expect(view.queues.map(({ organizations }) => organizations)).toEqual([['c'], ['a', 'b']]);
});

test('a chart has at most 90 points: the least remaining and the sum of refusals of each part', async () => {
  const samples: BudgetSample[] = Array.from({ length: 900 }, (_, index) => ({
    at: NOW + index * 10_000,
    ...{ waiting: 0, inFlight: 0, refused: index === 15 || index === 17 ? 1 : 0 },
    budgets: [{ name: 'read', limit: 100, remaining: index === 12 ? 3 : 50 }],
  }));
  const [queue] = (await budgetView([someOrganization('a', { queue: { samples: async () => samples } })], 0)).queues;
  expect(queue?.refused).toBe(2);
  expect(queue?.budgets[0]?.points).toHaveLength(90);
  expect(queue?.budgets[0]?.points[1]).toEqual({ at: new Date(NOW + 100_000).toISOString(), remaining: 3, refused: 2 });
});

test('shows ten queues at a time', async () => {
  const states = Array.from({ length: 25 }, (_, index) => someOrganization(`o${String(index).padStart(2, '0')}`));
  const view = await budgetView(states, 20);
  expect(view).toMatchObject({ start: 20, known: 25 });
  expect(view.queues.map(({ name }) => name)).toEqual(['o20', 'o21', 'o22', 'o23', 'o24']);
});
