import { request } from 'node:http';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openWorkspace } from '../support/workspace.ts';
import { startPage } from './page-daemon.ts';

/** Sends a GET request with a Host header, which fetch does not let callers choose. */
function statusFor(url: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

test('a page is HTML with strict headers, and its view model for a client that accepts JSON', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work);
  const answer = await page.get('/');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const text = await answer.text();
  expect(text).toContain('<main id="main"');
  expect(text).toContain('href="/o/org_acme"');
  const json = await page.get('/', { accept: 'application/json' });
  expect(json.headers.get('content-type')).toContain('application/json');
  expect(JSON.stringify(await json.json())).toContain('org_acme');
});

test('an unknown page and an unknown organization are 404 pages', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work);
  for (const path of ['/nothing', '/o/org_other', '/o/org_other/passes', '/assets/../page-server.ts']) {
    const answer = await page.get(path);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('<h1>Not found</h1>');
  }
  const json = await page.get('/nothing', { accept: 'application/json' });
  expect(await json.json()).toEqual({ error: 'There is no such page, or you may not see it.' });
});

test('a host name that is not configured is refused', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work, { ui: { hosts: ['octavo.internal'] } });
  expect(await statusFor(page.url, 'evil.example')).toBe(421);
  expect(await statusFor(page.url, 'octavo.internal')).toBe(200);
  expect(await statusFor(page.url, 'localhost:1234')).toBe(200);
});

test('scripts and styles have addresses that change with their content', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work);
  const text = await (await page.get('/')).text();
  const assets = [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, href]) => String(href));
  expect(assets).toHaveLength(5);
  for (const href of assets) {
    const answer = await page.get(href);
    expect({ href, status: answer.status }).toEqual({ href, status: 200 });
    expect(answer.headers.get('cache-control')).toContain('immutable');
  }
});

test('a page is JSON for a download, and 304 while it is unchanged', async () => {
  await using work = await openWorkspace();
  let now = Date.now();
  await using page = await startPage(work, { clock: { ...systemClock, now: () => now } });
  const first = await page.get('/audit?format=json');
  expect(first.headers.get('content-type')).toContain('application/json');
  const etag = first.headers.get('etag') ?? '';
  expect((await page.get('/audit?format=json', { 'if-none-match': etag })).status).toBe(304);
  now += 1000;
  await page.daemon.organizations[0]?.trigger('manual');
  expect((await page.get('/audit?format=json', { 'if-none-match': 'W/"other"' })).status).toBe(200);
});
