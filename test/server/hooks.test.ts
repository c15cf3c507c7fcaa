import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WebhookAnswer } from '../../src/conversations/ingestion.ts';
import { systemClock } from '../../src/core/clock.ts';
import { StoreError } from '../../src/core/errors.ts';
import { addHooks, type HookReceiver, hookPath, MAX_HOOK_SIZE } from '../../src/server/hooks.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createServer, type Server } from '../../src/server/server.ts';

const sign = (body: string | Uint8Array) => createHmac('sha256', 'key').update(body).digest('hex');

let server: Server;
let kept: string[];
let outcomes: string[];
let keep: () => Promise<WebhookAnswer>;

/** Signs the bytes themselves, as providers do. */
const receiver: HookReceiver = {
  async deliver(source, { headers, body }) {
    if (source !== 'desk') {
      return { status: 404, reason: 'no such webhook' };
    }
    if (headers['content-type'] !== 'application/json') {
      return { status: 415, reason: 'needs JSON' };
    }
    if (headers['x-signature'] !== sign(body)) {
      return { status: 401, reason: 'the signature is not right' };
    }
    const answer = await keep();
    kept.push(Buffer.from(body).toString());
    return answer;
  },
};
const KEPT: WebhookAnswer = { status: 202, reason: null };

beforeEach(() => {
  kept = [];
  outcomes = [];
  keep = async () => KEPT;
  const { registry } = createMetrics();
  server = createServer({ registry, health: () => [], ready: () => [], slowest: 40 });
  addHooks(server.app, {
    receiver: (id) => (id === 'org_1' ? receiver : undefined),
    pushHook: () => undefined,
    clock: systemClock,
    onOutcome: (organization, source, outcome) => outcomes.push(`${organization}/${source} ${outcome}`),
    onPush: () => undefined,
  });
});
afterEach(() => server.close());

async function post(body: string, over: Record<string, string> = {}, url = hookPath('org_1', 'desk')) {
  const headers = { 'content-type': 'application/json', 'x-signature': sign(body), ...over };
  const {
    statusCode,
    body: text,
    headers: answered,
  } = await server.app.inject({
    method: 'POST',
    url,
    headers,
    payload: body,
  });
  return { status: statusCode, text, answered };
}

describe('a webhook', () => {
  test('passes the received bytes on unchanged', async () => {
    const body = '{ "a":  1 }\r\n';
    expect(await post(body)).toMatchObject({ status: 202, text: '{"kept":true}' });
    expect(kept).toEqual([body]);
    expect(outcomes).toEqual(['org_1/desk kept']);
  });

  test.each<[string, Record<string, string>, string | undefined, number]>([
    ['a bad signature', { 'x-signature': 'no' }, undefined, 401],
    ['another content type', { 'content-type': 'text/plain' }, undefined, 415],
    ['an unknown source', {}, hookPath('org_1', 'other'), 404],
    ['an unknown organization', {}, hookPath('org_2', 'desk'), 404],
    ['an invalid path', {}, '/hooks/org_1/%2e%2e', 404],
  ])('refuses %s, and stores nothing', async (_name, headers, url, status) => {
    expect((await post('{}', headers, url)).status).toBe(status);
    expect(kept).toEqual([]);
  });

  test('refuses a body that is too large before it checks the signature', async () => {
    expect((await post('x'.repeat(MAX_HOOK_SIZE + 1))).status).toBe(413);
    expect(kept).toEqual([]);
  });

  test('responds only after the delivery is durable', async () => {
    let durable = () => {};
    const begun = new Promise<void>((isBegun) => {
      keep = () =>
        new Promise((resolve) => {
          durable = () => resolve(KEPT);
          isBegun();
        });
    });
    let answered = false;
    const answer = post('{}').then((given) => {
      answered = true;
      return given;
    });
    await begun;
    expect(answered).toBe(false);
    durable();
    expect((await answer).status).toBe(202);
  });

  test('responds 503 with Retry-After if the outbox is full or the state cannot be written', async () => {
    keep = async () => ({ status: 503, reason: 'outbox full; retry later' });
    expect(await post('{}')).toMatchObject({ status: 503, answered: { 'retry-after': '60' } });
    keep = () => Promise.reject(new StoreError('/var/lib/octavo.db: the disk is full'));
    const failed = await post('{}');
    expect(failed).toMatchObject({ status: 503, answered: { 'retry-after': '60' } });
    expect(failed.text).not.toContain('octavo.db');
    expect(outcomes).toEqual(['org_1/desk full', 'org_1/desk failed']);
  });

  test('does not reveal the message of an internal error', async () => {
    keep = () => Promise.reject(new Error('the secret reason'));
    expect(await post('{}')).toMatchObject({ status: 500, text: '{"error":"internal error"}' });
  });

  test('times out on a body that never ends', async () => {
    const { port, hostname } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(port), hostname);
    const head = ['POST /hooks/org_1/desk HTTP/1.1', 'host: x', 'content-type: application/json', 'content-length: 9'];
    socket.write(`${head.join('\r\n')}\r\n\r\n{`);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += String(chunk);
    });
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(kept).toEqual([]);
  });
});
