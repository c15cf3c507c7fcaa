import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';
import { tokenEntry } from '../page-app.ts';
import { type PageDaemon, startPage } from '../page-daemon.ts';
import { hasBrowser, openBrowser } from './open-browser.ts';
import { signIn } from './page-check.ts';

const UI = {
  tokens: [tokenEntry('ana@acme.example', 'ana-token')],
  roles: [{ role: 'approver', people: ['*'] }],
};
const WAIT = { timeout: 15_000 };

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) {
    browser = await openBrowser();
  }
});
afterAll(async () => browser?.close());

/** Starts a daemon that holds a deletion, and signs in. */
async function open(work: Workspace, options = {}) {
  await using stack = new AsyncDisposableStack();
  work.repository.write('a.yaml', 'collections:\n  a: { title: A }\n  b: { title: B }\n');
  work.repository.commit('Two');
  const page = stack.use(await startPage(work, { ui: UI }));
  work.repository.write('a.yaml', 'collections:\n  a: { title: A }\n');
  work.repository.commit('One');
  await pass(page);
  const opened = stack.use(await signIn(browser, page.url, 'ana-token', options));
  const all = stack.move();
  return { ...opened, page, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

async function pass(page: PageDaemon): Promise<void> {
  await page.daemon.organizations[0]?.trigger('manual');
}

const planUrl = ({ daemon, url }: PageDaemon) =>
  `${url}/o/org_acme/plans/${encodeURIComponent(daemon.organizations[0]?.lastPlan?.checksum ?? '')}`;

test.runIf(hasBrowser)('a plan is approved by keyboard alone', async () => {
  await using work = await openWorkspace();
  await using opened = await open(work);
  const { page, tab, problems } = opened;
  await tab.goto(planUrl(page));
  const focused = tab.locator('button:focus', { hasText: /^Approve/ });
  for (let presses = 0; presses < 60 && (await focused.count()) === 0; presses += 1) {
    await tab.keyboard.press('Tab');
  }
  await tab.keyboard.press('Enter');
  await tab.getByText('Approved.', { exact: true }).waitFor(WAIT);
  await page.daemon.organizations[0]?.idle();
  expect(work.emulator.requests.count('deleteCollection')).toBe(1);
  expect(problems).toEqual([]);
});

test.runIf(hasBrowser)(
  'a reason that is half typed survives an update, and its plan cannot be approved any more',
  async () => {
    await using work = await openWorkspace();
    await using opened = await open(work);
    const { page, tab, problems } = opened;
    await tab.goto(planUrl(page));
    const reason = tab.getByLabel(/^Reason/).first();
    await reason.fill('because the');
    await reason.evaluate((node) => node.blur());
    work.repository.write('a.yaml', 'collections: {}\n');
    work.repository.commit('None');
    await pass(page);
    await tab.getByText('present plan').first().waitFor(WAIT);
    expect(await reason.inputValue()).toBe('because the');
    const answered = tab.waitForResponse((response) => response.request().method() === 'POST');
    await tab.getByRole('button', { name: /^Approve/ }).click();
    expect((await answered).status()).toBe(409);
    await tab.getByText('Nothing was approved or rejected').waitFor(WAIT);
    expect(problems.filter((problem) => !problem.includes('409'))).toEqual([]);
  },
);

test.runIf(hasBrowser)('details stay open, and the page shows the next pass without a reload', async () => {
  await using work = await openWorkspace();
  await using opened = await open(work);
  const { page, tab, problems } = opened;
  await tab.goto(`${page.url}/o/org_acme`);
  const details = tab.locator('#pause');
  await details.locator('summary').click();
  await tab.evaluate('window.isSame = true');
  work.repository.write('a.yaml', 'collections:\n  a: { title: A }\n  c: { title: C }\n');
  work.repository.commit('Three');
  const before = await tab.locator('main').getAttribute('data-etag');
  await pass(page);
  await expect.poll(() => tab.locator('main').getAttribute('data-etag'), WAIT).not.toBe(before);
  expect(await details.getAttribute('open')).not.toBe(null);
  expect(await tab.evaluate('window.isSame')).toBe(true);
  expect(problems).toEqual([]);
});

test.runIf(hasBrowser)('eight tabs have one stream, and the visible one is current', async () => {
  await using work = await openWorkspace();
  await using opened = await open(work);
  const { page, context, problems } = opened;
  let streams = 0;
  context.on('request', (request) => {
    streams += request.url().endsWith('/events') ? 1 : 0;
  });
  const tabs: Page[] = [];
  for (let number = 0; number < 8; number += 1) {
    const tab = await context.newPage();
    await tab.goto(`${page.url}/o/org_acme`, { timeout: 10_000 });
    tabs.push(tab);
  }
  expect(streams).toBeLessThanOrEqual(1);
  const last = tabs.at(-1) as Page;
  const before = await last.locator('main').getAttribute('data-etag');
  work.repository.write('a.yaml', 'collections:\n  a: { title: A }\n  c: { title: C }\n');
  work.repository.commit('Three');
  await pass(page);
  await expect.poll(() => last.locator('main').getAttribute('data-etag'), WAIT).not.toBe(before);
  expect(problems).toEqual([]);
});

test.runIf(hasBrowser)('without JavaScript, a person signs in, reads, and approves', async () => {
  await using work = await openWorkspace();
  await using opened = await open(work, { javaScriptEnabled: false });
  const { page, tab } = opened;
  await tab.goto(planUrl(page));
  await tab.getByRole('button', { name: /^Approve/ }).click();
  await tab.getByText('Approved.', { exact: true }).waitFor(WAIT);
  await page.daemon.organizations[0]?.idle();
  expect(work.emulator.requests.count('deleteCollection')).toBe(1);
});
