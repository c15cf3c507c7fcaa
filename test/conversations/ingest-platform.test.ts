import { afterEach, expect, test } from 'vitest';
import type { Ingestion } from '../../src/conversations/ingestion.ts';
import type { ConversationEvents } from '../../src/conversations/model/source.ts';
import { type Emulator, type EmulatorOptions, type FaultRule, startEmulator } from '../../src/emulator/emulator.ts';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { openWriter } from '../../src/platform/client.ts';
import { openConnection } from '../../src/platform/connection.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { createFastClock } from '../support/fast-clock.ts';
import { createIngestion, Helpdesk, SECRET } from '../support/helpdesk.ts';
import { eventually } from '../support/octavo-process.ts';

/*
 * Over sockets, to the embedded platform: its own rules and its own faults. On one without conversations, a site accepts
 * them as its context records.
 */

const FASTER = 100;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) {
    await end();
  }
});

interface Opened {
  readonly emulator: Emulator;
  /** Site that receives conversations on a platform without them. */
  readonly site: string;
  readonly desk: Helpdesk;
  readonly ingestion: Ingestion;
  /** Reported destinations of conversations. */
  readonly reportedEvents: string[];
}

/**
 * An emulator with a site, and the setup of `octavo` to send a helpdesk's tickets there; `site` null: none is
 * configured.
 */
async function open(options: EmulatorOptions, over: { site?: string | null; bytes?: number } = {}): Promise<Opened> {
  const emulator = await startEmulator({ ...options, faults: [] });
  const id = await createSite(emulator);
  emulator.requests.reset();
  emulator.setFaults(options.faults ?? []);
  const clock = createFastClock(Date.now(), FASTER);
  const random = () => 0.5;
  const { url: baseUrl, token } = emulator;
  const connection = openConnection({
    ...{ baseUrl, token, userAgent: 'octavo/0', concurrency: 4, clock, random },
  });
  const desk = new Helpdesk();
  const reportedEvents: string[] = [];
  const events: ConversationEvents = {
    onDestination: ({ kind, site }) => reportedEvents.push(`${kind} ${site === id ? 'of the site' : site}`),
  };
  const { site = id, bytes = 1e6 } = over;
  const ingestion = createIngestion({
    sources: [{ name: 'desk', polling: desk.source(), webhook: null, every: 10_000, since: 1e15 }],
    outbox: openMemoryStore().outbox('org', { items: 40, bytes: 1e6 }),
    writer: openWriter(connection, { organization: emulator.organization, priority: 'ingestion' }),
    site: site === null ? null : async () => site,
    batch: { maxConversations: 10, maxBytes: bytes },
    clock,
    events,
  });
  ends.push(
    () => emulator.close(),
    () => connection.close(0),
    () => ingestion.stop(1000 * FASTER),
  );
  ingestion.start();
  return { emulator, site: id, desk, ingestion, reportedEvents };
}

function edit(desk: Helpdesk, from: number, to: number, state: 'solved' | 'open' = 'solved'): void {
  for (let id = from; id < to; id += 1) {
    desk.edit(`${id}`, state, 0);
  }
}
const all = ({ emulator }: Opened) => emulator.state().conversations ?? [];
const records = (opened: Opened) => all(opened).filter(({ site }) => site === opened.site);
const hasAll = (opened: Opened) => {
  const bodies = new Map(
    all(opened).map(({ externalId, site, content }) => {
      const body = content.parts[0]?.body ?? '';
      return [externalId, site === opened.site ? body.replace('**Customer:**\n\n', '') : body];
    }),
  );
  return [...opened.desk.expected()].every(([id, words]) => bodies.get(id) === words);
};
const until = (what: string, look: () => boolean | Promise<boolean>) => eventually(what, look, 60);
const isDrained = async ({ ingestion }: Opened) => (await ingestion.status()).outbox.stored.items === 0;

const FAULTS: Readonly<Record<string, FaultRule>> = {
  'a reset before the request': { rate: 0.3, fault: { kind: 'reset-before' } },
  'a reset after the request': { rate: 0.3, fault: { kind: 'reset-after' } },
  'a truncated response': { rate: 0.3, fault: { kind: 'truncate' } },
  'a 503': { rate: 0.3, fault: { kind: 'status', status: 503 } },
  'a 429': { rate: 0.5, fault: { kind: '429', retryAfter: 1 } },
};

test.each([
  ...Object.keys(FAULTS).map((fault) => ['0.146', fault] as const),
  ['0.167', 'a reset after the request'],
  ['0.181', 'a 503'],
  ['0.201', 'a 429'],
] as const)('%s receives the latest version of every ticket despite %s', async (platform, fault) => {
  const opened = await open({ platform, faults: [FAULTS[fault] as FaultRule] });
  const { desk } = opened;
  edit(desk, 0, 60);
  await until('the first', () => all(opened).length > 20);
  edit(desk, 10, 30);
  edit(desk, 0, 5, 'open');
  await until('all of it', () => hasAll(opened));
  await until('rest', () => isDrained(opened));
  expect(JSON.stringify(all(opened))).not.toMatch(SECRET);
  if (fault === 'a 503' || fault === 'a 429') {
    expect(all(opened).filter(({ repeats }) => repeats > 0)).toEqual([]);
  }
});

test('a platform without batches receives single conversations', async () => {
  const opened = await open({ features: { conversationLists: false } }, { site: null });
  edit(opened.desk, 0, 40);
  await until('all of it', () => hasAll(opened));
  expect((await opened.ingestion.status()).sources[0]?.deadLetters).toBe(0);
});

test.each([
  ['refused', { ingestionByUsers: false }, { ingestionByUsers: true }, /./],
  ['unsupported', { conversations: false }, { conversations: true }, /name the site in conversations\.site/],
] as const)(
  '%s ingestion is reported, fills the outbox to its limit, and resumes when accepted',
  async (kind, before, after, reason) => {
    const opened = await open({ features: before }, { site: null });
    const { emulator, desk, ingestion } = opened;
    edit(desk, 0, 90);
    await until('the bound', async () => (await ingestion.status()).outbox.isFull);
    await until('the first answer', () => ingestion.sender?.state.kind === kind);
    expect(ingestion.sender?.state).toMatchObject({ kind, reason: expect.stringMatching(reason) });
    expect(all(opened)).toEqual([]);
    emulator.setFeatures(after);
    ingestion.sender?.resume();
    await until('all of it', () => hasAll(opened));
    expect(all(opened).filter(({ received }) => received !== 1)).toEqual([]);
  },
);

test('sends one probe and full batches, and nothing unchanged again', async () => {
  const opened = await open({ platform: '0.167' });
  const { emulator, desk, ingestion, reportedEvents } = opened;
  edit(desk, 0, 20);
  await until('all of it', async () => hasAll(opened) && (await isDrained(opened)));
  expect(reportedEvents).toEqual(['context-records of the site']);
  expect(emulator.requests.count('listConversationClusters')).toBe(1);
  expect(emulator.requests.count('ingestConversations')).toBe(0);
  const puts = emulator.requests.count('putContextRecords');
  expect(puts).toBeLessThan(10);
  expect(emulator.requests.total).toBe(puts + 1);
  // The same tickets, received again.
  await ingestion.resync('desk', 0);
  await until('all are found again', async () => (await ingestion.status()).sources[0]?.counts.unchanged === 20);
  await until('rest', () => isDrained(opened));
  expect(emulator.requests.total).toBe(puts + 1);
  expect(records(opened).filter(({ received }) => received !== 1)).toEqual([]);
});

test('sends later content to the site after an upgrade of the platform, and nothing twice', async () => {
  const opened = await open({});
  const { emulator, desk, reportedEvents } = opened;
  edit(desk, 0, 10);
  await until('the first', () => isDrained(opened).then((is) => is && all(opened).length === 10));
  emulator.setFeatures(getFeatures('0.167'));
  edit(desk, 10, 20);
  await until('the others', () => records(opened).length === 10);
  expect(reportedEvents).toEqual(['conversations null', 'context-records of the site']);
  expect(emulator.requests.count('listConversationClusters')).toBe(2);
  expect(all(opened).every(({ received }) => received === 1)).toBe(true);
});

test('keeps everything in the outbox with a warning if the site does not exist', async () => {
  const opened = await open({ platform: '0.167' }, { site: 'site_none' });
  const { emulator, desk, ingestion } = opened;
  edit(desk, 0, 60);
  await until('the bound', async () => (await ingestion.status()).outbox.isFull);
  await until('an answer', () => ingestion.sender?.state.kind === 'unsupported');
  const reason = expect.stringMatching(/the site site_none has no context records; check conversations.site/);
  expect(ingestion.sender?.state).toMatchObject({ kind: 'unsupported', reason });
  // A platform that has conversations again, or that was only reported not to have any.
  emulator.setFeatures(getFeatures('0.146'));
  ingestion.sender?.resume();
  await until('all of it', () => hasAll(opened));
});

async function createSite(emulator: Emulator): Promise<string> {
  const created = await fetch(`${emulator.url}/v1/orgs/${emulator.organization}/sites`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${emulator.token}`, 'Content-Type': 'application/json' },
    body: '{"title":"Docs"}',
  });
  return ((await created.json()) as { id: string }).id;
}
