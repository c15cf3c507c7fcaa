/** Two failing channels are one incident of a pager: it stays open while one of them fails, and is resolved once. */
import { describe, expect, test } from 'vitest';
import type { ConditionCode } from '../../src/core/condition-codes.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Fact } from '../../src/store/notifications.ts';
import { KilledNotifier } from '../support/notify/killed-notifier.ts';

const MINUTE = 60_000;
/** Numbers of the channels of the campaign. */
const CHAT = 0;
const NIGHT = 1;
const PAGER = 2;

function fact(code: ConditionCode, since: number): Fact {
  const scope = { organization: 'org_1', token: 't1', platform: 'p' };
  return { code, scope, subject: '', since, summary: code, details: [], path: null };
}

/** Lets both chats fail until `channel-failing` fires for both, with nothing else to send. */
async function failBothChats(machine: KilledNotifier): Promise<void> {
  await machine.report('org_1', [fact('waiting-for-approval', machine.now)]);
  await machine.advance();
  machine.now += MINUTE;
  await machine.advance();
  for (const channel of [CHAT, NIGHT]) {
    machine.outcomes = ['refused'];
    await machine.send(channel);
  }
  await machine.send(PAGER);
  await machine.report('org_1', []);
  machine.now += 6 * MINUTE;
  await machine.advance();
}

/** Runs the notifier and every channel for 15 minutes. */
async function work(machine: KilledNotifier): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await machine.advance();
    for (const channel of [CHAT, NIGHT, PAGER]) {
      await machine.send(channel);
      await machine.advance();
    }
    machine.now += 5 * MINUTE;
  }
}

/** Messages to the pager about channels, oldest first. Repeated ones count once. */
async function pages(machine: KilledNotifier) {
  const conditions = await machine.disk.conditions(100);
  const subjects = new Map(
    conditions.filter(({ fact }) => fact.code === 'channel-failing').map(({ id, fact }) => [id, fact.subject]),
  );
  const received = machine.received.filter(
    ({ delivery }) => delivery.channel === 'pager' && delivery.about.some((id) => subjects.has(id)),
  );
  const unique = new Map(received.map(({ delivery }) => [delivery.id, delivery])).values();
  return [...unique].map(({ kind, thread, about }) => ({
    ...{ kind, thread },
    about: about.map((id) => subjects.get(id)).toSorted(),
  }));
}

describe('a pager incident about two channels', () => {
  test.each([
    { stage: 'while one channel has nothing to send', message: null, kinds: ['firing'], firing: ['night'] },
    { stage: 'after its next message', message: 'paused', kinds: ['firing', 'resolved'], firing: [] },
  ] as const)('has $kinds $stage', async ({ message, kinds, firing }) => {
    const machine = new KilledNotifier(openMemoryStore().notifications());
    await failBothChats(machine);
    await work(machine);
    if (message !== null) {
      await machine.report('org_1', [fact(message, machine.now)]);
      await work(machine);
    }
    const found = await pages(machine);
    expect(found.map(({ kind }) => kind)).toEqual(kinds);
    expect(new Set(found.map(({ thread }) => thread)).size).toBe(1);
    expect(found.map(({ about }) => about)).toEqual(kinds.map(() => ['chat', 'night']));
    const conditions = await machine.disk.conditions(100);
    const failing = conditions.filter((each) => each.fact.code === 'channel-failing' && each.state === 'firing');
    expect(failing.map(({ fact }) => fact.subject)).toEqual(firing);
  });
});
