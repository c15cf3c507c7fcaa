/** Checks of a page in a browser: accessibility, scripts that must not run, and its width. */
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';

const AXE = axe.source;
const ALL_RULES = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };
/** Rules about colors. */
const COLOR_RULES = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };
/** Records what must not happen, before any script of a page runs. */
const WATCH = `
window.problems = [];
window.evil = () => window.problems.push('a text was run as a script');
document.addEventListener('securitypolicyviolation', (event) => window.problems.push(event.violatedDirective + ' ' + event.blockedURI));
`;
/** Descriptions of what axe finds, with the first element. */
const findings = (rules: object) => `axe.run(document, { runOnly: ${JSON.stringify(rules)} }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.length + ' × ' + nodes[0].html.slice(0, 200) + ' ' + nodes[0].failureSummary))`;
/** Elements that are wider than the page. */
const WIDTH = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Removes all but the first and the last ten of many rows: for axe, hundreds of rows take long and are all the same. */
const THIN_OUT = `for (const list of document.querySelectorAll('tbody, ul, ol, select')) {
  [...list.children].slice(10, -10).forEach((row) => row.remove());
}`;

/** Opens everything that a person can open. */
const OPEN_ALL = `for (const details of document.querySelectorAll('details')) {
  details.removeAttribute('name');
  details.open = true;
}`;

/** Describes what a person who magnifies or has no colors or motion would miss. */
const MISSED = `(() => {
  const all = [...document.querySelectorAll('body *')].filter((each) => each.checkVisibility());
  const styleOf = (each) => getComputedStyle(each);
  const isCut = (each) => {
    const { overflowX, overflowY, textOverflow, clipPath } = styleOf(each);
    const isHidden = overflowX === 'hidden' && overflowY === 'hidden' && textOverflow !== 'ellipsis' && clipPath === 'none';
    return isHidden && (each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 1);
  };
  const describe = (what, found) => found.map((each) => what + ': ' + each.outerHTML.slice(0, 200));
  return [
    ...describe('cut', all.filter((each) => !(each instanceof SVGElement) && isCut(each))),
    ...describe('stays in view', all.filter((each) => ['sticky', 'fixed'].includes(styleOf(each).position))),
    ...describe('a control without a border', all.filter((each) => each.matches('button, input:not([type=hidden]), select') && styleOf(each).borderTopStyle === 'none')),
    ...describe('an icon that cannot be seen', all.filter((each) => each.matches('svg.icon') && styleOf(each).fill === styleOf(document.body).backgroundColor)),
    ...describe('a state without a word', all.filter((each) => each.matches('.state') && each.textContent.trim() === '')),
    ...document.getAnimations().map(({ animationName }) => 'moves: ' + animationName),
  ];
})()`;

/** Windows in which every page is checked. */
const WINDOWS = [
  { name: 'in light', colorScheme: 'light', viewport: { width: 1200, height: 800 }, rules: ALL_RULES },
  { name: 'in dark', colorScheme: 'dark', viewport: { width: 1200, height: 800 }, rules: COLOR_RULES },
  { name: 'on a phone', colorScheme: 'light', viewport: { width: 360, height: 740 }, rules: ALL_RULES },
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

/** Opens a window in which a person has signed in with a token. */
export async function signIn(
  browser: Browser,
  url: string,
  token: string,
  options: Parameters<Browser['newContext']>[0] = {},
) {
  const context = await browser.newContext(options);
  const problems = watch(context);
  const tab = await context.newPage();
  await tab.goto(`${url}/`);
  await tab.getByLabel('Token').fill(token);
  await tab.getByRole('button', { name: 'Sign in' }).press('Enter');
  await tab.waitForURL(`${url}/`);
  return { context, tab, problems, [Symbol.asyncDispose]: () => context.close() };
}

/** Returns everything that is wrong with the page in a tab. Removes rows of the page. */
export async function check(tab: Page): Promise<readonly string[]> {
  const tooWide = await findWidth(tab);
  await tab.evaluate(THIN_OUT);
  await tab.evaluate(AXE);
  return [...(await findProblems(tab, ALL_RULES)), ...tooWide];
}

/** Returns everything that is wrong with the page in a tab, in each window. The page is loaded once: only CSS depends on the window. */
export async function checkInWindows(tab: Page): Promise<readonly string[]> {
  await tab.evaluate(OPEN_ALL);
  await tab.evaluate(AXE);
  const found: string[] = [];
  for (const { name, colorScheme, viewport, rules } of WINDOWS) {
    await tab.emulateMedia({ colorScheme });
    await tab.setViewportSize(viewport);
    const problems = [...(await findProblems(tab, rules)), ...(await findWidth(tab))];
    found.push(...problems.map((problem) => `${name}: ${problem}`));
  }
  return found;
}

/**
 * Returns what is wrong with the page in a tab for a person who magnifies it to 200 %, has chosen all colors, and wants no
 * motion.
 */
export async function checkMagnified(tab: Page): Promise<readonly string[]> {
  await tab.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
  await tab.setViewportSize({ width: 600, height: 400 });
  await tab.evaluate(OPEN_ALL);
  return [...((await tab.evaluate(MISSED)) as readonly string[]), ...(await findWidth(tab))];
}

async function findProblems(tab: Page, rules: object): Promise<readonly string[]> {
  const violations = (await tab.evaluate(findings(rules))) as readonly string[];
  const run = (await tab.evaluate('window.problems')) as readonly string[];
  return [...violations, ...run];
}

async function findWidth(tab: Page): Promise<readonly string[]> {
  const tooWide = (await tab.evaluate(WIDTH)) as number;
  return tooWide > 0 ? [`${tooWide} pixels too wide`] : [];
}

/** Returns only the pages with findings. */
export function withFindings(found: Readonly<Record<string, readonly string[]>>): object {
  return Object.fromEntries(Object.entries(found).filter(([, each]) => each.length > 0));
}
