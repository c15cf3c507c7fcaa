import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ConversationRequest, handleConversationRequest } from '../../src/conversations/control-api.ts';
import type { Ingestion } from '../../src/conversations/ingestion.ts';
import { createLogger } from '../../src/log.ts';
import { logConversations } from '../../src/server/event-logs.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Outbox } from '../../src/store/outbox/outbox.ts';
import { createIngestion } from '../support/helpdesk.ts';

let folder: string;
let outbox: Outbox;
let ingestion: Ingestion;
let warnings: Record<string, unknown>[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-desk-'));
  outbox = openMemoryStore().outbox('org_1', { items: 10_000, bytes: 1e8 });
  warnings = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      warnings.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const clock = { now: () => 1000, monotonic: () => 0, sleep: () => Promise.resolve() };
  ingestion = createIngestion({
    outbox,
    clock,
    events: logConversations(createLogger({ level: 'warn', format: 'json', secrets: [], destination })),
  });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ask = (question: ConversationRequest) =>
  handleConversationRequest({ ingestion, outbox, sources: [], signal: new AbortController().signal }, question);
const push = (name: string, lines: readonly string[]) => {
  const file = join(folder, name);
  writeFileSync(file, lines.join('\n'));
  return ask({ subcommand: 'push', files: [file], account: 'push' });
};

test('logs a few lines for a pushed file with invalid records, and lists all of them in its reject file', async () => {
  const answer = await push('broken.ndjson', Array(500).fill('{'));
  expect(answer).toMatchObject({
    files: [{ rejected: 500, rejectFile: join(folder, 'broken.ndjson.rejects.ndjson') }],
    sender: { kind: 'none' },
  });
  expect(warnings).toHaveLength(6);
  expect(warnings.at(-1)).toMatchObject({
    ...{ msg: 'more records rejected', source: 'push', records: 495 },
    rejectFiles: ['broken.ndjson.rejects.ndjson'],
  });
  expect((await ingestion.status()).sources[0]?.counts).toMatchObject({ rejected: 500 });
});

/** This number of dead letters, from a pushed file. */
async function bury(count: number): Promise<void> {
  const record = (id: number) => JSON.stringify({ id: String(id), parts: [{ role: 'user', body: 'x' }] });
  await push(
    'good.ndjson',
    Array.from({ length: count }, (_, id) => record(id)),
  );
  for (let index = 0; index < count; index += 1) {
    const batch = await outbox.next({ items: 1, bytes: 1e6, open: 1 }, 1000);
    await outbox.bury(batch?.id ?? -1, 'No', 1000);
  }
}

test('lists a thousand dead letters by default, with the number of others', async () => {
  await bury(1003);
  const listed = async (over: { limit?: number; source?: string } = {}) => {
    const { deadLetters, more } = await ask({ subcommand: 'dead list', ...over });
    return [(deadLetters as unknown[]).length, more];
  };
  expect(await listed()).toEqual([1000, 3]);
  expect(await listed({ limit: 1003 })).toEqual([1003, 0]);
  expect(await listed({ limit: 2, source: 'push' })).toEqual([2, 1001]);
  expect(await listed({ source: 'other' })).toEqual([0, 0]);
});
