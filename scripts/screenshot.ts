import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';

/**
 * Takes pictures of the demo's web page with Chromium: those of the README, or with a directory as the argument one of
 * each page, in light and dark and at phone width.
 */
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const TOKEN = 'demo';
const WIDE = { width: 1100, height: 860 };
const PHONE = { width: 360, height: 740 };

/** Pages by name, below the page of the organization unless they start with a slash. */
const PAGES: readonly (readonly [name: string, path: string])[] = [
  ['organizations', '/'],
  ['organization', ''],
  ['resource', 'r/space/guides'],
  ['passes', 'passes'],
  ['pass', 'passes/1'],
  ['conversations', 'conversations'],
  ['dead-letters', 'dead-letters'],
  ['clusters', 'clusters'],
  ['audit', 'audit'],
  ['budget', '/limits'],
  ['log', '/log'],
  ['not-found', 'passes/99999'],
];

const [directory] = process.argv.slice(2);
const demo = spawn(process.execPath, [join(ROOT, 'bin/octavo.js'), 'demo'], { stdio: ['ignore', 'pipe', 'inherit'] });
try {
  const url = await addressOf(demo);
  await using browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-gpu'] });
  await (directory === undefined ? takeForReadme(browser, url) : takeAll(browser, url, directory));
} finally {
  demo.kill('SIGTERM');
  await once(demo, 'exit');
}

/** Waits until the demo has played its steps, and returns the address of its page. */
function addressOf({ stdout }: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let address = '';
  const lines = createInterface({ input: stdout as Readable });
  lines.on('line', (line) => {
    address ||= /^ {2}web page +(\S+)/.exec(line)?.[1] ?? '';
    if (line.includes('Ctrl-C')) {
      resolve(address);
    }
  });
  lines.on('close', () => reject(new Error('the demo ended before it printed the address of its page')));
  return promise;
}

async function takeForReadme(browser: Browser, url: string): Promise<void> {
  const images = join(ROOT, 'docs/images');
  mkdirSync(images, { recursive: true });
  const page = await signIn(browser, url, { viewport: WIDE });
  await page.goto(await planUrl(page, url));
  await page.screenshot({ path: join(images, 'web-page.png') });
}

async function takeAll(browser: Browser, url: string, target: string): Promise<void> {
  mkdirSync(target, { recursive: true });
  for (const [scheme, viewport] of [
    ['light', WIDE],
    ['dark', WIDE],
    ['light', PHONE],
  ] as const) {
    const suffix = `${scheme}-${viewport.width}`;
    const page = await signIn(browser, url, { viewport, colorScheme: scheme }, join(target, `sign-in-${suffix}.png`));
    const plan = await planUrl(page, url);
    for (const [name, path] of [...PAGES, ['plan', new URL(plan).pathname] as const]) {
      await page.goto(path.startsWith('/') ? `${url}${path}` : `${url}/o/org_acme/${path}`.replace(/\/$/, ''));
      await page.screenshot({ path: join(target, `${name}-${suffix}.png`), fullPage: true });
    }
    await page.context().close();
  }
}

async function signIn(
  browser: Browser,
  url: string,
  options: Parameters<Browser['newContext']>[0],
  picture?: string,
): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(url);
  if (picture !== undefined) {
    await page.screenshot({ path: picture });
  }
  await page.getByLabel('Token').fill(TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${url}/`);
  return page;
}

/** Returns the address of the plan that waits for approval. */
async function planUrl(page: Page, url: string): Promise<string> {
  await page.goto(`${url}/o/org_acme`);
  const href = await page.locator('a[href*="/plans/"]').first().getAttribute('href');
  return new URL(href ?? '', url).href;
}
