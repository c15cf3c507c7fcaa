import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { pictureSources } from './picture-sources.ts';

/**
 * Takes pictures of the demo's web page with Chromium: those of the README and of docs, or with a directory as the argument
 * one of each page, in light and dark and at phone width.
 */
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const IMAGES = join(ROOT, 'docs/images');
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const TOKEN = 'demo';
const WIDE = { width: 1100, height: 800 };
const LOOKS = {
  light: { viewport: WIDE, colorScheme: 'light' },
  dark: { viewport: WIDE, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 740 }, colorScheme: 'light' },
} as const;

/** Pages by name, below the page of the organization unless they start with a slash. The plan is the one that waits. */
const PAGES = {
  organizations: '/',
  overview: '',
  plan: 'plan',
  resource: 'r/space/guides',
  history: 'history',
  run: 'history/1',
  conversations: 'conversations',
  refused: 'refused',
  questions: 'questions',
  'organization-audit': 'audit',
  alerts: '/alerts',
  messages: '/deliveries',
  limits: '/limits',
  audit: '/audit',
  log: '/log',
  'not-found': 'history/99999',
} as const;

/** Pictures of the documentation: a page and how it is shown. The file has the name of the page, and of a look other than light. */
const PICTURES = [
  ['overview', 'light'],
  ['plan', 'light'],
  ['plan', 'dark'],
  ['plan', 'phone'],
  ['history', 'light'],
  ['conversations', 'light'],
  ['questions', 'light'],
] as const satisfies readonly (readonly [keyof typeof PAGES, keyof typeof LOOKS])[];

const [directory] = process.argv.slice(2);
const demo = spawn(process.execPath, [join(ROOT, 'bin/octavo.js'), 'demo'], { stdio: ['ignore', 'pipe', 'inherit'] });
try {
  const url = await addressOf(demo);
  await using browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-gpu'] });
  await (directory === undefined ? takeForDocs(browser, url) : takeAll(browser, url, directory));
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

async function takeForDocs(browser: Browser, url: string): Promise<void> {
  mkdirSync(IMAGES, { recursive: true });
  for (const [name, look] of PICTURES) {
    const page = await signIn(browser, url, look);
    await open(page, url, name);
    const picture = await take(page, look === 'phone' ? Number.POSITIVE_INFINITY : LOOKS[look].viewport.height);
    writeFileSync(join(IMAGES, `${name}${look === 'light' ? '' : `-${look}`}.webp`), picture);
    await page.context().close();
  }
  writeFileSync(join(IMAGES, 'source.json'), `${JSON.stringify(pictureSources(), null, 2)}\n`);
}

/** Takes a picture down to the end of the content, or to a height. As WebP, which forges show, it has half the size of a PNG. */
async function take(page: Page, most: number): Promise<Buffer> {
  const content = await page.evaluate('document.querySelector("main").getBoundingClientRect().bottom + scrollY');
  const { width } = page.viewportSize() ?? WIDE;
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: 90,
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width, height: Math.min(Math.ceil(Number(content)), most), scale: 1 },
  });
  return Buffer.from(data, 'base64');
}

async function takeAll(browser: Browser, url: string, target: string): Promise<void> {
  mkdirSync(target, { recursive: true });
  for (const look of Object.keys(LOOKS) as (keyof typeof LOOKS)[]) {
    const page = await signIn(browser, url, look, join(target, `sign-in-${look}.png`));
    for (const name of Object.keys(PAGES) as (keyof typeof PAGES)[]) {
      await open(page, url, name);
      await page.screenshot({ path: join(target, `${name}-${look}.png`), fullPage: true });
    }
    await page.context().close();
  }
}

async function signIn(browser: Browser, url: string, look: keyof typeof LOOKS, picture?: string): Promise<Page> {
  const page = await (await browser.newContext({ ...LOOKS[look], reducedMotion: 'reduce' })).newPage();
  await page.goto(url);
  if (picture !== undefined) {
    await page.screenshot({ path: picture });
  }
  await page.getByLabel('Token').fill(TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${url}/`);
  return page;
}

async function open(page: Page, url: string, name: keyof typeof PAGES): Promise<void> {
  const path = PAGES[name];
  if (name === 'plan') {
    await page.goto(`${url}/o/org_acme`);
    await page.getByRole('link', { name: /^Review \d/ }).click();
    await page.waitForURL(/\/plans\//);
  } else {
    await page.goto(path.startsWith('/') ? `${url}${path}` : `${url}/o/org_acme/${path}`.replace(/\/$/, ''));
  }
}
