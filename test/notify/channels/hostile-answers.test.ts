/** Receivers that answer with anything: a message counts as sent or fails, and no word of the answer is repeated. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChannelError, type Receipt } from '../../../src/notify/channel.ts';
import { openChannel } from '../../../src/notify/open-channel.ts';
import { countCases, SEED } from '../../support/campaign.ts';
import { codePoint } from '../../support/code-points.ts';
import { HTTP_CHANNELS } from '../../support/notify/http-channels.ts';
import { channelContext, outgoing, resolvedMessage } from '../../support/notify/sample-message.ts';

const { signal } = new AbortController();
const SECRET = 'canary-of-the-receiver';

const value = fc.constantFrom<unknown>(null, true, 0, '', [], {}, 'C1', '1700000000.000100', SECRET, { a: [SECRET] });
const slackLike = fc.record(
  { ok: fc.constantFrom<unknown>(true, false, 1, 'true'), error: value, ts: value, channel: value, warning: value },
  { requiredKeys: [] },
);
const body = fc.oneof(
  slackLike.map((answer) => JSON.stringify(answer)),
  fc.json({ maxDepth: 2 }),
  fc.string({ unit: codePoint, maxLength: 40 }),
);
const answer = fc.record({
  status: fc.constantFrom(200, 200, 200, 201, 202, 204, 301, 307, 400, 408, 418, 425, 429, 500, 503, 599),
  headers: fc.record(
    {
      'retry-after': fc.constantFrom('', '0', '-5', '1e99', 'Infinity', 'soon', 'Thu, 01 Jan 1970 00:00:00 GMT'),
      'content-type': fc.constantFrom('application/json', 'text/html', ''),
      'content-encoding': fc.constantFrom('gzip', 'x'),
      location: fc.constantFrom('https://evil.example/', '/', '//'),
    },
    { requiredKeys: [] },
  ),
  body,
});

const isUsable = (receipt: Receipt | null) =>
  receipt === null || Object.values(receipt).every((each) => typeof each === 'string' && each !== '');

test.each(Object.entries(HTTP_CHANNELS))('channel %s survives every answer', async (_kind, open) => {
  const { receiver, config } = await open();
  await using _: AsyncDisposable = receiver;
  const channel = await openChannel(config, channelContext());
  const earlier = fc.constantFrom<Receipt | null>(null, { channel: 'C1', ts: '1700000000.000100' });
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { minLength: 2, maxLength: 2 }), earlier, async (answers, receipt) => {
      receiver.faults.splice(
        0,
        receiver.faults.length,
        ...answers.map((each) => ({ ...each, body: each.status === 204 ? '' : each.body })),
      );
      const message = outgoing({ id: 'ntf_2', receipt, message: resolvedMessage() });
      const before = receiver.requests.length;
      try {
        expect(isUsable(await channel.send(message, signal))).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(ChannelError);
        const { message: words, retryAfter } = error as ChannelError;
        expect(words).not.toContain('canary');
        expect(retryAfter === null || retryAfter >= 0).toBe(true);
      }
      expect(receiver.requests.length - before).toBeLessThanOrEqual(3);
    }),
    { seed: SEED, numRuns: countCases({ sample: 60, ci: 300, full: 3000 }) },
  );
  await channel.close();
});
