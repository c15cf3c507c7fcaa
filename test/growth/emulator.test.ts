/** Growth of the emulator's work, which would otherwise hide that of Octavo. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callPlatform } from '../support/call-platform.ts';
import { grownMore, startCounting, type Work, type WorkCounter } from './work.ts';

const SIZE = 100;

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
  const emulator = await startEmulator();
  for (let index = 0; index < count; index += 1) {
    await callPlatform(emulator, 'PUT', '/teams', { title: `Team ${index}` });
  }
  const work = await counter.count(async () => {
    const titles: string[] = [];
    for (let query = '?limit=5'; query !== ''; ) {
      const page = await callPlatform(emulator, 'GET', `/teams${query}`);
      titles.push(...page.items.map(({ title }: { title: string }) => title));
      query = page.next === undefined ? '' : `?limit=5&page=${page.next.page}`;
    }
    expect(titles).toEqual(Array.from({ length: count }, (_, index) => `Team ${index}`));
  });
  await emulator.close();
  return work;
}

/** Adds site spaces to one site, or sections with one space each. */
async function grow(kind: 'site-spaces' | 'sections', count: number): Promise<void> {
  const emulator = await startEmulator();
  const site = await callPlatform(emulator, 'POST', '/sites', { title: 'Help' });
  for (let index = 0; index < count; index += 1) {
    const { id } = await callPlatform(emulator, 'POST', '/spaces', { title: `Space ${index}` });
    await callPlatform(emulator, 'POST', `/sites/${site.id}/${kind}`, { spaceId: id });
  }
  await emulator.close();
}

test.each(['site-spaces', 'sections'] as const)('adding %s takes time linear in their number', async (kind) => {
  expect(await grownMore((count) => counter.count(() => grow(kind, count)), SIZE)).toEqual([]);
});

test('reading a list page by page takes time linear in its length', async () => {
  expect(await grownMore(listTeams, SIZE)).toEqual([]);
});
