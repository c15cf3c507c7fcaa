import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HostilePage, startHostilePage, TOKEN } from './hostile-page.ts';
import { hasBrowser, openBrowser } from './open-browser.ts';
import { check, checkInWindows, checkMagnified, signIn, withFindings } from './page-check.ts';

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

  test('hides nothing at 200 %, and needs no colors and no motion', { timeout: 120_000 }, async () => {
    await using opened = await signIn(browser, page.url, TOKEN);
    const { tab } = opened;
    const found: Record<string, readonly string[]> = {};
    for (const [name, path] of [...page.paths, ['sign-in', '/sign-in'] as const]) {
      await tab.goto(`${page.url}${path}`);
      found[name] = await checkMagnified(tab);
    }
    expect(withFindings(found)).toEqual({});
  });

  test('is complete without scripts', { timeout: 120_000 }, async () => {
    await using scripted = await signIn(browser, page.url, TOKEN);
    await using plain = await signIn(browser, page.url, TOKEN, { javaScriptEnabled: false });
    for (const [name, path] of page.paths) {
      const texts: string[] = [];
      for (const { tab } of [scripted, plain]) {
        await tab.goto(`${page.url}${path}`);
        texts.push(await tab.evaluate<string>('document.body.innerText'));
      }
      expect(texts[0], name).not.toBe('');
      expect(texts[1], name).toBe(texts[0]);
    }
  });

  test('searches for a script as for any other text', async () => {
    await using opened = await signIn(browser, page.url, TOKEN);
    const { tab, problems } = opened;
    await tab.goto(`${page.url}/o/org_1`);
    await tab.getByLabel('Title or address').fill('<img src=x onerror=evil()>"><script>evil()</script>');
    await tab.getByText('No resource matches.').waitFor();
    expect([await check(tab), problems]).toEqual([[], []]);
  });

  test('each state has a shape of its own', async () => {
    await using opened = await signIn(browser, page.url, TOKEN);
    const { tab } = opened;
    await tab.emulateMedia({ forcedColors: 'active' });
    const shapes = (await tab.evaluate(`['ok', 'busy', 'wait', 'bad', 'old', 'none'].map((tone) => {
      const state = document.createElement('span');
      state.className = 'state ' + tone;
      document.querySelector('main').append(state);
      const { backgroundColor, backgroundImage, borderRadius, borderWidth, transform } = getComputedStyle(state, '::before');
      const paints = [borderWidth === '0px' ? '' : 'border', backgroundImage, backgroundColor === 'rgba(0, 0, 0, 0)' ? '' : backgroundColor];
      return [paints.join() !== ',none,', borderRadius, borderWidth, backgroundImage, transform].join(' ');
    })`)) as readonly string[];
    expect(new Set(shapes).size).toBe(6);
    expect(shapes.filter((shape) => !shape.startsWith('true'))).toEqual([]);
  });
});
