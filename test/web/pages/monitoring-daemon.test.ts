/** Pages of conversations, clusters, budget, audit and log with a running daemon. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../support/octavo-process.ts';
import { openWorkspace } from '../../support/workspace.ts';
import { startPage } from '../page-daemon.ts';

const EMAIL = 'kim.customer@shop.example';
const JSON_TYPE = { accept: 'application/json' };

test('the pages show the sources, dead letters without content, budgets and log of a daemon', async () => {
  await using work = await openWorkspace({ processing: { openapi: 0, translation: 0, conversations: 0 } });
  const drop = join(work.folder, 'drop');
  mkdirSync(drop);
  const parts = [{ type: 'message', role: 'user', body: `The export fails, write to ${EMAIL}` }];
  writeFileSync(join(drop, 'one.json'), JSON.stringify([{ id: '1', subject: 'Export', parts }]));
  work.emulator.setFaults([
    { match: { operation: 'ingestConversations' }, fault: { kind: 'status', status: 400, message: 'No' }, times: 2 },
  ]);
  const sources = [{ name: 'drop', folder: { path: drop } }];
  await using page = await startPage(work, { organization: { conversations: { sources, settleDelay: '0s' } } });
  const view = async (path: string) => JSON.parse(await (await page.get(path, JSON_TYPE)).text());
  const conversations = () => view('/o/org_acme/conversations');
  await eventually('the dead letter', async () => (await conversations()).outbox.deadLetters === 1);
  const shown = await conversations();
  expect(shown.sources).toMatchObject([{ name: 'drop', kind: 'folder', state: 'working', deadLetters: 1 }]);
  expect(shown.redactions).toContainEqual({ type: 'email', count: 1 });
  const [{ key }] = (await view('/o/org_acme/dead-letters')).deadLetters;
  const paths = ['conversations', 'dead-letters', `dead-letters/${encodeURIComponent(key)}`, 'clusters', 'audit'];
  for (const path of [...paths.map((each) => `/o/org_acme/${each}`), '/budget', '/audit', '/log', '/o/org_acme']) {
    const answer = await page.get(path);
    const text = await answer.text();
    expect(answer.status, path).toBe(200);
    // Nobody has signed in, so nobody may read the content.
    for (const secret of [EMAIL, 'The export fails', work.env.OCTAVO_TOKEN ?? 'octavo-token']) {
      expect(text, path).not.toContain(secret);
    }
  }
  const budget = await view('/budget');
  expect(budget.queues).toMatchObject([{ name: 'org_acme', organizations: ['org_acme'], breaker: 'closed' }]);
  const { records } = await view('/log');
  expect(JSON.stringify(records)).toContain('octavo is running');
  expect((await view('/o/org_acme')).waiting).toContainEqual({
    kind: 'dead-letters',
    text: '1 dead letter was refused by the platform',
    path: '/o/org_acme/dead-letters',
  });
});
