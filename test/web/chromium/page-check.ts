/** Checks of a page in a browser: accessibility, scripts that must not run, and its width. */
import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';

const AXE = axe.source;
const TAGS = JSON.stringify(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']);
/** Records what must not happen, before any script of a page runs. */
const WATCH = `
window.problems = [];
window.evil = () => window.problems.push('a text was run as a script');
document.addEventListener('securitypolicyviolation', (event) => window.problems.push(event.violatedDirective + ' ' + event.blockedURI));
`;
/** Descriptions of what axe finds, with the first element. */
const FINDINGS = `axe.run(document, { runOnly: { type: 'tag', values: ${TAGS} } }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.length + ' × ' + nodes[0].html.slice(0, 200) + ' ' + nodes[0].failureSummary))`;
/** Elements that are wider than the page. */
const WIDTH = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Windows in which every page is checked. */
const WINDOWS = [
  { name: 'in light', colorScheme: 'light', viewport: { width: 1200, height: 800 } },
  { name: 'in dark', colorScheme: 'dark', viewport: { width: 1200, height: 800 } },
  { name: 'on a phone', colorScheme: 'light', viewport: { width: 360, height: 740 } },
] as const;

/** Collects errors of the console, errors of scripts, and dialogs. */
export function watch(context: BrowserContext): readonly string[] {
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
export async function check(tab: Page): Promise<readonly string[]> {
  await tab.evaluate(AXE);
  return findProblems(tab);
}

/** Returns everything that is wrong with the page in a tab, in each window. The page is loaded once: only CSS depends on the window. */
export async function checkInWindows(tab: Page): Promise<readonly string[]> {
  await tab.evaluate(AXE);
  const found: string[] = [];
  for (const { name, colorScheme, viewport } of WINDOWS) {
    await tab.emulateMedia({ colorScheme });
    await tab.setViewportSize(viewport);
    found.push(...(await findProblems(tab)).map((problem) => `${name}: ${problem}`));
  }
  return found;
}

async function findProblems(tab: Page): Promise<readonly string[]> {
  const findings = (await tab.evaluate(FINDINGS)) as readonly string[];
  const run = (await tab.evaluate('window.problems')) as readonly string[];
  const tooWide = (await tab.evaluate(WIDTH)) as number;
  return [...findings, ...run, ...(tooWide > 0 ? [`${tooWide} pixels too wide`] : [])];
}

/** Returns only the pages with findings. */
export function withFindings(found: Readonly<Record<string, readonly string[]>>): object {
  return Object.fromEntries(Object.entries(found).filter(([, each]) => each.length > 0));
}
