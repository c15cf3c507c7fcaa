import type { Browser, Locator, Page } from 'playwright-core';
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

/** Starts a daemon that holds the deletion of collections, and signs in. */
async function open(work: Workspace, options = {}, deleted: readonly string[] = ['b']) {
  await using stack = new AsyncDisposableStack();
  const lines = ['a', ...deleted].map((key) => `  ${key}: { title: ${key.toUpperCase()} }\n`);
  work.repository.write('a.yaml', `collections:\n${lines.join('')}`);
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

/** Opens the list of what an approval deletes. Returns the field for the reason. */
async function openApproval(tab: Page): Promise<Locator> {
  await tab.locator('summary', { hasText: /^Approve…/ }).click();
  return tab.getByLabel('Reason', { exact: true });
}

const planUrl = ({ daemon, url }: PageDaemon) =>
  `${url}/o/org_acme/plans/${encodeURIComponent(daemon.organizations[0]?.lastPlan?.checksum ?? '')}`;

test.runIf(hasBrowser)('a plan is approved by keyboard alone', async () => {
  await using work = await openWorkspace();
  await using opened = await open(work);
  const { page, tab, problems } = opened;
  await tab.goto(planUrl(page));
  const focus = async (focused: Locator) => {
    for (let presses = 0; presses < 60 && (await focused.count()) === 0; presses += 1) {
      await tab.keyboard.press('Tab');
    }
  };
  await focus(tab.locator('summary:focus', { hasText: /^Approve…/ }));
  await tab.keyboard.press('Enter');
  await tab.getByText('This deletes:').waitFor(WAIT);
  await focus(tab.getByLabel('Reason', { exact: true }).and(tab.locator(':focus')));
  await tab.keyboard.press('Enter');
  // Nothing is deleted without a reason.
  expect(await tab.getByText('Approved.', { exact: true }).count()).toBe(0);
  await tab.keyboard.type('B is not used');
  await focus(tab.locator('button:focus', { hasText: /^Approve/ }));
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
    const reason = await openApproval(tab);
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
  await (await openApproval(tab)).fill('B is not used');
  await tab.getByRole('button', { name: /^Approve/ }).click();
  await tab.getByText('Approved.', { exact: true }).waitFor(WAIT);
  await page.daemon.organizations[0]?.idle();
  expect(work.emulator.requests.count('deleteCollection')).toBe(1);
});

test.runIf(hasBrowser)(
  'after an approval, a person sees how many changes are applied, until all are in sync',
  async () => {
    const keys = Array.from({ length: 24 }, (_, index) => `c${index}`);
    await using work = await openWorkspace();
    await using opened = await open(work, {}, keys);
    const { page, tab, problems } = opened;
    // One after the other, however many are sent at once.
    work.emulator.setFaults(
      keys.map((_, index) => ({
        match: { operation: 'deleteCollection', nth: index + 1 },
        fault: { kind: 'delay', ms: 200 * index },
      })),
    );
    await tab.goto(planUrl(page));
    await (await openApproval(tab)).fill('They are not used');
    const seen = new Set<number>();
    await tab.getByRole('button', { name: 'Approve 24 changes' }).click();
    await tab.getByText('Approved.', { exact: true }).waitFor(WAIT);
    await tab.evaluate('window.isSame = true');
    const status = tab.getByText(/^Applying, \d+ of 24$/);
    await expect
      .poll(async () => {
        const [text = ''] = await status.allTextContents();
        const reached = /^Applying, (\d+) of/.exec(text)?.[1];
        return reached === undefined ? seen.size : seen.add(Number(reached)).size;
      }, WAIT)
      .toBeGreaterThan(2);
    expect([...seen]).toEqual([...seen].toSorted((a, b) => a - b));
    expect(await tab.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
    await page.daemon.organizations[0]?.idle();
    await tab.getByRole('heading', { level: 1 }).getByText('applied', { exact: true }).waitFor(WAIT);
    expect(await status.count()).toBe(0);
    expect(await tab.evaluate('window.isSame')).toBe(true);
    await tab.goto(`${page.url}/o/org_acme`);
    await tab.getByRole('heading', { level: 1 }).getByText('in sync', { exact: true }).waitFor(WAIT);
    expect(problems).toEqual([]);
  },
);
