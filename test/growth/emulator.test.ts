/** Growth of the emulator's work, which would otherwise hide that of Octavo. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { grownMore, startCounting, total, type Work, type WorkCounter } from './work.ts';

/** Most work for twice as much, relative to the smaller one; comparing each with each takes four times. */
const MOST = 2.4;
const SIZE = 100;
const TOKEN = 'growth-token';

let counter: WorkCounter;
let startEmulator: typeof import('../../src/emulator/emulator.ts').startEmulator;
beforeAll(async () => {
  // Before any measured code is compiled.
  counter = await startCounting('/src/emulator/');
  ({ startEmulator } = await import('../../src/emulator/emulator.ts'));
});
afterAll(() => counter.stop());

/** Counts the work of reading a list of teams in pages of five, and checks that every team is on one of them. */
async function listTeams(count: number): Promise<Work> {
  const emulator = await startEmulator({ token: TOKEN });
  const url = `${emulator.url}/v1/orgs/${emulator.organization}/teams`;
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
  for (let index = 0; index < count; index += 1) {
    const response = await fetch(url, { method: 'PUT', headers, body: JSON.stringify({ title: `Team ${index}` }) });
    expect(response.status).toBe(201);
  }
  const work = await counter.count(async () => {
    const titles: string[] = [];
    for (let query = '?limit=5'; query !== ''; ) {
      const response = await fetch(`${url}${query}`, { headers });
      const page = (await response.json()) as { items: { title: string }[]; next?: { page: string } };
      titles.push(...page.items.map(({ title }) => title));
      query = page.next === undefined ? '' : `?limit=5&page=${page.next.page}`;
    }
    expect(titles).toEqual(Array.from({ length: count }, (_, index) => `Team ${index}`));
  });
  await emulator.close();
  return work;
}

/** Adds site spaces to one site, or sections with one space each. */
async function grow(kind: 'site-spaces' | 'sections', count: number): Promise<void> {
  const emulator = await startEmulator({ token: TOKEN });
  const post = async (path: string, body: object) => {
    const url = `${emulator.url}/v1/orgs/${emulator.organization}${path}`;
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBe(201);
    return (await response.json()) as { readonly id: string };
  };
  const site = await post('/sites', { title: 'Help' });
  for (let index = 0; index < count; index += 1) {
    const { id } = await post('/spaces', { title: `Space ${index}` });
    await post(`/sites/${site.id}/${kind}`, { spaceId: id });
  }
  await emulator.close();
}

test.each(['site-spaces', 'sections'] as const)('adding %s takes time linear in their number', async (kind) => {
  await grow(kind, 10);
  const small = await counter.count(() => grow(kind, SIZE));
  const large = await counter.count(() => grow(kind, 2 * SIZE));
  expect(grownMore(small, large, 2.9, 20 * SIZE)).toEqual([]);
  expect(total(large) / total(small)).toBeLessThan(MOST);
});

test('reading a list page by page takes time linear in its length', async () => {
  await listTeams(10);
  const small = await listTeams(SIZE);
  const large = await listTeams(2 * SIZE);
  expect(grownMore(small, large, 2.9, 20 * SIZE)).toEqual([]);
  expect(total(large) / total(small)).toBeLessThan(MOST);
});
