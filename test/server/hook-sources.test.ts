/** A webhook of conversations, from the request to the state file. Proofs of each source: sources.contract.test.ts. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Webhook as Signer } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { conversationsSchema } from '../../src/config/conversations.ts';
import { Ingestion } from '../../src/conversations/ingestion.ts';
import { openSources } from '../../src/conversations/open-sources.ts';
import { createIdPseudonymizer } from '../../src/conversations/private-ids.ts';
import { createConversationRedactor } from '../../src/conversations/redact/redactor.ts';
import { addHooks } from '../../src/server/hooks.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createServer, type Server } from '../../src/server/server.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { Store } from '../../src/store/store.ts';

const AT = Date.parse('2026-03-01T12:00:00Z');
const KEY = Buffer.from('a key for the tests of webhooks!').toString('base64');
const BODY = JSON.stringify({ id: '9', parts: [{ type: 'message', role: 'user', body: 'How do I export?' }] });

type Headers = Record<string, string>;

const sign = (body: string): Headers => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(AT / 1000),
  'webhook-signature': new Signer(KEY).sign('msg_1', new Date(AT), body),
});

const config = conversationsSchema().parse({ sources: [{ name: 'forms', webhook: { secrets: [`whsec_${KEY}`] } }] });

let folder: string;
let database: DatabaseSync;
let store: Store;
let ingestion: Ingestion;
let server: Server;
/** Delays the answers of the outbox after its work is done. */
let gate: Promise<void>;

const clock = { now: () => AT, monotonic: () => 0, sleep: () => new Promise<void>(() => {}) };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-hooks-'));
  gate = Promise.resolve();
  store = openSqliteStore(join(folder, 'octavo.db'), (open) => {
    database = open;
  });
  const real = store.outbox('org_1', { items: 100, bytes: 1e6 });
  const put: typeof real.put = async (...given) => {
    const result = await real.put(...given);
    await gate;
    return result;
  };
  const dependencies = { userAgent: 'octavo/0', clock, random: () => 0, note: (topic: string) => store.note(topic) };
  ingestion = new Ingestion({
    sources: openSources(config, dependencies),
    outbox: { ...real, put },
    redactor: createConversationRedactor({}, createIdPseudonymizer(Buffer.from('key'))),
    writer: null,
    settleDelay: 0,
    batch: { maxConversations: 1, maxBytes: 1e6 },
    clock,
    random: () => 0,
    events: {},
  });
  const { registry } = createMetrics();
  server = createServer({ registry, ready: () => [], slowest: 40 });
  addHooks(server.app, {
    receiver: (id) => (id === 'org_1' ? ingestion : undefined),
    clock,
    onOutcome: () => undefined,
    pushHook: () => undefined,
    onPush: () => undefined,
  });
});
afterEach(async () => {
  await server.close();
  await ingestion.stop(0);
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Everything in the state file. */
function stored(): Record<string, unknown[]> {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  return Object.fromEntries(tables.map(({ name }) => [name, database.prepare(`SELECT * FROM "${name}"`).all()]));
}

async function post(body: string, headers: Headers): Promise<number> {
  const { statusCode } = await server.app.inject({
    method: 'POST',
    url: '/hooks/org_1/forms',
    headers: { 'content-type': 'application/json', ...headers },
    payload: body,
  });
  return statusCode;
}

test('stores nothing without a valid signature, a delivery once, and no repetition of it', async () => {
  const empty = stored();
  expect(await post(`${BODY} `, sign(BODY))).toBe(401);
  expect(stored()).toEqual(empty);
  expect(await post(BODY, sign(BODY))).toBe(202);
  const before = stored();
  expect(before.content).toHaveLength(1);
  expect(await post(BODY, sign(BODY))).toBe(202);
  expect(stored()).toEqual(before);
});

test('responds only after the delivery is durable', async () => {
  const durable = Promise.withResolvers<void>();
  gate = durable.promise;
  let answered = false;
  const before = stored();
  const answer = post(BODY, sign(BODY)).then((status) => {
    answered = true;
    return status;
  });
  const isStored = () => JSON.stringify(stored()) !== JSON.stringify(before);
  while (!isStored()) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  // Until the outbox has answered.
  for (let turn = 0; turn < 50; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(answered).toBe(false);
  durable.resolve();
  expect(await answer).toBe(202);
});

test('times out on a body that never ends, and stores nothing', async () => {
  const { port, hostname } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }));
  const before = stored();
  const socket = connect(Number(port), hostname);
  const headers = { host: 'x', 'content-type': 'application/json', 'content-length': BODY.length, ...sign(BODY) };
  const lines = Object.entries(headers).map(([field, value]) => `${field}: ${value}`);
  socket.write([`POST /hooks/org_1/forms HTTP/1.1`, ...lines, '', BODY.slice(0, -1)].join('\r\n'));
  let answer = '';
  socket.on('data', (chunk) => {
    answer += String(chunk);
  });
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(stored()).toEqual(before);
});
