/** Error pages, every kind of resource, empty pages and long ones in a browser. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, OTHER_HOST, openBrowser } from './open-browser.ts';
import { check, checkInWindows, signIn, watch, withFindings } from './page-check.ts';
import { everyKind, failing, nothing, type StatePage, veryMuch } from './states.ts';

/** Posts a form from the page in a tab, as a browser does. */
const POST = `(path, fields) => {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = path;
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement('input');
    input.type = 'hidden';
    input.name = name;
    input.value = value;
    form.append(input);
  }
  document.body.append(form);
  form.submit();
}`;

describe.runIf(hasBrowser)('the web page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(async () => browser?.close());

  /** Posts a form. Returns the status of the answer, which the tab then shows. */
  async function post(tab: Page, path: string, fields: Readonly<Record<string, string>>): Promise<number> {
    const answered = tab.waitForResponse((response) => response.request().method() === 'POST');
    const loaded = tab.waitForEvent('load');
    await tab.evaluate(`(${POST})(${JSON.stringify(path)}, ${JSON.stringify(fields)})`);
    const [response] = await Promise.all([answered, loaded]);
    return response.status();
  }

  /** Checks all pages of a server. */
  async function checkAll(page: StatePage, tab: Page, checkPage: typeof check): Promise<object> {
    const found: Record<string, readonly string[]> = {};
    for (const [name, path] of page.paths) {
      const response = await tab.goto(`${page.url}${path}`);
      expect(response?.status(), name).toBe(Number(name) || 200);
      found[name] = await checkPage(tab);
      expect(await tab.locator('h1').count(), name).toBe(1);
    }
    return withFindings(found);
  }

  test('shows every error as an accessible page', { timeout: 120_000 }, async () => {
    await using page = await failing();
    await using opened = await signIn(browser, page.url, 'approver-token');
    const { context, tab } = opened;
    expect(await checkAll(page, tab, checkInWindows)).toEqual({});
    expect(await tab.locator('main').textContent()).not.toContain('secret of the inside');
    await tab.goto(`${page.url}/`);
    const actions = '/o/acme/actions';
    const found: Record<string, readonly string[]> = {};
    const forms = [
      [409, actions, { action: 'approve', checksum: page.checksum }],
      [413, actions, { action: 'pause', reason: 'x'.repeat(70_000) }],
      [422, actions, { action: 'pause' }],
      [401, '/sign-in', { token: 'wrong' }],
    ] as const;
    for (const [status, path, fields] of forms) {
      expect(await post(tab, path, fields)).toBe(status);
      found[status] = await checkInWindows(tab);
      if (status === 409) {
        expect(await tab.locator('main').textContent()).toContain('team/a');
      }
    }
    for (let attempt = 0; attempt < 9; attempt += 1) {
      await context.request.post(`${page.url}/sign-in`, { form: { token: 'wrong' }, headers: { origin: page.url } });
    }
    expect(await post(tab, '/sign-in', { token: 'wrong' })).toBe(429);
    found[429] = await checkInWindows(tab);
    Object.assign(found, await otherPeople(page, context));
    expect(withFindings(found)).toEqual({});
  });

  /** Checks the pages for a person who may not act, for one who has not signed in, and for another host name. */
  async function otherPeople(page: StatePage, context: BrowserContext) {
    const found: Record<string, readonly string[]> = {};
    const other = await browser.newContext();
    watch(other);
    const tab = await other.newPage();
    const { port } = new URL(page.url);
    expect((await tab.goto(`http://${OTHER_HOST}:${port}/`))?.status()).toBe(421);
    found[421] = await checkInWindows(tab);
    await tab.goto(`${page.url}/sign-in`);
    expect(await post(tab, '/o/acme/actions', { action: 'reconcile' })).toBe(401);
    found['401 without a session'] = await checkInWindows(tab);
    await other.close();
    const [approver] = context.pages();
    expect((await approver?.goto(`${page.url}/o/broken/audit`))?.status()).toBe(503);
    return found;
  }

  test('shows a person who may only read why an action is refused', async () => {
    await using page = await failing();
    await using opened = await signIn(browser, page.url, 'viewer-token');
    const { tab } = opened;
    expect(await post(tab, '/o/acme/actions', { action: 'reconcile' })).toBe(403);
    expect(await tab.locator('main').textContent()).toContain(
      'This needs the role operator; you have the role viewer.',
    );
    expect(await check(tab)).toEqual([]);
  });

  test.each([
    ['every kind of resource in dark on a phone', everyKind, check],
    ['long pages in dark on a phone', veryMuch, check],
    ['empty pages in every window', nothing, checkInWindows],
  ] as const)('shows %s', { timeout: 120_000 }, async (_what, open, checkPage) => {
    await using page = await open();
    const options = { colorScheme: 'dark', viewport: { width: 360, height: 740 } } as const;
    await using opened = await signIn(browser, page.url, 'approver-token', options);
    const { tab, problems } = opened;
    expect(await checkAll(page, tab, checkPage)).toEqual({});
    expect(problems).toEqual([]);
  });

  test('searches as a person types, where they are', { timeout: 60_000 }, async () => {
    await using page = await veryMuch();
    await using opened = await signIn(browser, page.url, 'approver-token');
    const { tab, problems } = opened;
    for (const [path, label, text, caret, words, count] of [
      ['/', 'Name', 'org_14', 3, 'org_14', '10 of 150 organizations'],
      ['/o/large', 'Title or address', 'team-59', 2, 'Team 59', '11 of 600 resources'],
    ] as const) {
      await tab.goto(`${page.url}${path}`);
      const length = await tab.evaluate('history.length');
      await tab.evaluate('window.isSame = true');
      const field = tab.getByLabel(label);
      await field.pressSequentially(text, { delay: 20 });
      await tab.evaluate(`document.activeElement.setSelectionRange(${caret}, ${caret})`);
      const status = tab.getByRole('status').filter({ hasText: count });
      await status.waitFor();
      expect(await tab.getByRole('link', { name: words }).count()).toBeGreaterThan(9);
      expect(await tab.evaluate('[document.activeElement.id, document.activeElement.selectionStart]')).toEqual([
        'q',
        caret,
      ]);
      expect(await tab.evaluate('[window.isSame, history.length]')).toEqual([true, length]);
      expect(new URL(tab.url()).searchParams.get('q')).toBe(text);
      await tab.goto(`${page.url}/log`);
      await tab.goBack();
      await status.waitFor();
      expect(await field.inputValue()).toBe(text);
      await tab.getByRole('button', { name: 'Filter' }).click();
      await status.waitFor();
    }
    expect(problems).toEqual([]);
  });

  test('keeps up with a person who types faster than the server answers', async () => {
    await using page = await veryMuch();
    await using opened = await signIn(browser, page.url, 'approver-token');
    const { tab } = opened;
    await tab.route(/[?]q=org_1$/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await route.continue();
    });
    const field = tab.getByLabel('Name');
    await field.fill('org_1');
    await tab.waitForRequest(/[?]q=org_1$/);
    await field.fill('org_14');
    await tab.getByText('10 of 150 organizations').waitFor();
    expect(await field.inputValue()).toBe('org_14');
  });

  test('reloads a page for what it shows, and for nothing else', async () => {
    await using page = await nothing();
    await using opened = await signIn(browser, page.url, 'approver-token');
    const { tab } = opened;
    for (const [path, own, other] of [
      ['/', ['organization/new'], ['notifications', 'audit', 'budget', 'log', 'replicas']],
      ['/', ['*'], ['notifications']],
      ['/audit', ['audit'], ['notifications', 'log']],
      ['/o/new', ['*'], ['notifications', 'organization/globex']],
    ] as const) {
      await tab.goto(`${page.url}${path}`);
      const requests: string[] = [];
      tab.on('request', (request) => requests.push(...(request.url().endsWith(path) ? [path] : [])));
      const tell = (topics: readonly string[]) =>
        tab.evaluate(`new BroadcastChannel('octavo').postMessage(${JSON.stringify({ topics, wait: 1 })})`);
      await tell(other);
      await tab.waitForTimeout(200);
      expect(requests, `${path} ${other}`).toEqual([]);
      const loaded = tab.waitForRequest(`${page.url}${path}`);
      await tell(own);
      await loaded;
      tab.removeAllListeners('request');
    }
  });

  test('shows a person without any role that there is nothing', async () => {
    await using page = await nothing();
    await using opened = await signIn(browser, page.url, 'nobody-token');
    const { tab } = opened;
    for (const path of ['/', '/audit', '/limits', '/log']) {
      await tab.goto(`${page.url}${path}`);
      expect(await check(tab), path).toEqual([]);
      expect(await tab.locator('main').textContent()).not.toMatch(/empty|new\b/);
    }
  });
});
