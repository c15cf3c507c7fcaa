import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { intercomWebhook } from '../../src/conversations/sources/intercom.ts';

const SECRET = 'c1ient-s3cret';
const webhook = intercomWebhook({ name: 'chat', secret: SECRET });
const CLOSED = {
  type: 'notification_event',
  app_id: 'ab12cd',
  topic: 'conversation.admin.closed',
  id: 'notif_8b1b1cb0',
  data: { type: 'notification_event_data', item: { type: 'conversation', id: '215468', conversation_parts: {} } },
};

const sign = (body: Uint8Array, secret = SECRET) => `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`;

function deliver(content: unknown, headers: Record<string, string | string[] | undefined> = {}) {
  const body = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
  return webhook.read({
    headers: { 'content-type': 'application/json; charset=utf-8', 'x-hub-signature': sign(body), ...headers },
    body,
    receivedAt: 0,
  });
}

describe('an Intercom webhook', () => {
  test('returns a hint for its conversation, and uses nothing else of the body', () => {
    expect(deliver(CLOSED)).toEqual({ kind: 'hints', delivery: 'notif_8b1b1cb0', ids: ['215468'] });
    expect(deliver({ ...CLOSED, data: { item: { type: 'conversation', id: 215468 } } })).toMatchObject({
      ids: ['215468'],
    });
  });

  test('is signed with the client secret over the raw body', () => {
    // Calculated independently of this program: openssl dgst -sha1 -hmac "$secret".
    const body = Buffer.from('{"topic":"ping","id":null}');
    expect(deliver(body, { 'x-hub-signature': 'sha1=91d941bdd60e9352ddb30953d365ac0051200522' })).toEqual({
      kind: 'hints',
      delivery: null,
      ids: [],
    });
  });

  test.each([
    [
      'a ping',
      { type: 'notification_event', topic: 'ping', id: null, data: { item: { type: 'ping', message: 'hi' } } },
    ],
    ['another topic', { ...CLOSED, topic: 'contact.created' }],
    ['a topic that is not about a conversation', { ...CLOSED, data: { item: { type: 'tag', id: '1' } } }],
  ])('of %s returns no hint', (_, body) => {
    expect(deliver(body)).toMatchObject({ kind: 'hints', ids: [] });
  });

  test.each([
    ['a signature of another secret', sign(Buffer.from(JSON.stringify(CLOSED)), 'other')],
    ['a signature of another body', sign(Buffer.from('{}'))],
    ['a truncated signature', 'sha1=abc'],
    ['another algorithm', `sha256=${'0'.repeat(64)}`],
    ['no signature', undefined],
    ['two signatures', [sign(Buffer.from(JSON.stringify(CLOSED))), 'sha1=0']],
  ])('with %s is refused', (_, signature) => {
    const answer = deliver(CLOSED, { 'x-hub-signature': signature });
    expect(answer).toMatchObject({ kind: 'refused', status: 401 });
    expect(JSON.stringify(answer)).not.toContain(SECRET);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', undefined])('of content type %s is refused', (type) => {
    expect(deliver(CLOSED, { 'content-type': type })).toMatchObject({ kind: 'refused', status: 415 });
  });

  test.each([
    ['truncated JSON', Buffer.from('{"topic":')],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['no body', Buffer.alloc(0)],
    ['no topic', Buffer.from('{}')],
    ['no conversation', Buffer.from('{"topic":"conversation.admin.closed"}')],
    ['an id that is a path', Buffer.from('{"topic":"conversation.admin.closed","data":{"item":{"id":"../1"}}}')],
  ])('with a valid signature and %s is refused', (_, body) => {
    expect(deliver(body)).toMatchObject({ kind: 'refused', status: 400 });
    expect(deliver(body, { 'x-hub-signature': sign(body, 'other') })).toMatchObject({ status: 401 });
  });
});
