import { afterEach, beforeEach, expect, test } from 'vitest';
import { Ingestion } from '../../src/conversations/ingestion.ts';
import { type Emulator, type EmulatorOptions, type FaultRule, startEmulator } from '../../src/emulator/emulator.ts';
import { openWriter } from '../../src/platform/client.ts';
import { type Connection, openConnection } from '../../src/platform/connection.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { createFastClock } from '../support/fast-clock.ts';
import { Helpdesk, SECRET, testRedactor } from '../support/helpdesk.ts';
import { eventually } from '../support/octavo-process.ts';

/* Over sockets, to the embedded platform: its own rules and its own faults. */

const FASTER = 100;

let emulator: Emulator;
let connection: Connection;
let desk: Helpdesk;
let ingestion: Ingestion;

beforeEach(() => {
  desk = new Helpdesk();
});
afterEach(async () => {
  await ingestion.stop(1000 * FASTER);
  await connection.close(0);
  await emulator.close();
});

async function open(options: EmulatorOptions = {}, count = 10): Promise<void> {
  emulator = await startEmulator(options);
  const clock = createFastClock(Date.now(), FASTER);
  const random = () => 0.5;
  connection = openConnection({
    baseUrl: emulator.url,
    token: emulator.token,
    userAgent: 'octavo/0',
    concurrency: 4,
    clock,
    random,
  });
  ingestion = new Ingestion({
    sources: [{ name: 'desk', polling: desk.source(), webhook: null, every: 10_000, since: 1e15 }],
    outbox: openMemoryStore().outbox('org', { items: 40, bytes: 1e6 }),
    redactor: testRedactor,
    writer: openWriter(connection, { organization: emulator.organization, priority: 'ingestion' }),
    settleDelay: 0,
    batch: { maxConversations: count, maxBytes: 1e6 },
    clock,
    random,
    events: {},
  });
  ingestion.start();
}

const edit = (from: number, to: number, state: 'solved' | 'open' = 'solved') => {
  for (let id = from; id < to; id += 1) {
    desk.edit(`${id}`, state, 0);
  }
};
const kept = () => emulator.state().conversations ?? [];
const contents = () => new Map(kept().map((one) => [one.externalId, one.content.parts[0]?.body]));
const hasAll = () => {
  const there = contents();
  return [...desk.expected()].every(([id, words]) => there.get(id) === words);
};
const until = (what: string, look: () => boolean | Promise<boolean>) => eventually(what, look, 60);

const FAULTS: Readonly<Record<string, FaultRule>> = {
  'a reset before the request': { rate: 0.3, fault: { kind: 'reset-before' } },
  'a reset after the request': { rate: 0.3, fault: { kind: 'reset-after' } },
  'a truncated response': { rate: 0.3, fault: { kind: 'truncate' } },
  'a 503': { rate: 0.3, fault: { kind: 'status', status: 503 } },
  'a 429': { rate: 0.5, fault: { kind: '429', retryAfter: 1 } },
};

test.each(Object.entries(FAULTS))('sends the latest version of every ticket once despite %s', async (_name, rule) => {
  await open({ faults: [rule] });
  edit(0, 60);
  await until('the first', () => contents().size > 20);
  edit(10, 30);
  edit(0, 5, 'open');
  await until('all of it', hasAll);
  await until('rest', async () => (await ingestion.status()).outbox.stored.items === 0);
  const conversations = kept();
  expect(JSON.stringify(conversations)).not.toMatch(SECRET);
  if (rule.fault.kind === 'status' || rule.fault.kind === '429') {
    expect(conversations.filter(({ repeats }) => repeats > 0)).toEqual([]);
  }
});

test('sends single conversations to a platform without batches', async () => {
  await open({ features: { conversationLists: false } });
  edit(0, 40);
  await until('all of it', hasAll);
  expect((await ingestion.status()).sources[0]?.deadLetters).toBe(0);
});

test.each([
  ['refused', { features: { ingestionByUsers: false } }, { features: { ingestionByUsers: true } }],
  ['unsupported', { features: { conversations: false } }, { features: { conversations: true } }],
] as const)(
  '%s ingestion is reported, fills the outbox to its limit, and resumes when accepted',
  async (kind, before, after) => {
    await open(before);
    edit(0, 90);
    await until('the bound', async () => (await ingestion.status()).outbox.isFull);
    await until('the first answer', () => ingestion.sender?.state.kind === kind);
    expect(ingestion.sender?.state).toMatchObject({ kind, reason: expect.any(String) });
    expect(contents().size).toBe(0);
    emulator.setFeatures(after.features);
    ingestion.sender?.resume();
    await until('all of it', hasAll);
    expect(kept().filter(({ received }) => received !== 1)).toEqual([]);
  },
);
