import { expect, test } from 'vitest';
import { type Body, type Fixture, start as startFixture } from './fixture.ts';

/* Seeded clusters without conversations: their representation in the API is consistent. */

const start = () => startFixture({ processing: { conversations: 0 } });

const cluster = (made: Fixture, id: string | undefined): Promise<Body> =>
  made.org('GET', `/conversations-clusters/${id}`);

test('a seeded cluster has the given label, impact, pulse, sources and numbers', async () => {
  const made = await start();
  const label = '**SSO** <script>alert(1)</script>';
  const [id] = made.emulator.writeClusters('org_acme', [
    {
      label,
      impact: 'high',
      muted: true,
      createdAt: '2026-01-02T00:00:00.000Z',
      updatedAt: '2026-02-03T00:00:00.000Z',
      issues: 12,
      pulse: [1, 3, 5],
      sources: { email: 8, 'integration:zendesk:1': 4 },
      conversations: 10,
    },
  ]);
  expect(await cluster(made, id)).toMatchObject({
    ...{ label, impact: 'high', muted: true },
    ...{ createdAt: '2026-01-02T00:00:00.000Z', updatedAt: '2026-02-03T00:00:00.000Z' },
    weeklyPulse: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 5],
    sources: { email: 8, 'integration:zendesk:1': 4 },
    stats: { issues: 12, conversations: 10 },
  });
  const { items } = await made.org('GET', `/conversations-issues?cluster=${id}`);
  expect(items).toHaveLength(12);
  expect(new Set(items.map((item: Body) => item.conversation.id)).size).toBe(10);
  expect(items[0]).toMatchObject({
    issue: { title: label, impact: 'high' },
    conversation: { urls: { source: expect.stringMatching(/^https:/) } },
  });
});

test('issues can be given individually and added later', async () => {
  const made = await start();
  const [id = ''] = made.emulator.writeClusters('org_acme', [
    {
      label: 'Export',
      issues: [
        { title: 'Empty', impact: 'high', conversation: 'a', url: 'https://desk.example/a', details: 'It is empty.' },
        { title: 'Empty too', conversation: 'a', createdAt: '2026-01-01T00:00:00.000Z' },
        { title: 'Slow', source: 'integration:intercom:2' },
      ],
    },
  ]);
  expect((await cluster(made, id)).stats).toEqual({ issues: 3, conversations: 2 });
  const before = await cluster(made, id);
  made.clock.advance(1000);
  made.emulator.writeIssues(id, [{ title: 'Still empty' }]);
  const after = await cluster(made, id);
  expect(after.stats).toEqual({ issues: 4, conversations: 3 });
  expect(after.updatedAt > before.updatedAt).toBe(true);
  expect(() => made.emulator.writeIssues('none', [])).toThrow('Cluster "none" not found');
});

test('seeding a cluster again replaces it under the same id', async () => {
  const made = await start();
  made.emulator.writeClusters('org_acme', [{ id: 'clu_x', label: 'Export PDF tables', issues: 3 }]);
  made.emulator.writeClusters('org_acme', [{ id: 'clu_x', label: 'Import', issues: 2 }]);
  expect(await cluster(made, 'clu_x')).toMatchObject({ label: 'Import', stats: { issues: 2 } });
  expect((await made.org('GET', '/conversations-clusters')).count).toBe(1);
});

test('later conversations with similar words join a seeded cluster', async () => {
  const made = await start();
  const [id] = made.emulator.writeClusters('org_acme', [{ label: 'PDF export tables', issues: 2 }]);
  const parts = [{ type: 'message', role: 'user', body: 'PDF export loses tables' }];
  await made.org('POST', '/conversations', { id: '1', subject: 'PDF export tables', parts });
  expect((await cluster(made, id)).stats.issues).toBe(3);
});

test.each([
  [{ issues: 2, pulse: [3] }, 'do not add up to 2 issues'],
  [{ issues: 2, sources: { email: 1 } }, 'do not add up to 2 issues'],
  [{ issues: 2, conversations: 3 }, '2 issues cannot have 3 conversations'],
  [{ sources: { email: 1, 'integration:a:1': 1 }, conversations: 1 }, '2 issues cannot have 1 conversations'],
])('refuses contradicting numbers: %j', async (numbers, says) => {
  const { emulator } = await start();
  expect(() => emulator.writeClusters('org_acme', [{ label: 'X', ...numbers }])).toThrow(says);
});

test('thousands of clusters can be seeded at once and are saved in the state', async () => {
  const made = await start();
  made.emulator.writeClusters(
    'org_acme',
    Array.from({ length: 5000 }, (_, at) => ({ label: `Topic number ${at}`, impact: 'low' as const, pulse: [1, 2] })),
  );
  const page = await made.org('GET', '/conversations-clusters?limit=1000');
  expect(page).toMatchObject({ count: 5000, items: { length: 1000 } });
  const state = made.emulator.state();
  made.emulator.restore(state);
  expect(await made.org('GET', '/conversations-clusters?limit=1000')).toEqual(page);
});
