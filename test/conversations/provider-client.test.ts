import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openProviderClient, type ProviderClient } from '../../src/conversations/sources/provider.ts';
import { RejectedError, TransientError } from '../../src/core/errors.ts';
import { readRateHeaders } from '../../src/queue/request.ts';
import { createSocketClock, FakeProvider, type ProviderReply } from '../support/fake-provider.ts';

const TOKEN = 'p-T0ken';

/** Sends the given answers in order, and then answers with success. */
class Scripted extends FakeProvider {
  readonly replies: (ProviderReply & { readonly lasting?: boolean })[] = [];

  protected override admit(): ProviderReply {
    return { status: 200 };
  }

  protected override handle(): ProviderReply {
    const next = this.replies[0];
    if (next?.lasting !== true) {
      this.replies.shift();
    }
    return next ?? { status: 200, body: { fine: true } };
  }
}

let clock: ReturnType<typeof createSocketClock>;
let provider: Scripted;
let client: ProviderClient;

beforeEach(async () => {
  clock = createSocketClock(Date.parse('2026-03-01T12:00:00Z'));
  provider = await new Scripted(clock).listen();
  client = openProviderClient(
    { userAgent: 'octavo/0', concurrency: 3, clock, random: () => 0.5 },
    {
      label: 'Helpdesk',
      baseUrl: `${provider.url}/prefix/`,
      headers: async () => ({ authorization: `Bearer ${TOKEN}` }),
      rate: readRateHeaders,
      isRefusal: (status, headers) => status === 403 && headers['x-ratelimit-remaining'] === '0',
    },
  );
});

afterEach(async () => {
  await clock.run(client.close());
  await provider[Symbol.asyncDispose]();
  clock[Symbol.dispose]();
});

function ask(more: Partial<Parameters<ProviderClient['request']>[0]> = {}) {
  const signal = new AbortController().signal;
  return clock.run(client.request({ name: 'list things', path: '/things?page=1', signal, ...more }));
}

const failure = (more?: Parameters<typeof ask>[0]) =>
  ask(more).then(
    () => expect.unreachable(),
    (error: unknown) => error as Error,
  );

describe('the client of a provider', () => {
  test('sends the common headers, below the path of the base URL', async () => {
    expect(await ask({ headers: { 'x-own': '1' } })).toMatchObject({ status: 200, body: { fine: true } });
    const [seen] = provider.requests;
    expect(seen).toMatchObject({ method: 'GET', path: '/prefix/things', body: null });
    expect(seen?.headers).toMatchObject({
      accept: 'application/json',
      authorization: `Bearer ${TOKEN}`,
      'user-agent': 'octavo/0',
      'x-own': '1',
    });
    expect(seen?.headers['content-type']).toBeUndefined();
  });

  test('sends a body as JSON', async () => {
    await ask({ method: 'POST', body: { query: 'é' } });
    expect(provider.requests[0]).toMatchObject({ method: 'POST', body: { query: 'é' } });
    expect(provider.requests[0]?.headers['content-type']).toBe('application/json');
  });

  test('returns accepted statuses', async () => {
    provider.replies.push({ status: 404, body: { error: 'gone' } });
    expect(await ask({ accepts: [404] })).toMatchObject({ status: 404, body: { error: 'gone' } });
  });

  test.each([301, 400, 404, 410, 422])('reports %i as an error of the request', async (status) => {
    provider.replies.push({ status, lasting: true });
    expect(await failure()).toBeInstanceOf(RejectedError);
    expect(provider.requests).toHaveLength(1);
  });

  test.each([408, 409, 500, 502, 503, 504])('retries a temporary %i, and fails after a lasting one', async (status) => {
    provider.replies.push({ status }, { status });
    expect(await ask()).toMatchObject({ status: 200 });
    provider.replies.push({ status, lasting: true });
    expect(await failure()).toBeInstanceOf(TransientError);
    expect(provider.requests.length).toBe(3 + 5);
  });

  test.each([
    [1, { 'retry-after': '93' }, 93_000],
    [6, {}, 10_000],
  ])('waits after %i answers of 429 with %j', async (count, headers, least) => {
    provider.replies.push(...Array.from({ length: count }, () => ({ status: 429, headers })));
    const before = clock.now();
    expect(await ask()).toMatchObject({ status: 200 });
    expect(clock.now() - before).toBeGreaterThanOrEqual(least);
    expect(provider.requests).toHaveLength(count + 1);
  });

  test('recognizes a rate limit that the provider defines', async () => {
    provider.replies.push({ status: 403, headers: { 'x-ratelimit-remaining': '0', 'retry-after': '5' } });
    expect(await ask()).toMatchObject({ status: 200 });
    expect(provider.requests).toHaveLength(2);
  });

  test('stops when the signal aborts, and sends nothing more', async () => {
    const stop = new AbortController();
    provider.replies.push({ status: 429, headers: { 'retry-after': '600' } });
    const asked = client.request({ name: 'list things', path: '/things', signal: stop.signal });
    const outcome = asked.catch((error: unknown) => error);
    await clock.advance(1000);
    stop.abort();
    expect(await clock.run(outcome)).toMatchObject({ code: 'cancelled' });
    await clock.advance(1_000_000);
    expect(provider.requests).toHaveLength(1);
  });

  test('quotes no token, path or body in errors', async () => {
    const texts: string[] = [];
    for (const status of [401, 403, 404, 422, 500]) {
      provider.replies.push(...Array.from({ length: 5 }, () => ({ status, body: { echo: `cora@customer.example` } })));
      const error = await failure({ path: '/things?email=cora%40customer.example' });
      texts.push(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`);
      provider.replies.length = 0;
    }
    provider.fault = () => 'dropped';
    const error = await failure({ path: '/things?email=cora%40customer.example' });
    texts.push(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`);
    expect(texts.join()).toContain('Helpdesk: list things');
    expect(texts.join()).not.toMatch(/T0ken|cora/);
  });
});
