/** A person opens a change request for a question, while the order of the questions changes and without JavaScript. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ClusterOverview } from '../../../src/clusters/events.ts';
import type { KnownResources } from '../../../src/web/model/page.ts';
import { someCluster } from '../../clusters/samples.ts';
import { openPageApp, tokenEntry } from '../page-app.ts';
import { type Asked, MINUTE, NOW, someHandlers, withParts } from '../some-backend.ts';
import { hasBrowser, openBrowser } from './open-browser.ts';
import { signIn } from './page-check.ts';

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) {
    browser = await openBrowser();
  }
});
afterAll(async () => browser?.close());

const RESOURCES = {
  declared: new Map([['space/guides', { kind: 'space', id: null, fields: { title: 'Guides' } }]]),
  ids: new Map(),
} as unknown as KnownResources;

/** Serves an organization with two questions. `grow` makes the second one the first. */
async function open(options = {}) {
  const overview = new ClusterOverview({ now: () => NOW });
  const read = (label: string, weeklyPulse: readonly number[]) =>
    overview
      .events()
      .onRead?.([{ cluster: someCluster({ id: label, label, weeklyPulse }), verdict: { passes: true } }]);
  read('One', [1, 2]);
  read('Two', [2, 2]);
  const asked: Asked[] = [];
  const parts = { clusters: { enabled: true }, overview };
  await using stack = new AsyncDisposableStack();
  const app = stack.use(
    await openPageApp({
      ui: { tokens: [tokenEntry('ana', 'ana-token')], roles: [{ role: 'operator', people: ['*'] }] },
      handlers: someHandlers(asked),
      backend: (backend) => ({
        ...backend,
        organizations: () =>
          backend.organizations().map((each) => ({ ...withParts(each, parts), resources: async () => RESOURCES })),
      }),
    }),
  );
  const url = await app.server.listen();
  const { tab, problems } = stack.use(await signIn(browser, url, 'ana-token', options));
  await tab.goto(`${url}/o/acme/questions`);
  const all = stack.move();
  const grow = () => {
    read('One', [1, 1]);
    read('Two', [2, 9]);
  };
  return { tab, problems, asked, grow, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

const MUTES_TWO = { subcommand: 'mute', cluster: 'Two', muted: true, dryRun: false };
const OPENS_ONE = ['clusters', 'acme', { subcommand: 'open', cluster: 'One', space: 'guides', dryRun: false }];

test.runIf(hasBrowser)('a chosen space stays with its question when another one grows', async () => {
  await using page = await open();
  const { tab, problems, asked, grow } = page;
  const titles = () => tab.getByRole('heading', { level: 3 }).allTextContents();
  expect(await titles()).toEqual(['One', 'Two']);
  await tab.getByText('Open change request…').first().click();
  await tab.getByLabel('Space').first().selectOption('Guides');
  grow();
  await tab.evaluate(
    `new BroadcastChannel('octavo').postMessage({ topics: JSON.parse(document.getElementById('main').dataset.topics), wait: 1 })`,
  );
  await expect.poll(titles, { timeout: 15_000 }).toEqual(['Two', 'One']);
  await tab.getByRole('button', { name: 'Open change request: One' }).click();
  await expect.poll(() => asked, { timeout: 15_000 }).toEqual([OPENS_ONE]);
  expect(problems).toEqual([]);
});

test.runIf(hasBrowser)('without JavaScript, a person chooses a space and mutes a question', async () => {
  await using page = await open({ javaScriptEnabled: false });
  const { tab, asked } = page;
  await tab.getByText('Open change request…').first().click();
  await tab.getByLabel('Space').first().selectOption('Guides');
  await tab.getByRole('button', { name: 'Open change request: One' }).click();
  await tab.getByText('Mute…').last().click();
  await tab.getByLabel('Reason (optional)').last().fill('a rewrite is planned');
  await tab.getByLabel('For').last().selectOption('30 days');
  await tab.getByRole('button', { name: 'Mute: Two' }).click();
  await tab.waitForLoadState();
  expect(asked).toEqual([
    OPENS_ONE,
    ['clusters', 'acme', { ...MUTES_TWO, reason: 'a rewrite is planned', until: NOW + 30 * 24 * 60 * MINUTE }],
  ]);
});
