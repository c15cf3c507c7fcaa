import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Webhook as Signer } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { conversationsSchema } from '../../src/config/conversations.ts';
import { Ingestion } from '../../src/conversations/ingestion.ts';
import { openSources } from '../../src/conversations/open-sources.ts';
import { createIdPseudonymizer } from '../../src/conversations/private-ids.ts';
import { createConversationRedactor } from '../../src/conversations/redact/redactor.ts';
import { addHooks, hookPath, MAX_HOOK_SIZE } from '../../src/server/hooks.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createServer, type Server } from '../../src/server/server.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { Store } from '../../src/store/store.ts';

/* Every kind of webhook, from the request to the state file: rejected deliveries leave nothing there. */

const AT = Date.parse('2026-03-01T12:00:00Z');
const KEY = Buffer.from('a key for the tests of webhooks!').toString('base64');
const SECRET = 'a secret of the tests';

type Headers = Record<string, string>;

interface Kind {
  readonly body: string;
  /** Timestamp that a sender adds to a body. */
  sign(body: string, at: number): Headers;
  /** Location of the signature. */
  readonly signature: string;
  readonly hasTimestamp: boolean;
  /** True if a delivery has an id of its own; a hint without one is the same hint again. */
  readonly hasDelivery: boolean;
}

const hmac = (algorithm: string, text: string, encoding: 'hex' | 'base64') =>
  createHmac(algorithm, SECRET).update(text).digest(encoding);

const KINDS: Readonly<Record<string, Kind>> = {
  zendesk: {
    body: JSON.stringify({ type: 'zen:event-type:ticket.status_changed', detail: { id: '35436' } }),
    sign: (body, at) => {
      const timestamp = new Date(at).toISOString();
      return {
        'x-zendesk-webhook-signature-timestamp': timestamp,
        'x-zendesk-webhook-signature': hmac('sha256', timestamp + body, 'base64'),
        'x-zendesk-webhook-invocation-id': '01HX',
      };
    },
    signature: 'x-zendesk-webhook-signature',
    hasTimestamp: true,
    hasDelivery: true,
  },
  intercom: {
    body: JSON.stringify({
      topic: 'conversation.admin.closed',
      id: 'notif_1',
      data: { item: { type: 'conversation', id: '7' } },
    }),
    sign: (body) => ({ 'x-hub-signature': `sha1=${hmac('sha1', body, 'hex')}` }),
    signature: 'x-hub-signature',
    hasTimestamp: false,
    hasDelivery: true,
  },
  freshdesk: {
    body: JSON.stringify({ freshdesk_webhook: { ticket_id: 42 } }),
    sign: () => ({ 'x-octavo-secret': SECRET }),
    signature: 'x-octavo-secret',
    hasTimestamp: false,
    hasDelivery: false,
  },
  github: {
    body: JSON.stringify({ repository: { full_name: 'acme/product' }, issue: { node_id: 'I_kwDO1', number: 5 } }),
    sign: (body) => ({
      'x-hub-signature-256': `sha256=${hmac('sha256', body, 'hex')}`,
      'x-github-event': 'issues',
      'x-github-delivery': '72d3162e',
    }),
    signature: 'x-hub-signature-256',
    hasTimestamp: false,
    hasDelivery: true,
  },
  forms: {
    body: JSON.stringify({ id: '9', parts: [{ type: 'message', role: 'user', body: 'How do I export?' }] }),
    sign: (body, at) => ({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(at / 1000),
      'webhook-signature': new Signer(KEY).sign('msg_1', new Date(at), body),
    }),
    signature: 'webhook-signature',
    hasTimestamp: true,
    hasDelivery: true,
  },
};

const config = conversationsSchema().parse({
  sources: [
    { name: 'zendesk', zendesk: { subdomain: 'acme', token: 'zd-token', webhookSecret: SECRET } },
    { name: 'intercom', intercom: { appId: 'abc', token: 'ic-token', clientSecret: SECRET } },
    { name: 'freshdesk', freshdesk: { domain: 'acme', token: 'fd-token', webhookSecret: SECRET } },
    { name: 'github', github: { repositories: ['acme/product'], token: 'gh-token', webhookSecret: SECRET } },
    { name: 'forms', webhook: { secrets: [`whsec_${KEY}`] } },
  ],
});

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
  const gated =
    <A extends unknown[], T>(work: (...given: A) => Promise<T>) =>
    async (...given: A) => {
      const result = await work(...given);
      await gate;
      return result;
    };
  const dependencies = { userAgent: 'octavo/0', clock, random: () => 0, note: (topic: string) => store.note(topic) };
  ingestion = new Ingestion({
    sources: openSources(config, dependencies),
    outbox: { ...real, hint: gated(real.hint), put: gated(real.put) },
    redactor: createConversationRedactor({}, createIdPseudonymizer(Buffer.from('key'))),
    writer: null,
    settleDelay: 0,
    batch: { maxConversations: 1, maxBytes: 1e6 },
    clock,
    random: () => 0,
    events: {},
  });
  const { registry } = createMetrics();
  server = createServer({ registry, health: () => [], ready: () => [], slowest: 40 });
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

async function post(name: string, body: string, headers: Headers): Promise<number> {
  const { statusCode } = await server.app.inject({
    method: 'POST',
    url: hookPath('org_1', name),
    headers: { 'content-type': 'application/json', ...headers },
    payload: body,
  });
  return statusCode;
}

describe.each(Object.entries(KINDS))('the webhook of %s', (name, kind) => {
  const { body, signature } = kind;
  const good = kind.sign(body, AT);
  const { [signature]: _, ...unsigned } = good;
  const large = `${body.slice(0, -1)}${' '.repeat(MAX_HOOK_SIZE)}}`;
  const flipped = (text = '') => text.slice(0, -5) + (text.at(-5) === 'a' ? 'b' : 'a') + text.slice(-4);

  test.each<[string, number, string, Headers]>([
    ['no signature', 401, body, unsigned],
    ['an empty signature', 401, body, { ...good, [signature]: '' }],
    ['another signature', 401, body, { ...good, [signature]: flipped(good[signature]) }],
    ['plain text', 415, body, { ...good, 'content-type': 'text/plain' }],
    ['a form', 415, body, { ...good, 'content-type': 'application/x-www-form-urlencoded' }],
    ['a body that is too large with a valid signature', 413, large, kind.sign(large, AT)],
    ['truncated JSON with a valid signature', 400, body.slice(0, -1), kind.sign(body.slice(0, -1), AT)],
    ['an unknown body with a valid signature', 400, '[7', kind.sign('[7', AT)],
  ])('refuses %s with %i, and stores nothing', async (_what, status, text, headers) => {
    const before = stored();
    expect(await post(name, text, headers)).toBe(status);
    expect(stored()).toEqual(before);
  });

  // Freshdesk signs nothing: its requests contain a secret and a number, and only that ticket is fetched.
  test.skipIf(name === 'freshdesk')('refuses a modified body, and stores nothing', async () => {
    const before = stored();
    expect(await post(name, body.replace(':', ': '), good)).toBe(401);
    expect(await post(name, `${body} `, good)).toBe(401);
    expect(stored()).toEqual(before);
  });

  test.runIf(kind.hasTimestamp)(
    'refuses a timestamp that is too old or too far in the future, and stores nothing',
    async () => {
      const before = stored();
      expect(await post(name, body, kind.sign(body, AT - 301_000))).toBe(401);
      expect(await post(name, body, kind.sign(body, AT + 301_000))).toBe(401);
      expect(stored()).toEqual(before);
      expect(await post(name, body, kind.sign(body, AT - 299_000))).toBe(202);
    },
  );

  test('stores a delivery once, and accepts a repetition without a change', async () => {
    expect(await post(name, body, good)).toBe(202);
    const before = stored();
    expect(await post(name, body, good)).toBe(202);
    const after = stored();
    const waits = ({ content = [], hint = [] }: Record<string, unknown[]>) => [content.length, hint.length];
    expect(waits(after)).toEqual(name === 'forms' ? [1, 0] : [0, 1]);
    if (kind.hasDelivery) {
      expect(after).toEqual(before);
    }
  });

  test('responds only after the delivery is durable', async () => {
    const durable = Promise.withResolvers<void>();
    gate = durable.promise;
    let answered = false;
    const before = stored();
    const answer = post(name, body, good).then((status) => {
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
    const headers = { host: 'x', 'content-type': 'application/json', 'content-length': body.length, ...good };
    const lines = Object.entries(headers).map(([field, value]) => `${field}: ${value}`);
    socket.write([`POST ${hookPath('org_1', name)} HTTP/1.1`, ...lines, '', body.slice(0, -1)].join('\r\n'));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += String(chunk);
    });
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(stored()).toEqual(before);
  });
});
