import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HostilePage, startHostilePage, TOKEN } from './hostile-page.ts';
import { hasBrowser, openBrowser } from './open-browser.ts';

const AXE = axe.source;
const TAGS = JSON.stringify(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']);
/** Records what must not happen, before any script of a page runs. */
const WATCH = `
window.problems = [];
window.evil = () => window.problems.push('a text was run as a script');
document.addEventListener('securitypolicyviolation', (event) => window.problems.push(event.violatedDirective));
`;
/** Descriptions of what axe finds, with the first element. */
const FINDINGS = `axe.run(document, { runOnly: { type: 'tag', values: ${TAGS} } }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.length + ' × ' + nodes[0].html.slice(0, 200) + ' ' + nodes[0].failureSummary))`;
/** Elements that are wider than the page. */
const WIDTH = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

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
  async function signIn(options: Parameters<Browser['newContext']>[0]) {
    const context = await browser.newContext(options);
    const problems = watch(context);
    const tab = await context.newPage();
    await tab.goto(page.url);
    const atSignIn = await check(tab);
    await tab.getByLabel('Token').fill(TOKEN);
    await tab.getByRole('button', { name: 'Sign in' }).click();
    await tab.waitForURL(`${page.url}/`);
    return { context, tab, problems, atSignIn };
  }

  test.each([
    ['in light', { colorScheme: 'light', viewport: { width: 1200, height: 800 } }],
    ['in dark', { colorScheme: 'dark', viewport: { width: 1200, height: 800 } }],
    ['on a phone', { colorScheme: 'light', viewport: { width: 360, height: 740 } }],
  ] as const)(
    'runs no script of a text, breaks no rule of accessibility and is not too wide, %s',
    async (_how, options) => {
      const { context, tab, problems, atSignIn } = await signIn(options);
      const found: Record<string, readonly string[]> = { 'sign-in': atSignIn };
      for (const [name, path] of page.paths) {
        const response = await tab.goto(`${page.url}${path}`);
        expect(response?.status(), name).toBe(name === 'page that does not exist' ? 404 : 200);
        found[name] = await check(tab);
      }
      expect(Object.fromEntries(Object.entries(found).filter(([, each]) => each.length > 0))).toEqual({});
      expect(problems.filter((problem) => !problem.includes('404 (Not Found)'))).toEqual([]);
      await context.close();
    },
  );
});

/** Collects errors of the console, errors of scripts, and dialogs. */
function watch(context: BrowserContext): readonly string[] {
  const problems: string[] = [];
  context.on('console', (message) => {
    if (message.type() === 'error') {
      problems.push(message.text());
    }
  });
  context.on('weberror', (error) => problems.push(String(error.error())));
  context.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  void context.addInitScript(WATCH);
  return problems;
}

/** Returns everything that is wrong with the page in a tab. */
async function check(tab: Page): Promise<readonly string[]> {
  await tab.evaluate(AXE);
  const findings = (await tab.evaluate(FINDINGS)) as readonly string[];
  const run = (await tab.evaluate('window.problems')) as readonly string[];
  const tooWide = (await tab.evaluate(WIDTH)) as number;
  return [...findings, ...run, ...(tooWide > 0 ? [`${tooWide} pixels too wide`] : [])];
}
