import { createHmac } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';
import { describe, expect, test, vi } from 'vitest';
import { standardWebhook } from '../../src/conversations/sources/own-format.ts';
import { ConfigError } from '../../src/core/errors.ts';

vi.mock('node:crypto', { spy: true });

const AT = Date.parse('2026-03-01T12:00:00Z');
const KEY = `whsec_${Buffer.from('the first key of the generic one').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('the other key of the generic one').toString('base64')}`;
const webhook = standardWebhook({ name: 'crm', secrets: [KEY] });
const PARTS = [
  { type: 'message', role: 'user', body: 'How do I export?' },
  { type: 'message', role: 'assistant', body: 'Under Settings.' },
];

interface Changes {
  readonly key?: string;
  readonly headers?: Record<string, string | string[] | undefined>;
  readonly receivedAt?: number;
  readonly to?: ReturnType<typeof standardWebhook>;
}

/** Signed by the reference library of the standard. */
function deliver(content: unknown, { key = KEY, headers = {}, receivedAt = AT, to = webhook }: Changes = {}) {
  const body = typeof content === 'string' ? content : JSON.stringify(content);
  return to.read({
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(AT / 1000),
      'webhook-signature': new Signer(key).sign('msg_1', new Date(AT), body),
      ...headers,
    },
    body: Buffer.from(body),
    receivedAt,
  });
}

describe('a signature', () => {
  const conversation = { id: '1', parts: PARTS };

  test('of the reference library is valid', () => {
    expect(deliver(conversation)).toMatchObject({ kind: 'found', delivery: 'msg_1' });
    expect(deliver({ id: '1', parts: [{ ...PARTS[0], body: 'Größe – 日本語' }] })).toMatchObject({ kind: 'found' });
  });

  test('is valid for any key, and as one of several', () => {
    const both = standardWebhook({ name: 'crm', secrets: [KEY, OTHER] });
    const good = new Signer(OTHER).sign('msg_1', new Date(AT), JSON.stringify(conversation));
    expect(deliver(conversation, { key: OTHER, to: both })).toMatchObject({ kind: 'found' });
    expect(deliver(conversation, { key: KEY, to: both })).toMatchObject({ kind: 'found' });
    const several = `v1,${Buffer.alloc(32).toString('base64')} v1a,nothing ${good}`;
    expect(deliver(conversation, { to: both, headers: { 'webhook-signature': several } })).toMatchObject({
      kind: 'found',
    });
    expect(deliver(conversation, { key: OTHER })).toMatchObject({ status: 401 });
  });

  test('is refused in a spelling other than canonical base64', () => {
    const good = new Signer(KEY).sign('msg_1', new Date(AT), JSON.stringify(conversation));
    for (const spelling of [
      good.replace('=', ''),
      `${good}=`,
      `${good}\n`,
      good.replaceAll(/[+/]/g, '-'),
      `${good}AAAA`,
    ]) {
      if (spelling !== good) {
        expect(deliver(conversation, { headers: { 'webhook-signature': spelling } })).toMatchObject({ status: 401 });
      }
    }
  });

  test('is refused with a timestamp that only begins with a number', () => {
    for (const timestamp of [`${AT / 1000}abc`, ` ${AT / 1000}`, `${AT / 1000}e0`, `+${AT / 1000}`, '']) {
      expect(deliver(conversation, { headers: { 'webhook-timestamp': timestamp } })).toMatchObject({ status: 401 });
    }
  });

  test('does not cover a body whose invalid bytes decode to the signed text', () => {
    const signed = '{"id":"1","parts":[],"subject":"\ufffd"}';
    const [start = '', end = ''] = signed.split('\ufffd');
    const headers = {
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(AT / 1000),
      'webhook-signature': new Signer(KEY).sign('msg_1', new Date(AT), signed),
    };
    const read = (body: Buffer) => webhook.read({ headers, body, receivedAt: AT });
    expect(read(Buffer.from(signed))).toMatchObject({ kind: 'found' });
    const forged = Buffer.concat([Buffer.from(start), Buffer.from([0xff]), Buffer.from(end)]);
    expect(forged.toString()).toBe(signed);
    expect(read(forged)).toMatchObject({ status: 401 });
  });

  test('costs one hash of the body per key, for any number of signatures', () => {
    vi.mocked(createHmac).mockClear();
    const headers = { 'webhook-signature': 'v1,AAAA '.repeat(2000) };
    const both = standardWebhook({ name: 'crm', secrets: [KEY, OTHER] });
    expect(deliver(conversation, { to: both, headers })).toMatchObject({ status: 401 });
    expect(createHmac).toHaveBeenCalledTimes(2);
  });

  test.each(['', 'whsec_', 'whsec_short', 'whsec_not base64 at all, not even nearly', 'hush-hush-hush-hush-hush-hush'])(
    'needs a valid key: %s',
    (secret) => {
      const make = () => standardWebhook({ name: 'crm', secrets: [secret] });
      expect(make).toThrow(ConfigError);
      expect(make).not.toThrow(/hush/);
    },
  );
});

describe('a body', () => {
  test('has the participants of its attributes', () => {
    const attributes = { brand: 'acme', assignee: 'Abe Agent', customer_email: 'cora@x.example', owner: 'docs' };
    expect(deliver({ id: '19', parts: PARTS, metadata: { attributes } })).toMatchObject({
      found: [
        {
          ticket: {
            people: [
              { names: ['Abe Agent'], emails: [] },
              { names: [], emails: ['cora@x.example'] },
            ],
          },
        },
      ],
    });
  });

  test('can be a conversation or a list of them', () => {
    const full = {
      id: '17',
      subject: 'Export',
      parts: PARTS,
      metadata: {
        url: 'https://crm.example/17',
        attributes: { brand: 'acme' },
        createdAt: '2026-02-28T10:00:00+01:00',
      },
    };
    const ticket = {
      key: 'webhook/crm/17',
      subject: 'Export',
      createdAt: '2026-02-28T10:00:00+01:00',
      settledAt: null,
      url: 'https://crm.example/17',
      attributes: { brand: 'acme' },
      parts: PARTS.map(({ role, body }) => ({ role, body })),
      people: [],
      completeness: null,
    };
    expect(deliver(full)).toEqual({ kind: 'found', delivery: 'msg_1', found: [{ kind: 'ticket', ticket }] });
    expect(deliver([{ id: '18', parts: PARTS }, full])).toMatchObject({
      found: [{ ticket: { key: 'webhook/crm/18', subject: '', url: null, attributes: {} } }, { ticket }],
    });
    expect(deliver(Array.from({ length: 1001 }, () => 1))).toMatchObject({ kind: 'refused', status: 400 });
    // Its ids stay the same after a rename.
    const renamed = standardWebhook({ name: 'forms', account: 'crm', secrets: [KEY] });
    expect(deliver(full, { to: renamed })).toMatchObject({ found: [{ ticket }] });
    expect(deliver([])).toEqual({ kind: 'found', delivery: 'msg_1', found: [] });
  });

  test.each<[unknown, string]>([
    [{ parts: PARTS }, 'id (invalid type)'],
    [{ id: '', parts: PARTS }, 'id (too small)'],
    [{ id: 'x'.repeat(256), parts: PARTS }, 'id (too big)'],
    [{ id: '1' }, 'parts (invalid type)'],
    [{ id: '1', parts: [{ ...PARTS[0], role: 'hush' }] }, 'parts.0.role (invalid value)'],
    [{ id: '1', parts: [{ ...PARTS[0], type: 'note' }] }, 'parts.0.type (invalid value)'],
    [{ id: '1', parts: [{ ...PARTS[0], private: true }] }, 'parts.0 (unrecognized keys)'],
    [{ id: '1', parts: PARTS, metadata: { url: 'file:///hush' } }, 'metadata.url (invalid format)'],
    [{ id: '1', parts: PARTS, metadata: { createdAt: 'hush' } }, 'metadata.createdAt (invalid format)'],
    [{ id: '1', parts: PARTS, metadata: { attributes: { hush: 1 } } }, 'metadata.attributes (invalid type)'],
    ['hush', 'the whole body (invalid type)'],
    [null, 'the whole body (invalid type)'],
  ])('with invalid content is rejected without quoting a value: %j', (one, reason) => {
    const good = { id: '2', parts: PARTS };
    const rejected = { kind: 'rejected', place: 'webhook/crm[0]', reason: `not a conversation: ${reason}` };
    // A single rejection is reported to the sender; in a list, the rest is accepted.
    const alone =
      one !== null && typeof one === 'object' ? rejected.reason : expect.stringContaining('neither a conversation');
    expect(deliver(one)).toEqual({ kind: 'refused', status: 400, reason: alone });
    expect(deliver([one, good])).toMatchObject({ found: [rejected, { kind: 'ticket' }] });
  });

  test('with an id that is too long including its prefix is rejected', () => {
    const id = 'x'.repeat(243);
    expect(deliver({ id, parts: PARTS })).toMatchObject({ kind: 'found', found: [{ kind: 'ticket' }] });
    const reason = 'its id, with the account before it, has 256 characters; the platform accepts 1 to 255';
    expect(deliver({ id: `${id}x`, parts: PARTS })).toEqual({ kind: 'refused', status: 400, reason });
  });

  test('without text or without a customer is skipped', () => {
    const empty = { id: '1', parts: [{ type: 'message', role: 'user', body: ' ' }] };
    const alone = { id: '2', parts: [{ type: 'message', role: 'team-member', body: 'Hello?' }] };
    expect(deliver([empty, alone])).toMatchObject({
      found: [
        { kind: 'skipped', key: 'webhook/crm/1', reason: 'empty' },
        { kind: 'skipped', key: 'webhook/crm/2', reason: 'no-customer' },
      ],
    });
  });

  test('in HTML is converted to text, and Markdown stays unchanged', () => {
    const deliverBody = (body: string) => deliver({ id: '1', parts: [{ type: 'message', role: 'user', body }] });
    expect(deliverBody('<p>bo@<b>acme</b>.example</p>')).toMatchObject({
      found: [{ ticket: { parts: [{ body: 'bo@acme.example' }] } }],
    });
    const markdown = 'Use `a < b` and <https://acme.example>, **please**';
    expect(deliverBody(markdown)).toMatchObject({ found: [{ ticket: { parts: [{ body: markdown }] } }] });
  });
});
