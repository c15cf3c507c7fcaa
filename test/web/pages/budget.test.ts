/** View of the budgets. */
import { expect, test } from 'vitest';
import type { BudgetSample } from '../../../src/web/model/budget-samples.ts';
import type { OrganizationState } from '../../../src/web/model/page.ts';
import { type BudgetPageView, budgetPage } from '../../../src/web/pages/budget.ts';
import { NOW, someBackend, someBudget, someOrganization, someQueue, someRequest, viewOf } from '../some-backend.ts';

const NONE = { person: 0, apply: 0, clusters: 0, ingestion: 0, drift: 0 };

function budgetView(states: readonly OrganizationState[], start = 0, isVisible: (id: string) => boolean = () => true) {
  const request = someRequest({}, { start: String(start) }, (id) => (isVisible(id) ? 'viewer' : null));
  return viewOf<BudgetPageView>(budgetPage, someBackend(states), request);
}

async function sentenceOf(queue: Parameters<typeof someQueue>[0]): Promise<string | undefined> {
  const state = someOrganization('acme', { queue: { snapshot: () => someQueue(queue) } });
  return (await budgetView([state])).queues[0]?.sentence;
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
  const view = await budgetView([
    someOrganization('a', { queue: shared }),
    someOrganization('b', { queue: shared }),
    someOrganization('c', { queue: { name: 'c', snapshot: () => someQueue() } }),
  ]);
  expect(view.queues.map(({ organizations }) => organizations)).toEqual([['c'], ['a', 'b']]);
});

const replica = (id: string) => ({ owner: { kind: 'replica', id, address: `${id}:42` } }) as const;

test('the shares of replicas that divide the organizations of a token are added up, and their limits are not', async () => {
  const queue = (over: Parameters<typeof someQueue>[0], refused = 0) => ({
    ...{ name: 'a', snapshot: () => someQueue(over) },
    samples: async () => [{ at: NOW, waiting: 0, inFlight: 0, refused, budgets: [] }],
  });
  const current = { resetIn: 5000 };
  const one = queue(
    { waiting: { ...NONE, apply: 3 }, inFlight: 1, budgets: [someBudget({ remaining: 9, resetIn: 0 })] },
    2,
  );
  const two = queue(
    {
      ...{ waiting: { ...NONE, drift: 4 }, inFlight: 2, oldest: 7000, breaker: 'open' },
      budgets: [someBudget({ remaining: 30, ...current }), someBudget({ classes: ['write'], remaining: 5 })],
    },
    1,
  );
  const three = queue({
    waiting: NONE,
    inFlight: 0,
    budgets: [someBudget({ remaining: 20, cooldown: 3000, ...current })],
  });
  const unknown = { name: 'a', isKnown: false, snapshot: () => someQueue({ waiting: { ...NONE, apply: 999 } }) };
  const states = [
    { ...someOrganization('a', { queue: one }), ...replica('r1') },
    { ...someOrganization('b', { queue: unknown }), ...replica('r2') },
    { ...someOrganization('c', { queue: two }), ...replica('r2') },
    { ...someOrganization('d', { queue: three }), ...replica('r3') },
    {
      ...someOrganization('e', { queue: { ...unknown, isKnown: true } }),
      owner: { kind: 'none', since: null } as const,
    },
  ];
  const { queues } = await budgetView(states, 0, (id) => id !== 'c');
  expect(queues).toHaveLength(1);
  expect(queues[0]).toMatchObject({
    ...{ organizations: ['a', 'b', 'd', 'e'], breaker: 'open', waiting: { ...NONE, apply: 3, drift: 4 } },
    ...{ inFlight: 3, oldestSeconds: 7, refused: 3 },
    budgets: [
      { name: 'read', limit: 100, remaining: 20, resetInSeconds: 5, cooldownSeconds: 3 },
      { name: 'write', limit: 100, remaining: 5 },
    ],
    replicas: [
      { replica: 'r1:42', waiting: 3, inFlight: 1, refused: 2 },
      { replica: 'r2:42', waiting: 4, inFlight: 2, refused: 1 },
      { replica: 'r3:42', waiting: 0, inFlight: 0, refused: 0 },
    ],
  });
});

test('a queue is never named after an organization that the viewer may not see', async () => {
  const queue = { name: 'a' };
  const states = ['a', 'b', 'c'].map((id) => someOrganization(id, { queue }));
  for (const visible of [['b'], ['c'], ['b', 'c'], ['a', 'c']]) {
    const view = await budgetView(states, 0, (id) => visible.includes(id));
    expect(view.queues).toMatchObject([{ name: visible[0], organizations: visible }]);
  }
  expect(JSON.stringify(await budgetView(states, 0, (id) => id === 'b'))).not.toMatch(/"(?:a|c)"/);
});

test('a queue of one replica has no shares, and is shown while nobody has its organizations', async () => {
  const [owned] = (await budgetView([{ ...someOrganization('a'), ...replica('r1') }])).queues;
  expect(owned).toMatchObject({ inFlight: 2, replicas: [] });
  const nobody = { ...someOrganization('a'), owner: { kind: 'none', since: null } as const };
  expect((await budgetView([nobody])).queues).toMatchObject([{ inFlight: 2, replicas: [] }]);
  expect((await budgetView([nobody], 0, () => false)).queues).toEqual([]);
});

test('a chart has at most 90 points: the least remaining and the sum of refusals of each part', async () => {
  const samples: BudgetSample[] = Array.from({ length: 900 }, (_, index) => ({
    at: NOW + index * 10_000,
    ...{ waiting: 0, inFlight: 0, refused: index === 15 || index === 17 ? 1 : 0 },
    budgets: [{ name: 'read', limit: 100, remaining: index === 12 ? 3 : 50 }],
  }));
  const [queue] = (await budgetView([someOrganization('a', { queue: { samples: async () => samples } })])).queues;
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
