/** Webhook requests of pushes: genuine ones, and those of somebody without the secret, who may have recorded genuine ones. */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PushWebhook, readPush } from '../../src/forge/webhooks.ts';
import { countCases, SEED } from '../support/campaign.ts';
import { codePoint } from '../support/code-points.ts';
import { gitlabSigned, PUSHES, type PushDelivery, type PushOptions } from '../support/push-deliveries.ts';

const AT = Date.parse('2026-03-01T12:00:00Z');
const SECRET = 'a secret of more than 16 characters';
const KEY = `whsec_${Buffer.from('thirty-two bytes of a signing key').toString('base64')}`;

/** Webhooks, their deliveries, and the headers that prove the sender. */
const FORGES: readonly (readonly [string, PushWebhook, (options: PushOptions) => PushDelivery, proof: RegExp])[] = [
  ...(['github', 'gitlab', 'gitea', 'bitbucket'] as const).map((forge) => {
    const webhook = { forge, secret: SECRET, repository: 'Acme/docs', ref: 'main', hasComments: false };
    return [forge, webhook, PUSHES[forge], forge === 'gitlab' ? /token/ : /signature/] as const;
  }),
  [
    'gitlab with a signing token',
    { forge: 'gitlab', secret: KEY, repository: '15', ref: 'main', hasComments: false },
    gitlabSigned,
    /signature|timestamp|webhook-id/,
  ],
];

const hookOf = (forge: PushWebhook['forge'], secret = SECRET): PushWebhook => ({
  forge,
  secret,
  repository: 'acme/docs',
  ref: 'main',
  hasComments: false,
});

/** Reads a request that arrives when it is signed. */
function read(webhook: PushWebhook, { headers, body }: PushDelivery, receivedAt = AT) {
  return readPush(webhook, { headers, body, receivedAt });
}

const REFUSED = { kind: 'refused', status: 401, reason: 'the signature is missing, wrong or too old' };

describe.each(FORGES)('a push at %s', (_name, webhook, deliver) => {
  const options = { secret: webhook.secret, at: AT };

  test('of the followed branch is a push, whose id is that of the delivery', () => {
    const first = read(webhook, deliver({ ...options, id: '1-a' }));
    expect(first).toEqual({ kind: 'push', id: expect.stringMatching(/^[\w-]{22}$/) });
    expect(read(webhook, deliver({ ...options, id: '1-a' }))).toEqual(first);
    expect(read(webhook, deliver({ ...options, id: '1-b' }))).not.toEqual(first);
  });

  test('of a followed tag or full ref is a push', () => {
    expect(read({ ...webhook, ref: 'v1' }, deliver({ ...options, ref: 'refs/tags/v1' })).kind).toBe('push');
    expect(read({ ...webhook, ref: 'refs/heads/main' }, deliver(options)).kind).toBe('push');
  });

  test.each([
    ['ref', { ref: 'refs/heads/other' }],
    ['ref', { ref: 'refs/heads/team/main' }],
    ['event', { event: 'issues' }],
    ['event', { event: 'constructor' }],
  ])('with another %s is ignored', (reason, over) => {
    expect(read(webhook, deliver({ ...options, ...over }))).toEqual({ kind: 'ignored', reason });
  });

  test('that is genuine, but is not JSON or has no ref, is refused', () => {
    const { headers, body } = deliver(options);
    expect(read(webhook, { headers: { ...headers, 'content-type': 'text/plain' }, body })).toMatchObject({
      status: 415,
    });
  });
});

describe('a signed body', () => {
  test('is covered byte by byte: invalid UTF-8 is not its replacement character', () => {
    const [, webhook, deliver] = FORGES[0] as (typeof FORGES)[number];
    const { headers, body } = deliver({ secret: SECRET, repository: 'acme/d\ufffdcs' });
    const invalid = Buffer.from(body.toString('latin1').replace('\u00ef\u00bf\u00bd', '\u00ff'), 'latin1');
    expect(invalid).not.toEqual(body);
    expect(read(webhook, { headers, body: invalid })).toEqual(REFUSED);
  });
});

describe('a signing token of GitLab', () => {
  const webhook = hookOf('gitlab', KEY);

  test.each([
    [300_000, 'push'],
    [301_000, 'refused'],
    [-301_000, 'refused'],
  ])('%s ms after the signature: %s', (late, kind) => {
    expect(read(webhook, gitlabSigned({ secret: KEY, at: AT }), AT + late).kind).toBe(kind);
  });

  test('is not accepted as a plain secret', () => {
    expect(read(webhook, PUSHES.gitlab({ secret: KEY }))).toEqual(REFUSED);
  });
});

test('pushes at GitLab that follow from each other are different deliveries, and a retry is the same one', () => {
  const [, webhook] = FORGES[1] as (typeof FORGES)[number];
  const { headers, body } = PUSHES.gitlab({ secret: webhook.secret, id: 'of-the-first-push' });
  const idOf = (key: string) => read(webhook, { headers: { ...headers, 'idempotency-key': key }, body });
  expect(idOf('1')).toMatchObject({ kind: 'push' });
  expect(idOf('2')).not.toEqual(idOf('1'));
  expect(
    read(webhook, { headers: { ...headers, 'x-gitlab-event-uuid': 'of-a-retry', 'idempotency-key': '1' }, body }),
  ).toEqual(idOf('1'));
});

test('a ping of GitHub or Bitbucket is answered', () => {
  for (const [forge, event] of [
    ['github', 'ping'],
    ['bitbucket', 'diagnostics:ping'],
  ] as const) {
    expect(read(hookOf(forge), PUSHES[forge]({ secret: SECRET, event }))).toEqual({ kind: 'ping' });
  }
});

test.each(['x-forgejo-signature', 'x-hub-signature-256'])('Forgejo may sign in %s', (name) => {
  const webhook = hookOf('gitea');
  const { headers, body } = PUSHES.gitea({ secret: SECRET });
  const { 'x-gitea-signature': signature = '', ...rest } = headers;
  const forgejo = { ...rest, [name]: name === 'x-hub-signature-256' ? `sha256=${signature}` : signature };
  expect(read(webhook, { headers: forgejo, body }).kind).toBe('push');
});

test('a push in a form, which GitHub selects by default, is read', () => {
  const webhook = hookOf('gitea');
  const json = PUSHES.gitea({ secret: SECRET }).body.toString();
  const body = Buffer.from(new URLSearchParams({ payload: json }).toString());
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-gitea-event': 'push',
    'x-gitea-delivery': '1',
    'x-gitea-signature': signatureOf(body),
  };
  expect(read(webhook, { headers, body }).kind).toBe('push');
});

test('a push of several refs at Bitbucket counts if one is followed, also when it is deleted', () => {
  const webhook = hookOf('bitbucket');
  const changes = [
    { new: { type: 'branch', name: 'other' }, old: null },
    { new: null, old: { type: 'branch', name: 'main' } },
  ];
  const body = Buffer.from(JSON.stringify({ repository: { full_name: 'acme/docs' }, push: { changes } }));
  const headers = {
    'content-type': 'application/json',
    'x-event-key': 'repo:push',
    'x-hub-signature': `sha256=${signatureOf(body)}`,
  };
  expect(read(webhook, { headers, body }).kind).toBe('push');
});

test.each([
  ['deeply nested', Buffer.from('['.repeat(1_000_000))],
  ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ['empty', Buffer.alloc(0)],
  ['a list', Buffer.from('[1]')],
  ['without members', Buffer.from('{"__proto__":{"ref":"refs/heads/main"}}')],
])('a genuine body that is %s is refused', (_name, body) => {
  const webhook = hookOf('github');
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-hub-signature-256': `sha256=${signatureOf(body)}`,
  };
  expect(read(webhook, { headers, body })).toMatchObject({ kind: 'refused', status: 400 });
});

/** Values that stand in for a header that proves the sender. */
const forged = (genuine: string) =>
  fc.oneof(
    fc.constantFrom<string | string[] | undefined>(
      ...[undefined, '', ' ', 'sha256=', 'v1,', 'null', genuine.toUpperCase(), `${genuine}0`, genuine.slice(0, -1)],
      ...[` ${genuine}`, `${genuine}, ${genuine}`, `sha1=${genuine}`, [genuine, genuine], []],
    ),
    fc.string({ maxLength: 100, unit: codePoint }),
    fc.nat({ max: genuine.length - 1 }).map((at) => `${genuine.slice(0, at)}!${genuine.slice(at + 1)}`),
  );
const settings = { seed: SEED, numRuns: countCases({ sample: 200, ci: 1000, full: 20_000 }) };

describe.each(FORGES)('a forged push at %s', (_name, webhook, deliver, proof) => {
  const { headers, body } = deliver({ secret: webhook.secret, at: AT });
  const proofs = Object.keys(headers).filter((each) => proof.test(each));
  const readChanged = (changed: object, repository = webhook.repository) =>
    readPush({ ...webhook, repository }, { headers: { ...headers, ...changed }, body, receivedAt: AT });

  test('without a genuine signature is refused with one answer, whatever else is wrong', () => {
    const requests = fc
      .record(Object.fromEntries(proofs.map((each) => [each, forged(headers[each] ?? '')])))
      .filter((changed) => proofs.every((each) => changed[each] !== headers[each]));
    fc.assert(
      fc.property(requests, fc.constantFrom('application/json', 'text/plain'), (changed, type) => {
        expect(readChanged({ ...changed, 'content-type': type })).toEqual(REFUSED);
      }),
      settings,
    );
  });

  test('with headers that are not signed neither crashes nor is one of another repository', () => {
    const others = Object.keys(headers).filter((each) => !proofs.includes(each));
    const value = fc.oneof(
      fc.string({ unit: codePoint }),
      fc.constantFrom<string[] | undefined>(undefined, ['a', 'b']),
    );
    const changes = fc.dictionary(fc.constantFrom(...others, 'x-github-event', '__proto__'), value, { maxKeys: 3 });
    fc.assert(
      fc.property(changes, (changed) => {
        const { kind } = readChanged(changed);
        expect(['push', 'ping', 'ignored', 'refused']).toContain(kind);
        expect(readChanged(changed, 'acme/x').kind).not.toBe('push');
      }),
      settings,
    );
  });
});

test.each(FORGES.filter(([name]) => name !== 'gitlab'))(
  'a recorded signature of %s is not genuine for another body',
  (_name, webhook, deliver) => {
    const { headers, body } = deliver({ secret: webhook.secret, at: AT });
    const change = fc.record({ at: fc.nat({ max: body.length - 1 }), bit: fc.nat({ max: 7 }), cut: fc.boolean() });
    fc.assert(
      fc.property(change, ({ at, bit, cut }) => {
        const other = cut ? body.subarray(0, at) : Buffer.from(body);
        other[at] = cut ? 0 : (other[at] ?? 0) ^ (1 << bit);
        expect(read(webhook, { headers, body: other })).toEqual(REFUSED);
      }),
      settings,
    );
  },
);

function signatureOf(body: Buffer): string {
  return createHmac('sha256', SECRET).update(body).digest('hex');
}
