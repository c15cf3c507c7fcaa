import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HostilePage, startHostilePage, TOKEN } from './hostile-page.ts';
import { hasBrowser, openBrowser } from './open-browser.ts';
import { checkInWindows, watch, withFindings } from './page-check.ts';

describe.runIf(hasBrowser)('every page, with hostile texts as names', () => {
  let browser: Browser;
  let page: HostilePage;
  beforeAll(async () => {
    [browser, page] = await Promise.all([openBrowser(), startHostilePage()]);
  });
  afterAll(async () => {
    await browser?.close();
    await page?.[Symbol.asyncDispose]();
  });

  /** Opens a browser window in which a person has signed in. */
  async function signIn() {
    const context = await browser.newContext();
    const problems = watch(context);
    const tab = await context.newPage();
    await tab.goto(page.url);
    const atSignIn = await checkInWindows(tab);
    await tab.getByLabel('Token').fill(TOKEN);
    await tab.getByRole('button', { name: 'Sign in' }).click();
    await tab.waitForURL(`${page.url}/`);
    return { context, tab, problems, atSignIn };
  }

  test('runs no script of a text, breaks no rule of accessibility and is not too wide', {
    timeout: 180_000,
  }, async () => {
    const { context, tab, problems, atSignIn } = await signIn();
    const found: Record<string, readonly string[]> = { 'sign-in': atSignIn };
    for (const [name, path] of page.paths) {
      const response = await tab.goto(`${page.url}${path}`);
      expect(response?.status(), name).toBe(name === 'page that does not exist' ? 404 : 200);
      found[name] = await checkInWindows(tab);
    }
    expect(withFindings(found)).toEqual({});
    expect(problems.filter((problem) => !problem.includes('404 (Not Found)'))).toEqual([]);
    await context.close();
  });
});
