/** Answers of the page server, whatever the page. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPageApp, type PageApp } from './page-app.ts';

let page: PageApp;
beforeAll(async () => {
  page = await openPageApp({ ui: { hosts: ['octavo.internal'] } });
});
afterAll(() => page[Symbol.asyncDispose]());

test('a page is HTML with strict headers, and its view model for a client that accepts JSON', async () => {
  const answer = await page.get('/');
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.body).toContain('<main id="main"');
  expect(answer.body).toContain('href="/o/acme"');
  const json = await page.get('/', { accept: 'application/json' });
  expect(json.headers['content-type']).toContain('application/json');
  expect(JSON.stringify(json.json())).toContain('acme');
});

test('the addresses that pages had before lead to the present ones, with their queries', async () => {
  for (const [before, now] of [
    ['/budget?start=20', '/limits?start=20'],
    ['/conditions', '/alerts'],
    ['/o/passes/passes?before=3', '/o/passes/history?before=3'],
    ['/o/acme/passes/7', '/o/acme/history/7'],
    ['/o/acme/clusters', '/o/acme/questions'],
    ['/o/acme/dead-letters/a%2Fb', '/o/acme/refused/a%2Fb'],
  ]) {
    const { statusCode, headers } = await page.get(String(before));
    expect([statusCode, headers.location]).toEqual([308, now]);
  }
});

test('what was refused is a part of the conversations', async () => {
  const { body } = await page.get('/o/acme/refused');
  expect(body).toMatch(/<a href="\/o\/acme\/conversations" aria-current="true">Conversations<\/a>/);
  expect(body).toMatch(
    /<li><a href="\/o\/acme\/conversations">Conversations<\/a><\/li>\s*,?<li aria-current="page">Refused/,
  );
});

test('an unknown page and an unknown organization are 404 pages', async () => {
  for (const path of ['/nothing', '/o/other', '/o/other/history', '/assets/../page-server.ts']) {
    const answer = await page.get(path);
    expect(answer.statusCode).toBe(404);
    expect(answer.body).toContain('<h1>Not found</h1>');
  }
  const json = await page.get('/nothing', { accept: 'application/json' });
  expect(json.json()).toEqual({ error: 'There is no such page, or you may not see it.' });
});

test.each([
  ['evil.example', 421],
  ['octavo.internal', 200],
  ['localhost:1234', 200],
])('a host name that is not configured is refused: %s is %i', async (host, status) => {
  expect((await page.get('/', { host })).statusCode).toBe(status);
});

test('scripts and styles have addresses that change with their content', async () => {
  const { body } = await page.get('/');
  const assets = [...body.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, href]) => String(href));
  expect(assets).toHaveLength(5);
  for (const href of assets) {
    const answer = await page.get(href);
    expect({ href, status: answer.statusCode }).toEqual({ href, status: 200 });
    expect(answer.headers['cache-control']).toContain('immutable');
  }
});

test('the scripts are small', async () => {
  const { body } = await page.get('/');
  const scripts = [...body.matchAll(/<script src="([^"]+)"/g)].map(([, href]) => String(href));
  const files = await Promise.all(scripts.map(async (href) => (await page.get(href)).rawPayload));
  expect(files).toHaveLength(2);
  expect(files.reduce((sum, file) => sum + gzipSync(file).length, 0)).toBeLessThan(12_288);
});

test('a page is JSON for a download, and 304 while it is unchanged', async () => {
  const first = await page.get('/audit?format=json');
  expect(first.headers['content-type']).toContain('application/json');
  const etag = String(first.headers.etag);
  expect((await page.get('/audit?format=json', { 'if-none-match': etag })).statusCode).toBe(304);
  expect((await page.get('/audit?format=json', { 'if-none-match': 'W/"other"' })).statusCode).toBe(200);
});
