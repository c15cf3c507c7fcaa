import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { callControl, controlSocketPath } from '../../src/server/control-client.ts';
import { VERSION } from '../support/octavo-process.ts';
import { openWorkspace } from '../support/workspace.ts';
import { type PageDaemon, startPage } from './page-daemon.ts';

/** An event stream of a browser. */
async function openStream(page: PageDaemon, headers: Readonly<Record<string, string>> = {}) {
  const response = await page.get('/events', headers);
  const reader = response.body?.getReader();
  let text = '';
  return {
    response,
    /** Reads until an event has this topic. */
    until: async (topic: string) => {
      while (!text.includes(`"${topic}"`)) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done) {
          throw new Error(`the stream ended: ${text}`);
        }
        text += Buffer.from(value ?? []).toString('utf8');
      }
      return text;
    },
    close: () => reader?.cancel(),
  };
}

test('a pass rings, with the organization and nothing about it', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work);
  const stream = await openStream(page);
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
  expect(stream.response.headers.get('content-security-policy')).toContain("default-src 'none'");
  await page.daemon.organizations[0]?.trigger('manual');
  expect(await stream.until('org_acme')).toMatch(
    /^retry: 3000\n\n(:\n\n)*data: \{"topics":\["org_acme"\],"wait":500\}\n\n/,
  );
  await stream.close();
});

test('an action on the control socket is shown at once, without the id of the only organization', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work);
  const stream = await openStream(page);
  const socket = controlSocketPath({
    store: { path: 'octavo.db' },
    runtime: { directory: join(work.folder, 'state') },
  });
  await callControl(
    socket,
    { command: 'actions', request: { subcommand: 'pause', reason: 'a freeze', until: null } },
    VERSION,
  );
  expect(await stream.until('org_acme')).toContain('"topics":["org_acme"]');
  await stream.close();
});

test('there are at most 200 streams, and room again when one ends', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work);
  const streams = await Promise.all(Array.from({ length: 200 }, () => openStream(page)));
  expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200));
  const refused = await page.get('/events');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
  expect((await page.get('/')).status).toBe(200);
  await streams[0]?.close();
  await expect.poll(async () => (await page.get('/events')).status).toBe(200);
});

test('the scripts are small', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work);
  const text = await (await page.get('/')).text();
  const scripts = [...text.matchAll(/<script src="([^"]+)"/g)].map(([, href]) => String(href));
  const files = await Promise.all(scripts.map(async (href) => Buffer.from(await (await page.get(href)).arrayBuffer())));
  expect(files).toHaveLength(2);
  expect(files.reduce((sum, file) => sum + gzipSync(file).length, 0)).toBeLessThan(12_288);
});
