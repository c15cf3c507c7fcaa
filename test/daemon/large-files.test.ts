/** Files that are large enough for redaction threads, in real processes. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { startDaemonProcess, teams } from './daemon-process.ts';

const FILLER = 'The export fails, and nothing is in the log. '.repeat(200);

/** Lines of a file with tickets of 9 kB. */
function tickets(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => {
    const body = `Write to kim${index}@shop.example. ${FILLER}`;
    return JSON.stringify({ id: `${index}`, subject: 'Export', parts: [{ type: 'message', role: 'user', body }] });
  });
  return lines.join('\n');
}

async function openWithTeam(): Promise<Workspace> {
  const work = await openWorkspace({ processing: { openapi: 0, translation: 0, conversations: 0 } });
  work.repository.commit('One', { 'teams.yaml': teams('A') });
  return work;
}

function conversations(work: Workspace) {
  return work.emulator.state().conversations ?? [];
}

/** True while a process has a redaction thread. */
function hasThread(pid: number | undefined): boolean {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).some((task) => {
    try {
      return readFileSync(join(tasks, task, 'comm'), 'utf8').startsWith('redaction');
    } catch {
      // It ended in the meantime.
      return false;
    }
  });
}

test('a daemon that is stopped while threads redact loses no ticket and sends none twice', async () => {
  await using work = await openWithTeam();
  const drop = join(work.folder, 'drop');
  mkdirSync(drop);
  const sources = [{ name: 'drop', folder: { path: drop, rejectDirectory: work.folder } }];
  const settings = { organization: { conversations: { sources, settleDelay: '0s' } } };
  writeFileSync(join(drop, 'tickets.ndjson'), tickets(600));
  const first = await startDaemonProcess(work, settings);
  await eventually('a redaction thread', () => hasThread(first.run.child.pid));
  expect((await first.run.stop('SIGTERM')).code).toBe(0);
  expect(conversations(work).length).toBeLessThan(600);
  await startDaemonProcess(work, settings);
  await eventually('all tickets', () => conversations(work).length === 600);
  expect(conversations(work).filter(({ repeats }) => repeats > 0)).toEqual([]);
  expect(JSON.stringify(conversations(work))).not.toContain('@shop.example');
  const state = readdirSync(join(work.folder, 'state')).filter((name) => /\.db(-wal)?$/.test(name));
  expect(state).not.toEqual([]);
  expect(state.map((name) => readFileSync(join(work.folder, 'state', name), 'latin1')).join('')).not.toContain(
    '@shop.example',
  );
});

test('an interrupted push can be repeated: every ticket is sent once', async () => {
  await using work = await openWithTeam();
  const config = work.configure();
  const file = join(work.folder, 'tickets.ndjson');
  writeFileSync(file, tickets(600));
  const args = ['conversations', 'push', file, '--config', config];
  const interrupted = work.begin(...args);
  await eventually('a redaction thread', () => hasThread(interrupted.child.pid));
  const { code, stderr } = await interrupted.stop('SIGTERM');
  expect(stderr).toMatch(/^octavo: interrupted/);
  expect(code).toBe(1);
  expect((await work.run(...args)).code).toBe(0);
  // Several batches are in flight, and may arrive in any order.
  const sent = conversations(work).map(({ externalId }) => externalId);
  expect(sent.toSorted()).toEqual(Array.from({ length: 600 }, (_, index) => `file/push/${index}`).toSorted());
  expect(conversations(work).filter(({ repeats }) => repeats > 0)).toEqual([]);
});
