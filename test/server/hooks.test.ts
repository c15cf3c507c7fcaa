import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Heard, Webhook } from '../../src/conversations/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { StoreError } from '../../src/core/errors.ts';
import { addHooks, type HeardGood, hookPath, LARGEST_HOOK } from '../../src/server/hooks.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createServer, type Server } from '../../src/server/server.ts';

/** Signs the bytes themselves, as providers do. */
const webhook: Webhook = {
  name: 'desk',
  hear({ headers, body }): Heard {
    if (headers['content-type'] !== 'application/json') {
      return { kind: 'refused', status: 415, reason: 'needs JSON' };
    }
    if (headers['x-signature'] !== sign(body)) {
      return { kind: 'refused', status: 401, reason: 'the signature is not right' };
    }
    return { kind: 'hints', delivery: String(headers['x-delivery'] ?? ''), ids: [Buffer.from(body).toString()] };
  },
};
const sign = (body: string | Uint8Array) => createHmac('sha256', 'key').update(body).digest('hex');

let server: Server;
let kept: HeardGood[];
let outcomes: string[];
let keep: () => Promise<'kept' | 'known' | 'full'>;

beforeEach(() => {
  kept = [];
  outcomes = [];
  keep = async () => 'kept';
  const { registry } = createMetrics();
  server = createServer({ registry, health: () => [], ready: () => [], slowest: 40 });
  addHooks(server.app, {
    hooks: [{ organization: 'org_1', webhook, keep: (heard) => keep().finally(() => kept.push(heard)) }],
    clock: systemClock,
    onOutcome: (organization, source, outcome) => outcomes.push(`${organization}/${source} ${outcome}`),
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
  test('hands on the bytes as they came in', async () => {
    const body = '{ "a":  1 }\r\n';
    expect(await post(body)).toMatchObject({ status: 200, text: '{"outcome":"kept"}' });
    expect(kept).toMatchObject([{ ids: [body] }]);
    expect(outcomes).toEqual(['org_1/desk kept']);
  });

  test.each<[string, Record<string, string>, string | undefined, number]>([
    ['a bad signature', { 'x-signature': 'no' }, undefined, 401],
    ['another content type', { 'content-type': 'text/plain' }, undefined, 415],
    ['a source that is not there', {}, hookPath('org_1', 'other'), 404],
    ['an organization that is not there', {}, hookPath('org_2', 'desk'), 404],
    ['a path that is none', {}, '/hooks/org_1/%2e%2e', 404],
  ])('refuses %s, and keeps nothing', async (_name, headers, url, status) => {
    expect((await post('{}', headers, url)).status).toBe(status);
    expect(kept).toEqual([]);
  });

  test('refuses what is too large before it is checked', async () => {
    expect((await post('x'.repeat(LARGEST_HOOK + 1))).status).toBe(413);
    expect(kept).toEqual([]);
  });

  test('answers only after it is durable', async () => {
    let durable = () => {};
    const begun = new Promise<void>((isBegun) => {
      keep = () =>
        new Promise((resolve) => {
          durable = () => resolve('kept');
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
    expect((await answer).status).toBe(200);
  });

  test('is asked to come again where there is no room, or the state cannot be written', async () => {
    keep = async () => 'full';
    expect(await post('{}')).toMatchObject({ status: 503, answered: { 'retry-after': '60' } });
    keep = () => Promise.reject(new StoreError('/var/lib/octavo.db: the disk is full'));
    const failed = await post('{}');
    expect(failed).toMatchObject({ status: 503, answered: { 'retry-after': '60' } });
    expect(failed.text).not.toContain('octavo.db');
    expect(outcomes).toEqual(['org_1/desk full', 'org_1/desk failed']);
  });

  test('a repetition is answered as if it were new, and said to be known', async () => {
    keep = async () => 'known';
    expect(await post('{}')).toMatchObject({ status: 200, text: '{"outcome":"known"}' });
  });

  test('a mistake of ours is not shown', async () => {
    keep = () => Promise.reject(new Error('the secret reason'));
    expect(await post('{}')).toMatchObject({ status: 500, text: '{"error":"internal error"}' });
  });

  test('a body that never ends is given up', async () => {
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
