/** Webhooks of conversations and of repositories, with receivers of the test. Those of each source: hook-sources.test.ts. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WebhookAnswer } from '../../src/conversations/ingestion.ts';
import { systemClock } from '../../src/core/clock.ts';
import { StoreError } from '../../src/core/errors.ts';
import type { PushAnswer } from '../../src/reconcile/push-receiver.ts';
import { addHooks, MAX_HOOK_SIZE, pushHookPath } from '../../src/server/hooks.ts';
import { createServer, type Server } from '../../src/server/server.ts';

const SOURCE = '/hooks/org_1/desk';
const REPOSITORY = pushHookPath('org/1');

let server: Server;
let received: Uint8Array[];
let outcomes: string[];
let deliver: () => Promise<WebhookAnswer>;
let receive: () => Promise<PushAnswer>;

beforeEach(() => {
  [received, outcomes] = [[], []];
  deliver = async () => ({ status: 202, reason: null });
  receive = async () => ({ status: 202, outcome: 'accepted', reason: null });
  const registry = { contentType: 'text/plain', metrics: async () => '' };
  server = createServer({ registry, ready: () => [] });
  const taken = <T>({ body }: { readonly body: Uint8Array }, answer: () => T) => {
    received.push(body);
    return answer();
  };
  addHooks(server.app, {
    receiver: (id) => (id === 'org_1' ? { deliver: (_, request) => taken(request, deliver) } : undefined),
    pushHook: (id) => (id === 'org/1' ? { receive: (request) => taken(request, receive) } : undefined),
    clock: systemClock,
    onOutcome: (organization, source, outcome) => outcomes.push(`${organization}/${source} ${outcome}`),
    onPush: (organization, outcome) => outcomes.push(`${organization} ${outcome}`),
  });
});
afterEach(() => server.close());

async function post(url: string, payload: Buffer | string = '{}') {
  const headers = { 'content-type': 'application/json' };
  const {
    statusCode: status,
    body,
    headers: answered,
  } = await server.app.inject({ method: 'POST', url, headers, payload });
  return { status, body, retryAfter: answered['retry-after'] };
}

test.each([
  [SOURCE, '{"kept":true}', 'org_1/desk kept'],
  [REPOSITORY, '{"outcome":"accepted"}', 'org/1 accepted'],
])('%s passes the received bytes on unchanged', async (url, body, outcome) => {
  const bytes = Buffer.from([0x7b, 0xff, 0x0d, 0x0a, 0x7d]);
  expect(await post(url, bytes)).toMatchObject({ status: 202, body });
  expect(received).toEqual([bytes]);
  expect(outcomes).toEqual([outcome]);
});

test.each([SOURCE, REPOSITORY])('%s refuses a body of more than 5 MB, and reads none of it', async (url) => {
  expect((await post(url, 'x'.repeat(MAX_HOOK_SIZE + 1))).status).toBe(413);
  expect(received).toEqual([]);
});

test('a refusal has its reason, and is counted unless there is no such webhook', async () => {
  deliver = async () => ({ status: 401, reason: 'the signature is wrong' });
  receive = async () => ({ status: 401, outcome: 'refused', reason: 'the signature is wrong' });
  for (const url of [SOURCE, REPOSITORY]) {
    expect(await post(url)).toMatchObject({ status: 401, body: '{"error":"the signature is wrong"}' });
  }
  expect(outcomes).toEqual(['org_1/desk refused', 'org/1 refused']);
  deliver = async () => ({ status: 404, reason: 'no such webhook' });
  expect(await post(SOURCE)).toMatchObject({ status: 404, body: '{"error":"no such webhook"}' });
  for (const url of ['/hooks/org_2/desk', pushHookPath('org_2'), '/hooks/org_1/%2e%2e/x']) {
    expect(await post(url)).toMatchObject({ status: 404, body: '{"error":"not found"}' });
  }
  expect(outcomes).toHaveLength(2);
});

test('what cannot be stored is answered with 503 and Retry-After, without details', async () => {
  deliver = async () => ({ status: 503, reason: 'outbox full; retry later' });
  expect(await post(SOURCE)).toMatchObject({ status: 503, retryAfter: '60' });
  deliver = () => Promise.reject(new StoreError('/var/lib/octavo.db: the disk is full'));
  receive = () => Promise.reject(new StoreError('/var/lib/octavo.db: the disk is full'));
  for (const url of [SOURCE, REPOSITORY]) {
    const body = '{"error":"cannot be stored now; retry later"}';
    expect(await post(url)).toEqual({ status: 503, retryAfter: '60', body });
  }
  expect(outcomes).toEqual(['org_1/desk full', 'org_1/desk failed', 'org/1 failed']);
  deliver = () => Promise.reject(new Error('the secret reason'));
  receive = () => Promise.reject(new Error('the secret reason'));
  for (const url of [SOURCE, REPOSITORY]) {
    expect(await post(url)).toMatchObject({ status: 500, body: '{"error":"internal error"}' });
  }
});
