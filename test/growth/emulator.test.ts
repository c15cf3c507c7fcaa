/** Growth of the emulator's work, which would otherwise hide that of Octavo. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { grownMore, startCounting, total, type WorkCounter } from './work.ts';

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
