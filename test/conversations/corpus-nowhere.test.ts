import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConversationEvents, PollingSource } from '../../src/conversations/model/source.ts';
import type { Ticket } from '../../src/conversations/model/ticket.ts';
import { createConversationRedactor } from '../../src/conversations/redact/redactor.ts';
import { systemClock } from '../../src/core/clock.ts';
import { EventBus } from '../../src/core/event-bus.ts';
import { startEmulator } from '../../src/emulator/emulator.ts';
import { createLogger } from '../../src/log.ts';
import { openWriter } from '../../src/platform/client.ts';
import { openConnection } from '../../src/platform/connection.ts';
import { logConversations } from '../../src/server/event-logs.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { createIngestion } from '../support/helpdesk.ts';
import { type Example, readCorpus, ticketOf } from './redact/corpus.ts';

/* The whole pipeline for the corpus: no private value is left in any place on the way. */

const corpus = readCorpus();
const folder = mkdtempSync(join(tmpdir(), 'octavo-corpus-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Shorter values occur in any text. */
const MIN_LENGTH = 7;

/** Values that occur in the corpus only where they are marked: a name that is also an ordinary word proves nothing. */
function values(): readonly string[] {
  const rests = corpus.map(({ text, marks }) =>
    marks.reduceRight((left, { start, end }) => `${left.slice(0, start)}\n${left.slice(end)}`, text),
  );
  const marked = corpus.flatMap(({ text, marks }) => marks.map(({ start, end }) => text.slice(start, end)));
  return [...new Set(marked)].filter(
    (value) => value.length >= MIN_LENGTH && !rests.some((rest) => rest.includes(value)),
  );
}

/** Puts each value into every place of a ticket that may contain text. */
function ticketFor({ id, text, people }: Example): Ticket {
  return {
    ...ticketOf([text, `Once more: ${text}`], people),
    key: `corpus/${id}`,
    subject: text.slice(0, 400),
    attributes: { note: text },
    completeness: { reported: 3, fetched: 2 },
  };
}

const places = { state: '', log: '', metrics: '', platform: '' };
let sent = 0;
let dead = 0;

/** One state file for all sets of options, which are organizations of it. Closed before it is read. */
const store = openSqliteStore(join(folder, 'state.db'));
/** Longer than any backoff, in milliseconds. */
const LONG = 86_400_000;

/** Sends the examples of one set of options, while the platform fails, rejects and loses answers. */
async function send(examples: readonly Example[], index: number): Promise<void> {
  const [first] = examples as [Example];
  const emulator = await startEmulator({
    randomSeed: index,
    processing: { openapi: 0, translation: 0, conversations: 0 },
    faults: [
      { match: { operation: 'ingestConversations' }, rate: 0.4, fault: { kind: 'status', status: 400 } },
      { match: { operation: 'ingestConversations' }, rate: 0.1, fault: { kind: 'reset-after' } },
    ],
  });
  let skipped = 0;
  const clock = {
    now: () => systemClock.now() + skipped,
    monotonic: () => systemClock.monotonic() + skipped,
    sleep: () => new Promise<void>((resolve) => void setImmediate(resolve)),
  };
  const connection = openConnection({
    baseUrl: emulator.url,
    token: emulator.token,
    userAgent: 'octavo/0',
    concurrency: 2,
    clock: systemClock,
    random: () => 0.5,
  });
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      places.log += String(chunk);
      done();
    },
  });
  const log = createLogger({ level: 'trace', format: 'json', secrets: new Set(), destination });
  const metrics = createMetrics();
  const organization = `org-${index}`;
  const polling: PollingSource = {
    name: 'corpus',
    async *poll() {
      yield { found: examples.map((example) => ({ kind: 'ticket', ticket: ticketFor(example) })), cursor: 'end' };
    },
    fetch: () => Promise.reject(new Error('nothing is fetched here')),
    close: async () => {},
  };
  const events = new EventBus<ConversationEvents>();
  events.subscribe(logConversations(log));
  events.subscribe(metrics.conversations.events(organization));
  const ingestion = createIngestion({
    sources: [{ name: 'corpus', polling, webhook: null, every: 1e9, since: 1e9 }],
    outbox: store.outbox(organization, { items: 1e6, bytes: 1e9 }),
    redactor: createConversationRedactor(first.options),
    writer: openWriter(connection, { organization: emulator.organization, priority: 'ingestion' }),
    batch: { maxConversations: 5, maxBytes: 1e6 },
    clock,
    events: events.publish,
  });
  const failed = await ingestion.pollOnce(new AbortController().signal);
  expect([...failed]).toEqual([]);
  for (let left = 1; left > 0; ) {
    await ingestion.sender?.sendDue();
    skipped += LONG;
    const { sources } = await ingestion.status();
    left = sources.reduce((sum, source) => sum + source.waiting + source.sending, 0);
  }
  const status = await ingestion.status();
  metrics.conversations.status(organization, status);
  dead += status.sources.reduce((sum, source) => sum + source.deadLetters, 0);
  const { conversations = [], conversationIssues, issuesClusters } = emulator.state();
  sent += conversations.length;
  places.metrics += await metrics.registry.metrics();
  // The sender is part of the source, and is not a person of the corpus.
  const contents = conversations.map(({ externalId, content }) => ({ externalId, content }));
  places.platform += JSON.stringify([contents, conversationIssues, issuesClusters]);
  places.log += JSON.stringify(status);
  await ingestion.stop(1000);
  await connection.close(0);
  await emulator.close();
}

beforeAll(async () => {
  const byOptions = Map.groupBy(corpus, ({ options }) => JSON.stringify(options));
  for (const [index, examples] of [...byOptions.values()].entries()) {
    await send(examples, index);
  }
  await store.close();
  places.state = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('');
}, 120_000);

test('ingests the whole corpus', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(300);
  expect(values().length).toBeGreaterThanOrEqual(200);
  // A conversation that was accepted before its answer was lost, and rejected later, counts as both.
  expect(sent + dead).toBeGreaterThanOrEqual(corpus.length);
  expect(dead).toBeGreaterThan(0);
  expect(places.log).toContain('refused by the platform; kept as a dead letter');
  expect(places.log).toContain('"fetched":2');
  expect(places.state).toContain('[EMAIL_1]');
});

describe('private values of the corpus', () => {
  test.each(['state', 'log', 'metrics', 'platform'] as const)('never appear in the %s', (place) => {
    const written = (value: string) =>
      new Set([
        value,
        JSON.stringify(value).slice(1, -1),
        Buffer.from(value, 'utf8').toString('latin1'),
        encodeURIComponent(value),
      ]);
    const found = values().filter((value) =>
      written(value)
        .values()
        .some((each) => places[place].includes(each)),
    );
    expect(found).toEqual([]);
  });
});
