/** Notifications of a real process, killed with SIGKILL at random points and restarted on the same state file. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Fact } from '../../src/store/notifications.ts';
import { countCases, SEED } from '../support/campaign.ts';
import { endWithParent } from '../support/end-with-parent.ts';
import { FakeWebhookReceiver } from '../support/notify/fake-webhook-receiver.ts';
import { spawn } from '../support/programs.ts';

const CHILD = fileURLToPath(new URL('notify-process.ts', import.meta.url));
const KILLS = countCases({ sample: 4, ci: 12, full: 100 });
/** Organizations with a condition at a time. */
const AT_ONCE = 5;

interface Payload {
  readonly id: string;
  readonly thread: string;
  readonly data: { readonly items: readonly { readonly organization: string; readonly state: string }[] };
}

let folder: string;
let child: ChildProcess | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-notify-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

function waiting(organization: string): Fact {
  const scope = { organization, token: null, platform: null };
  const since = Date.now();
  return { code: 'waiting-for-approval', scope, subject: '', since, summary: 'waits', details: [], path: null };
}

/** Returns the last state of each organization in each thread. */
function lastStates({ messages }: FakeWebhookReceiver): readonly (readonly [organization: string, state: string])[] {
  const last = new Map<string, readonly [string, string]>();
  for (const { thread, data } of messages.values() as Iterable<Payload>) {
    for (const { organization, state } of data.items) {
      last.set(`${thread} ${organization}`, [organization, state]);
    }
  }
  return [...last.values()];
}

test('announces and resolves every condition, however often it is killed', async () => {
  await using receiver = await new FakeWebhookReceiver().listen();
  const facts = join(folder, 'facts.json');
  const declare = (organizations: readonly string[]) => {
    writeFileSync(`${facts}.new`, JSON.stringify(organizations.map(waiting)));
    renameSync(`${facts}.new`, facts);
  };
  let dice = SEED;
  const roll = (most: number) => {
    dice = (dice * 48_271) % 2_147_483_647;
    return dice % most;
  };
  /** Runs a process until a function of its written lines returns true, and kills it. */
  const run = async (isOver: (lines: number) => boolean) => {
    const args = [CHILD, join(folder, 'octavo.db'), facts, receiver.url, receiver.secret];
    const started = spawn(...endWithParent(process.execPath, args), { stdio: ['ignore', 'pipe', 'inherit'] });
    child = started;
    let lines = 0;
    for await (const _ of createInterface({ input: started.stdout })) {
      lines += 1;
      if (isOver(lines)) {
        break;
      }
    }
    const ended = once(started, 'exit');
    started.kill('SIGKILL');
    await ended;
  };

  // No condition begins twice: it would count as flapping.
  let first = 0;
  const current = () => Array.from({ length: AT_ONCE }, (_, index) => `org_${first + index}`);
  for (let kills = 0; kills < KILLS; kills += 1) {
    first += roll(AT_ONCE);
    declare(current());
    const last = 4 + roll(60);
    await run((lines) => lines === last);
  }
  await run(() => {
    const states = lastStates(receiver);
    return current().every((name) => states.some(([each, state]) => each === name && state === 'firing'));
  });
  declare([]);
  await run(() => lastStates(receiver).every(([, state]) => state === 'resolved'));

  expect(lastStates(receiver).map(([name]) => name)).toEqual(expect.arrayContaining(current()));
  expect(receiver.repeated).toBeLessThanOrEqual(KILLS + 1);
}, 600_000);
