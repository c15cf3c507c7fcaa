/** A daemon that is stopped in the middle of a thousand writes. */
import { expect, test } from 'vitest';
import { eventually, type OctavoProcess } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { startDaemonProcess, teams } from './daemon-process.ts';

const THOUSAND = Array.from({ length: 1000 }, (_, index) => `T${index}`);

/** A platform that accepts 20 writes a second, and a thousand teams to create there. */
async function withThousand(): Promise<Workspace> {
  const work = await openWorkspace({ latency: 50, limits: { write: { kind: 'fixed', limit: 20, window: 1000 } } });
  work.repository.commit('A thousand', { 'teams.yaml': teams(...THOUSAND) });
  return work;
}

/** Creations that the platform accepted. */
function created(work: Workspace): number {
  return work.emulator.requests.entries.filter(
    ({ operation, status }) => operation === 'createTeam' && status !== null && status < 300,
  ).length;
}

async function inTheMiddle(work: Workspace): Promise<void> {
  await eventually('some of them to be made', () => work.teams().length > 25);
  expect(work.teams().length).toBeLessThan(500);
}

/** Exit code of a process that has 10 s to exit; a slower one is killed, and has no exit code. */
async function endsInTime(process: OctavoProcess): Promise<number | null> {
  const killing = setTimeout(() => process.child.kill('SIGKILL'), 10_000);
  const { code } = await process.ended;
  clearTimeout(killing);
  return code;
}

function unlimited(work: Workspace): void {
  work.emulator.setLatency(0);
  work.emulator.setLimits({});
}

/** Checks that nothing was created twice, and that no completed request was sent again. */
function expectEachOnce(work: Workspace): void {
  expect(work.teams()).toEqual(THOUSAND.toSorted());
  expect(created(work)).toBe(THOUSAND.length);
}

test('stops in time on SIGTERM with 1,000 queued writes, and writes the rest after a restart', async () => {
  await using work = await withThousand();
  const first = await startDaemonProcess(work);
  await inTheMiddle(work);
  first.run.child.kill('SIGTERM');
  expect(await endsInTime(first.run)).toBe(0);
  expect(first.run.log.filter(({ level }) => level >= 50)).toEqual([]);
  const made = work.teams().length;
  expect(created(work)).toBe(made);
  expect(made).toBeLessThan(500);
  unlimited(work);
  const second = await startDaemonProcess(work);
  await second.run.waitForLog('plan created', 1, `${THOUSAND.length - made} to create, ${made} unchanged`);
  await eventually('all of them', () => work.teams().length >= THOUSAND.length);
  expect((await second.pass()).outcome).toBe('done');
  expectEachOnce(work);
});

test('stops at once on a second SIGTERM, and finds writes in flight after a restart', async () => {
  await using work = await withThousand();
  const first = await startDaemonProcess(work);
  await inTheMiddle(work);
  // The requests in flight take longer than the shutdown timeout.
  work.emulator.setLatency(8000);
  const under = work.emulator.requests.count('createTeam');
  await eventually('a slow creation', () => work.emulator.requests.count('createTeam') > under);
  first.run.child.kill('SIGTERM');
  await first.run.waitForLog('stopping: waiting for in-flight work');
  const again = setInterval(() => first.run.child.kill('SIGTERM'), 50);
  const code = await endsInTime(first.run);
  clearInterval(again);
  expect(code).toBe(143);
  unlimited(work);
  await startDaemonProcess(work);
  await eventually('all of them', () => work.teams().length >= THOUSAND.length);
  expect(work.teams()).toEqual(THOUSAND.toSorted());
});
