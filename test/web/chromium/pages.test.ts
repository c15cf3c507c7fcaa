import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HostilePage, startHostilePage, TOKEN } from './hostile-page.ts';
import { hasBrowser, openBrowser } from './open-browser.ts';
import { checkInWindows, signIn, withFindings } from './page-check.ts';

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

  test('runs no script of a text, breaks no rule of accessibility and is not too wide', {
    timeout: 180_000,
  }, async () => {
    await using opened = await signIn(browser, page.url, TOKEN);
    const { tab, problems } = opened;
    const found: Record<string, readonly string[]> = {};
    for (const [name, path] of [...page.paths, ['sign-in', '/sign-in'] as const]) {
      const response = await tab.goto(`${page.url}${path}`);
      expect(response?.status(), name).toBe(name === 'page that does not exist' ? 404 : 200);
      found[name] = await checkInWindows(tab);
    }
    expect(withFindings(found)).toEqual({});
    expect(problems.filter((problem) => !problem.includes('404 (Not Found)'))).toEqual([]);
  });
});
