// Webhooks that are signed as Standard Webhooks define.
import { expect, test } from 'vitest';
import { openWebhookChannel } from '../../../src/notify/http-channels.ts';
import { FakeWebhookReceiver } from '../../support/notify/fake-webhook-receiver.ts';
import { channelContext, endWithTest, outgoing, resolvedMessage } from '../../support/notify/sample-message.ts';

const { signal } = new AbortController();

async function open(secret?: string) {
  const receiver = await new FakeWebhookReceiver().listen();
  const config = { url: receiver.url, secret: secret ?? receiver.secret };
  return { receiver, channel: endWithTest(openWebhookChannel(config, channelContext()), receiver) };
}

test('sends versioned JSON that its receiver can verify, and a resolve that names the thread', async () => {
  const { receiver, channel } = await open();
  expect(await channel.send(outgoing(), signal)).toBeNull();
  expect(receiver.messages.get('ntf_1')).toEqual({
    type: 'octavo.notification/1',
    id: 'ntf_1',
    thread: 'ntf_1',
    timestamp: '2026-03-14T09:01:00.000Z',
    data: {
      code: 'token-refused',
      severity: 'page',
      state: 'firing',
      title: 'The platform refuses the token: acme',
      items: [
        {
          state: 'firing',
          organization: 'acme',
          summary: 'The token was refused',
          details: ['Create a new token'],
          url: 'https://octavo.example/o/acme',
          since: '2026-03-14T09:00:00.000Z',
          resolvedAt: null,
        },
      ],
      more: 0,
      inhibited: 0,
    },
  });
  expect(receiver.requests[0]?.headers['user-agent']).toBe('octavo/0.0.0');
  await channel.send(outgoing({ id: 'ntf_2', message: resolvedMessage() }), signal);
  expect(receiver.messages.get('ntf_2')).toMatchObject({
    thread: 'ntf_1',
    data: { state: 'resolved', items: [{ state: 'resolved', resolvedAt: '2026-03-14T09:05:00.000Z' }] },
  });
});

test('a message that is signed with another secret is rejected', async () => {
  const { channel } = await open('whsec_b3RoZXI=');
  await expect(channel.send(outgoing(), signal)).rejects.toMatchObject({
    failure: 'rejected',
    message: expect.stringMatching(/401; check the credentials/),
  });
});
