import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { StoreError } from '../../src/core/errors.ts';
import type { PushAnswer } from '../../src/reconcile/push-receiver.ts';
import { addHooks, MAX_HOOK_SIZE, pushHookPath } from '../../src/server/hooks.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createServer, type Server } from '../../src/server/server.ts';

let server: Server;
let received: Uint8Array[];
let outcomes: string[];
let answer: () => Promise<PushAnswer>;

beforeEach(() => {
  received = [];
  outcomes = [];
  answer = async () => ({ status: 202, outcome: 'accepted', reason: null });
  const { registry } = createMetrics();
  server = createServer({ registry, health: () => [], ready: () => [] });
  const receive = ({ body }: { readonly body: Uint8Array }) => {
    received.push(body);
    return answer();
  };
  addHooks(server.app, {
    receiver: () => undefined,
    pushHook: (id) => (id === 'org/1' ? { receive } : undefined),
    clock: systemClock,
    onOutcome: () => undefined,
    onPush: (organization, outcome) => outcomes.push(`${organization} ${outcome}`),
  });
});
afterEach(() => server.close());

async function post(payload: Buffer | string, url = pushHookPath('org/1')) {
  const headers = { 'content-type': 'application/json' };
  const { statusCode, body, headers: answered } = await server.app.inject({ method: 'POST', url, headers, payload });
  return { status: statusCode, body, retryAfter: answered['retry-after'] };
}

describe('the webhook of a repository', () => {
  test('gets the received bytes', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x7d]);
    expect(await post(bytes)).toMatchObject({ status: 202, body: '{"outcome":"accepted"}' });
    expect(received).toEqual([bytes]);
    expect(outcomes).toEqual(['org/1 accepted']);
  });

  test('answers a refusal with its reason', async () => {
    answer = async () => ({ status: 401, outcome: 'refused', reason: 'the signature is wrong' });
    expect(await post('{}')).toMatchObject({ status: 401, body: '{"error":"the signature is wrong"}' });
    expect(outcomes).toEqual(['org/1 refused']);
  });

  test('refuses a body of more than 5 MB, and reads none of it', async () => {
    expect((await post('x'.repeat(MAX_HOOK_SIZE + 1))).status).toBe(413);
    expect(received).toEqual([]);
  });

  test('answers 503 without details if the state file cannot be written', async () => {
    answer = () => Promise.reject(new StoreError('/var/lib/octavo.db: the disk is full'));
    const failed = await post('{}');
    expect(failed).toMatchObject({ status: 503, retryAfter: '60' });
    expect(failed.body).not.toContain('octavo.db');
    expect(outcomes).toEqual(['org/1 failed']);
  });

  test('is missing for an organization without one', async () => {
    expect(await post('{}', pushHookPath('org_2'))).toMatchObject({ status: 404, body: '{"error":"not found"}' });
    expect(outcomes).toEqual([]);
  });
});
