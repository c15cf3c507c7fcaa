import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readZendeskRate, zendeskWebhook } from '../../src/conversations/sources/zendesk.ts';

const SECRET = 'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmc=';
const AT = '2026-03-01T12:00:00Z';
const RECEIVED = Date.parse(AT) + 2000;
const webhook = zendeskWebhook({ name: 'support', secret: SECRET });
const EVENT = {
  type: 'zen:event-type:ticket.status_changed',
  account_id: 1,
  id: '2b24ef10-19d4-4740-93cf-8f98ec4776c0',
  detail: { id: '35436', status: 'SOLVED' },
  event: { current: 'SOLVED', previous: 'OPEN' },
};

function sign(body: Uint8Array, timestamp = AT, secret = SECRET): string {
  return createHmac('sha256', secret).update(timestamp).update(body).digest('base64');
}

function deliver(content: unknown, headers: Record<string, string | string[] | undefined> = {}, receivedAt = RECEIVED) {
  const body = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
  return webhook.read({
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-zendesk-webhook-signature': sign(body),
      'x-zendesk-webhook-signature-timestamp': AT,
      'x-zendesk-webhook-invocation-id': '01FZJCXS6AVR4JNBW1ZFYSRWB2',
      ...headers,
    },
    body,
    receivedAt,
  });
}

describe('a Zendesk webhook', () => {
  test('returns a hint for its ticket', () => {
    expect(deliver(EVENT)).toEqual({ kind: 'hints', delivery: '01FZJCXS6AVR4JNBW1ZFYSRWB2', ids: ['35436'] });
    expect(deliver({ ...EVENT, detail: { id: 35436 } })).toMatchObject({ ids: ['35436'] });
  });

  test('is signed over timestamp and body, in that order, with the characters of the secret', () => {
    // Calculated independently of this program: openssl dgst -sha256 -hmac "$secret" -binary | base64.
    const body = Buffer.from('{"type":"zen:event-type:ticket.created","detail":{"id":"1"}}');
    const signature = 'Lsl0HpkypDjsUwgSLm0n3bbilmW1Rpozm5MFXLtU0D0=';
    expect(deliver(body, { 'x-zendesk-webhook-signature': signature })).toMatchObject({ kind: 'hints', ids: ['1'] });
    const swapped = createHmac('sha256', SECRET).update(body).update(AT).digest('base64');
    expect(deliver(body, { 'x-zendesk-webhook-signature': swapped })).toMatchObject({ status: 401 });
  });

  test('of any other event returns no hint', () => {
    expect(deliver({ ...EVENT, type: 'zen:event-type:user.active_changed' })).toMatchObject({ kind: 'hints', ids: [] });
    expect(deliver({ type: 'zen:event-type:ticket.created' })).toMatchObject({ kind: 'hints', ids: [] });
  });

  test.each([
    ['a signature of another secret', { 'x-zendesk-webhook-signature': sign(Buffer.from('{}'), AT, 'other') }],
    ['a truncated signature', { 'x-zendesk-webhook-signature': 'QUJD' }],
    ['two signatures', { 'x-zendesk-webhook-signature': ['a', 'b'] }],
    ['no signature', { 'x-zendesk-webhook-signature': undefined }],
    ['no timestamp', { 'x-zendesk-webhook-signature-timestamp': undefined }],
    ['another timestamp', { 'x-zendesk-webhook-signature-timestamp': '2026-03-01T12:00:01Z' }],
  ])('with %s is refused', (_, headers) => {
    expect(deliver(EVENT, headers)).toMatchObject({ kind: 'refused', status: 401 });
  });

  test('is refused if one byte of the body was changed', () => {
    const signature = sign(Buffer.from(JSON.stringify(EVENT)));
    const changed = Buffer.from(JSON.stringify({ ...EVENT, detail: { id: '35437' } }));
    expect(deliver(changed, { 'x-zendesk-webhook-signature': signature })).toMatchObject({ status: 401 });
  });

  test.each([
    [-300_001, 401],
    [-300_000, undefined],
    [300_000, undefined],
    [300_001, 401],
  ])('that arrives %i ms after its timestamp gets %s', (late, status) => {
    expect(deliver(EVENT, {}, Date.parse(AT) + late)).toMatchObject(
      status === undefined ? { kind: 'hints' } : { status },
    );
  });

  test('with an invalid timestamp is refused, even if it is signed', () => {
    const body = Buffer.from(JSON.stringify(EVENT));
    const headers = {
      'x-zendesk-webhook-signature': sign(body, 'yesterday'),
      'x-zendesk-webhook-signature-timestamp': 'yesterday',
    };
    expect(deliver(body, headers)).toMatchObject({ status: 401 });
  });

  test.each(['text/plain', 'application/jsonp', 'application/x-www-form-urlencoded', undefined])(
    'of content type %s is refused',
    (type) => {
      expect(deliver(EVENT, { 'content-type': type })).toMatchObject({ kind: 'refused', status: 415 });
    },
  );

  test.each([
    ['truncated JSON', Buffer.from('{"type":"zen:')],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['no body', Buffer.alloc(0)],
    ['a body that is not an object', Buffer.from('[1]')],
    ['no type', Buffer.from('{}')],
    ['an id that is a path', Buffer.from('{"type":"zen:event-type:ticket.x","detail":{"id":"../1"}}')],
  ])('with a valid signature and %s is refused', (_, body) => {
    expect(deliver(body)).toEqual({ kind: 'refused', status: 400, reason: 'the body is not an event' });
    expect(deliver(body, { 'x-zendesk-webhook-signature': 'x' })).toMatchObject({ status: 401 });
  });

  test('reveals nothing about the secret', () => {
    expect(JSON.stringify(deliver(EVENT, { 'x-zendesk-webhook-signature': 'x' }))).not.toContain(SECRET);
  });
});

describe('Zendesk’s rate headers', () => {
  test('describe the account limit per minute', () => {
    expect(
      readZendeskRate({
        'x-rate-limit': '700',
        'x-rate-limit-remaining': '699',
        'ratelimit-limit': '700',
        'ratelimit-remaining': '699',
        'ratelimit-reset': '41',
      }),
    ).toEqual({ limit: 700, remaining: 699, reset: 41, retryAfter: null, date: null });
  });

  test('describe the endpoint limit if less of it remains', () => {
    const headers = { 'ratelimit-limit': '700', 'ratelimit-remaining': '5', 'ratelimit-reset': '41' };
    const own = (remaining: number) => ({
      ...headers,
      'zendesk-ratelimit-tickets-index': `total=100; remaining=${remaining}; resets=12`,
    });
    expect(readZendeskRate(own(4))).toMatchObject({ limit: 100, remaining: 4, reset: 12 });
    expect(readZendeskRate(own(6))).toMatchObject({ limit: 700, remaining: 5, reset: 41 });
    expect(readZendeskRate(own(5))).toMatchObject({ limit: 700, remaining: 5, reset: 41 });
    const unknown = { 'zendesk-ratelimit-tickets-index': 'total=100; resets=12' };
    expect(readZendeskRate({ ...headers, ...unknown })).toMatchObject({ limit: 700, remaining: 5, reset: 41 });
    const only = { 'zendesk-ratelimit-tickets-index': 'total=100; remaining=9; resets=12' };
    expect(readZendeskRate(only)).toMatchObject({ limit: 100, remaining: 9, reset: 12 });
  });

  test('contain the time to wait', () => {
    expect(readZendeskRate({ 'retry-after': '93' })).toMatchObject({ retryAfter: 93_000, remaining: null });
  });

  test('are ignored if they are invalid', () => {
    expect(readZendeskRate({ 'x-rate-limit': 'many', 'zendesk-ratelimit-x': 'soon', 'ratelimit-reset': '' })).toEqual({
      limit: null,
      remaining: null,
      reset: null,
      retryAfter: null,
      date: null,
    });
  });
});
