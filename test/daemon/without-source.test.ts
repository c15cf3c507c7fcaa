/** Organizations without manifests: conversations only, issue clusters only. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withCluster } from '../support/cluster-tickets.ts';
import { openWorkspace } from '../support/workspace.ts';
import { startDaemon } from './daemon-process.ts';

const PROCESSING = { openapi: 0, translation: 0, conversations: 0 };
const TICKET = {
  ...{ id: '1', subject: 'Invoice export', status: 'closed', createdAt: '2026-01-01T00:00:00Z' },
  parts: [{ role: 'user', body: 'The export is empty.' }],
};

test('runs with conversations only, is healthy and ready, and --once exits 0', async () => {
  await using work = await openWorkspace({ processing: PROCESSING });
  const drop = join(work.folder, 'drop');
  mkdirSync(drop, { recursive: true });
  const sources = [{ name: 'drop', folder: { path: drop } }];
  const settings = { organization: { source: undefined, conversations: { settleDelay: '0s', sources } } };
  const config = work.configure(settings);
  const once = await work.inside(['run', '--once', '--config', config]);
  expect([once.code, once.stderr]).toEqual([0, expect.not.stringContaining('"level":50')]);
  const file = join(drop, 'tickets.ndjson');
  writeFileSync(file, `${JSON.stringify(TICKET)}\n`);
  // Nobody writes it any more.
  utimesSync(file, 1_767_225_600, 1_767_225_600);
  const again = await work.inside(['run', '--once', '--config', config]);
  expect(again.code).toBe(0);
  expect(work.emulator.state().conversations).toMatchObject([{ content: { subject: 'Invoice export' } }]);
  expect((await work.inside(['doctor', '--config', config])).code).toBe(0);
  const { address } = await startDaemon(work, settings);
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  expect((await fetch(`${address}/readyz`)).status).toBe(200);
  const asked = await work.inside(['conversations', 'status', '--config', config]);
  expect(asked.code).toBe(0);
});

test('runs with issue clusters only, and opens a change request in a space by its id', async () => {
  await using work = await openWorkspace({ processing: PROCESSING });
  const { space } = await withCluster(work);
  const config = work.configure({
    organization: { source: undefined, clusters: { enabled: true, defaultSpace: space } },
  });
  expect((await work.inside(['run', '--once', '--config', config])).code).toBe(0);
  expect(work.emulator.state().changeRequests).toMatchObject([{ space, status: 'open' }]);
  const listed = await work.inside(['clusters', 'list', '--config', config]);
  expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining('is open')]);
  expect((await work.inside(['doctor', '--config', config])).code).toBe(0);
});
