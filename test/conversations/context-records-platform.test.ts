import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { Ingestion } from '../../src/conversations/ingestion.ts';
import type { ConversationEvents } from '../../src/conversations/model/source.ts';
import { type Emulator, type EmulatorOptions, type FaultRule, startEmulator } from '../../src/emulator/emulator.ts';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { openWriter } from '../../src/platform/client.ts';
import { type Connection, openConnection } from '../../src/platform/connection.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { endWithParent } from '../support/end-with-parent.ts';
import { createFastClock } from '../support/fast-clock.ts';
import { Helpdesk, SECRET, testRedactor } from '../support/helpdesk.ts';
import { eventually } from '../support/octavo-process.ts';
import { spawn } from '../support/programs.ts';

/* Over sockets, to an embedded platform without conversations: a site accepts them as its context records. */

const FASTER = 100;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) {
    await end();
  }
});

interface Opened {
  readonly emulator: Emulator;
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
  const connection: Connection = openConnection({
    ...{ baseUrl, token, userAgent: 'octavo/0', concurrency: 4, clock, random },
  });
  const desk = new Helpdesk();
  const reportedEvents: string[] = [];
  const events: ConversationEvents = {
    onDestination: ({ kind, site }) => reportedEvents.push(`${kind} ${site === id ? 'of the site' : site}`),
  };
  const { site = id, bytes = 1e6 } = over;
  const ingestion = new Ingestion({
    sources: [{ name: 'desk', polling: desk.source(), webhook: null, every: 10_000, since: 1e15 }],
    outbox: openMemoryStore().outbox('org', { items: 40, bytes: 1e6 }),
    redactor: testRedactor,
    writer: openWriter(connection, { organization: emulator.organization, priority: 'ingestion' }),
    site: site === null ? null : async () => site,
    settleDelay: 0,
    batch: { maxConversations: 10, maxBytes: bytes },
    clock,
    random,
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
const kept = (emulator: Emulator, site: string) =>
  (emulator.state().conversations ?? []).filter((record) => record.site === site);
const hasAll = ({ emulator, site, desk }: Pick<Opened, 'emulator' | 'site' | 'desk'>) => {
  const bodies = new Map(kept(emulator, site).map((record) => [record.externalId, record.content.parts[0]?.body]));
  return [...desk.expected()].every(([id, words]) => bodies.get(id) === `**Customer:**\n\n${words}`);
};
const until = (what: string, look: () => boolean | Promise<boolean>) => eventually(what, look, 60);
const isDrained = async ({ ingestion }: Opened) => (await ingestion.status()).outbox.stored.items === 0;

const FAULTS: Readonly<Record<string, FaultRule>> = {
  'a reset after the request': { rate: 0.3, fault: { kind: 'reset-after' } },
  'a 503': { rate: 0.3, fault: { kind: 'status', status: 503 } },
  'a 429': { rate: 0.5, fault: { kind: '429', retryAfter: 1 } },
};

test.each([
  ['0.167', 'a reset after the request'],
  ['0.181', 'a 503'],
  ['0.201', 'a 429'],
] as const)('%s receives the latest version of every ticket despite %s', async (platform, fault) => {
  const opened = await open({ platform, faults: [FAULTS[fault] as FaultRule] });
  const { emulator, desk, site } = opened;
  edit(desk, 0, 60);
  await until('the first', () => kept(emulator, site).length > 20);
  edit(desk, 10, 30);
  edit(desk, 0, 5, 'open');
  await until('all of it', () => hasAll(opened));
  await until('rest', () => isDrained(opened));
  expect(JSON.stringify(kept(emulator, site))).not.toMatch(SECRET);
  if (fault !== 'a reset after the request') {
    expect(kept(emulator, site).filter(({ repeats }) => repeats > 0)).toEqual([]);
  }
});

test('sends one probe and full batches, and nothing unchanged again', async () => {
  const opened = await open({ platform: '0.167' });
  const { emulator, desk, site, ingestion, reportedEvents } = opened;
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
  expect(kept(emulator, site).filter(({ received }) => received !== 1)).toEqual([]);
});

test('keeps requests within the configured number of bytes', async () => {
  const opened = await open({ platform: '0.181' }, { bytes: 2000 });
  edit(opened.desk, 0, 30);
  await until('all of it', () => hasAll(opened));
  expect(opened.emulator.requests.count('putContextRecords')).toBeGreaterThan(3);
});

test('sends conversations to a platform that supports them, even if a site is set', async () => {
  const opened = await open({});
  const { emulator, desk, site, reportedEvents } = opened;
  edit(desk, 0, 20);
  await until('all of it', () => (emulator.state().conversations ?? []).length === 20);
  await until('rest', () => isDrained(opened));
  expect(kept(emulator, site)).toEqual([]);
  expect(reportedEvents).toEqual(['conversations null']);
  expect(emulator.requests.count('listConversationClusters')).toBe(1);
});

test('sends later content to the site after an upgrade of the platform, and nothing twice', async () => {
  const opened = await open({});
  const { emulator, desk, site, reportedEvents } = opened;
  edit(desk, 0, 10);
  await until('the first', () => isDrained(opened).then((is) => is && emulator.state().conversations?.length === 10));
  emulator.setFeatures(getFeatures('0.167'));
  edit(desk, 10, 20);
  await until('the others', () => kept(emulator, site).length === 10);
  expect(reportedEvents).toEqual(['conversations null', 'context-records of the site']);
  expect(emulator.requests.count('listConversationClusters')).toBe(2);
  expect(emulator.state().conversations?.every(({ received }) => received === 1)).toBe(true);
});

test.each([
  ['no site is configured', null, /from 0\.167 on, .* name the site in conversations\.site/],
  ['the site does not exist', 'site_none', /the site site_none has no context records; check conversations.site/],
] as const)('keeps everything in the outbox with a warning if %s', async (_, named, reason) => {
  const opened = await open({ platform: '0.167' }, { site: named });
  const { emulator, desk, ingestion } = opened;
  edit(desk, 0, 60);
  await until('the bound', async () => (await ingestion.status()).outbox.isFull);
  await until('an answer', () => ingestion.sender?.state.kind === 'unsupported');
  expect(ingestion.sender?.state).toMatchObject({ kind: 'unsupported', reason: expect.stringMatching(reason) });
  // A platform that has conversations again, or that was only reported not to have any.
  emulator.setFeatures(getFeatures('0.146'));
  ingestion.sender?.resume();
  const ids = () => new Set(emulator.state().conversations?.map(({ externalId }) => externalId));
  await until('all of it', () => [...desk.expected().keys()].every((id) => ids().has(id)));
});

const CHILD = fileURLToPath(new URL('ingest-process.ts', import.meta.url));
const KILLS = 3;

test('a process killed between any two writes sends every ticket, each with at most one repetition per kill', async () => {
  const emulator = await startEmulator({ platform: '0.167', token: 'token', processing: { conversations: 0 } });
  const folder = mkdtempSync(join(tmpdir(), 'octavo-records-'));
  let child: ChildProcess | null = null;
  ends.push(
    () => emulator.close(),
    async () => rmSync(folder, { recursive: true }),
    async () => child?.kill('SIGKILL'),
  );
  const site = await createSite(emulator);
  const [state, log] = [join(folder, 'octavo.db'), join(folder, 'desk.log')];
  const desk = new Helpdesk();
  const epoch = Date.now();
  writeFileSync(log, '');
  const write = (from: number, to: number) => {
    const before = desk.log.length;
    edit(desk, from, to);
    appendFileSync(
      log,
      desk.log
        .slice(before)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    );
  };
  for (let round = 0; round <= KILLS; round += 1) {
    write(round * 4, round * 4 + 8);
    const args = [CHILD, state, log, emulator.url, String(epoch), emulator.organization, site];
    const process = spawn(...endWithParent(globalThis.process.execPath, args), {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child = process;
    let writes = 0;
    for await (const _ of createInterface({ input: process.stdout })) {
      writes += 1;
      if (round < KILLS ? writes >= 2 + 4 * round : hasAll({ emulator, site, desk })) {
        break;
      }
    }
    const ended = once(process, 'exit');
    process.kill('SIGKILL');
    await ended;
  }
  expect(hasAll({ emulator, site, desk })).toBe(true);
  // A kill loses the answers of all batches in flight. Nothing is sent after the last kill.
  expect(kept(emulator, site).filter(({ repeats }) => repeats > KILLS)).toEqual([]);
  expect(JSON.stringify(kept(emulator, site))).not.toMatch(SECRET);
  const files = readdirSync(folder).filter((file) => file.startsWith('octavo.db'));
  expect(files.map((file) => readFileSync(join(folder, file)).toString('latin1')).join('')).not.toMatch(SECRET);
}, 120_000);

async function createSite(emulator: Emulator): Promise<string> {
  const created = await fetch(`${emulator.url}/v1/orgs/${emulator.organization}/sites`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${emulator.token}`, 'Content-Type': 'application/json' },
    body: '{"title":"Docs"}',
  });
  return ((await created.json()) as { id: string }).id;
}
