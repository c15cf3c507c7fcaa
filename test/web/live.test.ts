/** Event streams of a daemon. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callControl, controlSocketPath } from '../../src/server/control-client.ts';
import { VERSION } from '../support/octavo-process.ts';
import { openWorkspace } from '../support/workspace.ts';
import { openPageApp } from './page-app.ts';
import { type PageDaemon, startPage } from './page-daemon.ts';

/** An event stream of a browser. */
async function openStream(page: Pick<PageDaemon, 'get'>) {
  const response = await page.get('/events');
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

test('a pass and an action on the control socket ring, with the organization and nothing about it', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work);
  const ofPass = await openStream(page);
  expect(ofPass.response.headers.get('content-type')).toBe('text/event-stream');
  expect(ofPass.response.headers.get('content-security-policy')).toContain("default-src 'none'");
  await page.daemon.organizations[0]?.trigger('manual');
  expect(await ofPass.until('org_acme')).toMatch(
    /^retry: 3000\n\n(:\n\n)*data: \{"topics":\["org_acme"\],"wait":500\}\n\n/,
  );
  await ofPass.close();
  const ofAction = await openStream(page);
  const socket = controlSocketPath({
    store: { path: 'octavo.db' },
    runtime: { directory: join(work.folder, 'state') },
  });
  // Without the id of the only organization.
  const request = { subcommand: 'pause', reason: 'a freeze', until: null } as const;
  await callControl(socket, { command: 'actions', request }, VERSION);
  expect(await ofAction.until('org_acme')).toMatch(/"topics":\[(?:"notifications",)?"org_acme"\]/);
  await ofAction.close();
});

test('there are at most 200 streams, and room again when one ends', async () => {
  await using app = await openPageApp({ ui: {} });
  const url = await app.server.listen();
  const page = { get: (path: string) => fetch(`${url}${path}`) };
  const streams = await Promise.all(Array.from({ length: 200 }, () => openStream(page)));
  expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200));
  const refused = await page.get('/events');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
  expect((await page.get('/')).status).toBe(200);
  await streams[0]?.close();
  await expect.poll(async () => (await page.get('/events')).status).toBe(200);
});
