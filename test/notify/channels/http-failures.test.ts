// Failures of the channels that send over HTTP.
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/core/clock.ts';
import { ChannelError } from '../../../src/notify/channel.ts';
import { openChannel } from '../../../src/notify/open-channel.ts';
import type { ReceiverFault } from '../../support/notify/fake-receiver.ts';
import { HTTP_CHANNELS } from '../../support/notify/http-channels.ts';
import { channelContext, endWithTest, manualClock, outgoing } from '../../support/notify/sample-message.ts';

const never = () => new AbortController().signal;

/** Sends the sample with a fault, and returns the failure with what the receiver has afterwards. */
async function fail(kind: string, fault: ReceiverFault) {
  const { receiver, channel, count } = await open(kind);
  receiver.faults.push(fault);
  const error: unknown = await channel.send(outgoing(), never()).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { error, count: count(), receiver };
}

async function open(kind: string, clock: Clock = systemClock) {
  const start = HTTP_CHANNELS[kind];
  if (start === undefined) {
    throw new Error(kind);
  }
  const { config, ...started } = await start();
  return { channel: endWithTest(await openChannel(config, channelContext(clock)), started.receiver), ...started };
}

/** Everything that a log could write of an error. */
function wordsOf(error: unknown): string {
  const parts = error instanceof Error ? [error.message, error.stack, JSON.stringify(error), wordsOf(error.cause)] : [];
  return parts.join('\n');
}

describe.each(Object.keys(HTTP_CHANNELS))('channel %s', (kind) => {
  test.each<[string, ReceiverFault, number | null]>([
    ['429 with seconds', { status: 429, headers: { 'retry-after': '7' } }, 7000],
    [
      '429 with a date',
      {
        status: 429,
        headers: { date: 'Sat, 14 Mar 2026 09:00:00 GMT', 'retry-after': 'Sat, 14 Mar 2026 09:00:30 GMT' },
      },
      30_000,
    ],
    ['429 without a time', { status: 429 }, null],
    ['408', { status: 408 }, null],
  ])('reports that %s was not taken, and the time to wait', async (_, fault, retryAfter) => {
    const { error, count, receiver } = await fail(kind, fault);
    expect(error).toBeInstanceOf(ChannelError);
    expect(error).toMatchObject({ failure: 'not-taken', retryAfter });
    expect([count, receiver.requests.length]).toEqual([0, 1]);
  });

  test.each([400, 401, 403, 404, 410, 413])('reports that %i is a rejection', async (status) => {
    const { error } = await fail(kind, { status, body: 'canary' });
    expect(error).toMatchObject({ failure: 'rejected' });
    expect((error as Error).message).toContain(String(status));
  });

  test.each([500, 502, 503, 504])('reports that nobody knows what became of the message after %i', async (status) => {
    const { error } = await fail(kind, { status, headers: { 'retry-after': '3' } });
    expect(error).toMatchObject({ failure: 'unknown', retryAfter: 3000 });
  });

  test.each<ReceiverFault>(['dropped', 'lost'])('reports an answer that was %s as unknown', async (fault) => {
    const { error } = await fail(kind, fault);
    expect(error).toMatchObject({ failure: 'unknown', retryAfter: null });
  });

  test('does not follow redirects', async () => {
    const { receiver: elsewhere } = await open(kind);
    await using _ = elsewhere;
    const { error } = await fail(kind, { status: 307, headers: { location: `${elsewhere.url}/` } });
    expect(error).toMatchObject({ failure: 'rejected' });
    expect((error as Error).message).toContain('redirects are not followed');
    expect(elsewhere.requests).toEqual([]);
  });

  test('gives up waiting after 30 seconds without knowing what became of the message', async () => {
    const clock = manualClock();
    const { receiver, channel, count } = await open(kind, clock);
    receiver.faults.push('silent');
    receiver.onSilence = () => clock.expire();
    await expect(channel.send(outgoing(), never())).rejects.toMatchObject({
      failure: 'unknown',
      message: expect.stringContaining('did not answer in time'),
    });
    expect(count()).toBe(1);
  });

  test('stops waiting when the daemon stops', async () => {
    const { receiver, channel } = await open(kind);
    const stop = new AbortController();
    receiver.faults.push('silent');
    receiver.onSilence = () => stop.abort();
    await expect(channel.send(outgoing(), stop.signal)).rejects.toMatchObject({ failure: 'unknown' });
  });

  test('sends nothing once the daemon is stopping', async () => {
    const { receiver, channel } = await open(kind);
    await expect(channel.send(outgoing(), AbortSignal.abort())).rejects.toMatchObject({ failure: 'not-taken' });
    expect(receiver.requests).toEqual([]);
  });

  test('reports that a refused connection took nothing', async () => {
    const { receiver, channel } = await open(kind);
    await receiver[Symbol.asyncDispose]();
    await expect(channel.send(outgoing(), never())).rejects.toMatchObject({ failure: 'not-taken' });
  });

  test('sends the same message again after a lost answer, so that the receiver can recognize it', async () => {
    const { receiver, channel, count, isIdempotent } = await open(kind);
    receiver.faults.push('lost');
    await expect(channel.send(outgoing(), never())).rejects.toThrow(ChannelError);
    await channel.send(outgoing(), never());
    expect(count()).toBe(isIdempotent ? 1 : 2);
    expect(receiver.requests).toHaveLength(2);
  });

  test('names no secret in any error', async () => {
    const faults: ReceiverFault[] = [
      { status: 400 },
      { status: 403 },
      { status: 500 },
      'dropped',
      'truncated',
      'endless',
    ];
    for (const fault of faults) {
      const { error } = await fail(kind, fault);
      expect(wordsOf(error)).not.toMatch(/canary|c2VjcmV0|sig=|services|workflows/);
    }
  });
});

test.each(['webhook', 'slackWebhook', 'teams', 'pagerduty'])(
  'channel %s needs only the status of a success, whatever becomes of the body',
  async (kind) => {
    for (const fault of ['truncated', 'endless'] as const) {
      const { error, count } = await fail(kind, fault);
      expect([error, count]).toEqual([null, 1]);
    }
  },
);

test('a broken answer of Slack tells nothing', async () => {
  for (const fault of ['truncated', 'endless', { status: 200, body: '<html>' }] as const) {
    const { error } = await fail('slack', fault);
    expect(error).toMatchObject({ failure: 'unknown' });
  }
});

test('a message is sent over a connection of its own', async () => {
  const { receiver, channel } = await open('webhook');
  await channel.send(outgoing(), never());
  expect(receiver.requests[0]?.headers.connection).toBe('close');
});
