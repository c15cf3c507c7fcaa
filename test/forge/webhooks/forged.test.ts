/** Webhook requests of somebody without the secret, who may have recorded genuine ones. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PushWebhook, readPush } from '../../../src/forge/webhooks.ts';
import { countCases, SEED } from '../../support/campaign.ts';
import { codePoint } from '../../support/code-points.ts';
import { gitlabSigned, PUSHES, type PushDelivery, type PushOptions } from '../../support/push-deliveries.ts';

const AT = Date.parse('2026-03-01T12:00:00Z');
const SECRET = 'a secret of more than 16 characters';
const KEY = `whsec_${Buffer.from('thirty-two bytes of a signing key').toString('base64')}`;
const FORGES: readonly (readonly [string, PushWebhook, (options: PushOptions) => PushDelivery, signature: RegExp])[] = [
  ...(['github', 'gitea', 'bitbucket'] as const).map(
    (forge) =>
      [forge, { forge, secret: SECRET, repository: 'acme/docs', ref: 'main' }, PUSHES[forge], /signature/] as const,
  ),
  ['gitlab', { forge: 'gitlab', secret: SECRET, repository: '15', ref: 'main' }, PUSHES.gitlab, /token/],
  [
    'gitlab, signed',
    { forge: 'gitlab', secret: KEY, repository: '15', ref: 'main' },
    gitlabSigned,
    /signature|timestamp|webhook-id/,
  ],
];

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

describe.each(FORGES)('%s', (_name, webhook, deliver, signature) => {
  const { headers, body } = deliver({ secret: webhook.secret, at: AT });
  const proofs = Object.keys(headers).filter((each) => signature.test(each));
  const read = (changed: object, repository = webhook.repository) =>
    readPush({ ...webhook, repository }, { headers: { ...headers, ...changed }, body, receivedAt: AT });

  test('a request without a genuine signature is refused', () => {
    const requests = fc
      .record(Object.fromEntries(proofs.map((proof) => [proof, forged(headers[proof] ?? '')])))
      .filter((changed) => proofs.every((proof) => changed[proof] !== headers[proof]));
    fc.assert(
      fc.property(requests, (changed) => {
        expect(read(changed)).toMatchObject({ kind: 'refused', status: 401 });
      }),
      settings,
    );
  });

  test('headers that are not signed neither crash nor lead to another repository', () => {
    const others = Object.keys(headers).filter((each) => !proofs.includes(each));
    const value = fc.oneof(
      fc.string({ unit: codePoint }),
      fc.constantFrom<string[] | undefined>(undefined, ['a', 'b']),
    );
    const changes = fc.dictionary(fc.constantFrom(...others, 'x-github-event', '__proto__'), value, { maxKeys: 3 });
    fc.assert(
      fc.property(changes, (changed) => {
        const { kind } = read(changed);
        expect(['push', 'ping', 'ignored', 'refused']).toContain(kind);
        expect(read(changed, 'acme/x').kind).not.toBe('push');
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
        expect(readPush(webhook, { headers, body: other, receivedAt: AT })).toMatchObject({
          kind: 'refused',
          status: 401,
        });
      }),
      settings,
    );
  },
);
