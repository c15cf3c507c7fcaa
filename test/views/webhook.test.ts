import { describe, expect, test } from 'vitest';
import type { LastPush } from '../../src/reconcile/push-receiver.ts';
import { webhookView } from '../../src/web/pages/organization.ts';

const AT = Date.parse('2026-03-01T12:00:00Z');
const last = (outcome: LastPush['outcome'], mismatch: LastPush['mismatch'] = null) => ({ at: AT, outcome, mismatch });

describe('the last delivery of a webhook', () => {
  test.each([
    [last('accepted'), 'a push, which was fetched at once'],
    [last('repeated'), 'a push that was received before'],
    [last('ping'), 'a ping'],
    [last('ignored', 'event'), 'ignored, because it was not a push'],
    [last('ignored', 'repository'), 'ignored, because it was a push to another repository'],
    [last('ignored', 'ref'), 'ignored, because it was a push to another branch or tag'],
  ])('%j is described', (delivery, sentence) => {
    expect(webhookView({ last: delivery, refusedAt: AT - 1 })).toEqual({
      ...{ lastAt: '2026-03-01T12:00:00.000Z', sentence, refusedAt: null, needsAttention: false },
    });
  });

  test('is missing before the first one', () => {
    expect(webhookView({ last: null, refusedAt: null })).toMatchObject({
      sentence: 'no delivery has arrived yet',
      needsAttention: true,
    });
  });

  test('is followed by later refusals', () => {
    expect(webhookView({ last: last('accepted'), refusedAt: AT + 1000 })).toMatchObject({
      sentence: expect.stringContaining('requests are refused since then'),
      refusedAt: '2026-03-01T12:00:01.000Z',
      needsAttention: true,
    });
  });
});
