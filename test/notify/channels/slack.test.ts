// Slack, with the token of a bot and with an incoming webhook.
import { expect, test } from 'vitest';
import { openSlackChannel, openSlackWebhookChannel } from '../../../src/notify/slack.ts';
import { FakeSlack, shownLine } from '../../support/notify/fake-slack.ts';
import {
  channelContext,
  endWithTest,
  outgoing,
  resolvedMessage,
  sampleMessage,
} from '../../support/notify/sample-message.ts';

const { signal } = new AbortController();

async function openSlack() {
  const slack = await new FakeSlack().listen();
  const config = { token: slack.token, channel: slack.channel, apiUrl: slack.apiUrl };
  return { slack, channel: endWithTest(openSlackChannel(config, channelContext()), slack) };
}

test('the first message is one of the channel, and its receipt leads to it', async () => {
  const { slack, channel } = await openSlack();
  const receipt = await channel.send(outgoing(), signal);
  expect(receipt).toEqual({ channel: slack.channel, ts: slack.messages[0]?.ts });
  expect(slack.messages[0]?.lines.map(shownLine)).toEqual([
    ':red_circle: The platform refuses the token: acme',
    '• acme: The token was refused (since 09:00 UTC) Open',
    '    Create a new token',
  ]);
  expect(slack.messages[0]).toMatchObject({
    text: 'The platform refuses the token: acme',
    thread: null,
    metadata: { event_type: 'octavo_notification', event_payload: { id: 'ntf_1', thread: 'ntf_1' } },
  });
});

test('a reminder is an answer in the thread, and leaves the first message as it is', async () => {
  const { slack, channel } = await openSlack();
  const receipt = await channel.send(outgoing(), signal);
  expect(await channel.send(outgoing({ id: 'ntf_2', receipt }), signal)).toEqual(receipt);
  expect(slack.messages.map(({ thread, edits }) => [thread, edits])).toEqual([
    [null, 0],
    [receipt?.ts, 0],
  ]);
});

test('a resolve whose answer was lost updates the same message again', async () => {
  const { slack, channel } = await openSlack();
  const receipt = await channel.send(outgoing(), signal);
  const resolve = outgoing({ id: 'ntf_2', receipt, message: resolvedMessage() });
  slack.faults.push('lost');
  await expect(channel.send(resolve, signal)).rejects.toMatchObject({ failure: 'unknown' });
  await channel.send(resolve, signal);
  expect(slack.messages.map(({ edits }) => edits)).toEqual([2, 0]);
});

test.each(['message_not_found', 'cant_update_message', 'edit_window_closed'])(
  'a resolve is a message of its own if the first one is gone (%s)',
  async (error) => {
    const { slack, channel } = await openSlack();
    const receipt = await channel.send(outgoing(), signal);
    slack.faults.push({ status: 200, body: JSON.stringify({ ok: false, error }) });
    const next = await channel.send(outgoing({ id: 'ntf_2', receipt, message: resolvedMessage() }), signal);
    expect(slack.messages[1]).toMatchObject({ thread: null, ts: next?.ts });
  },
);

test.each(['{"ok":true}', '{"ok":true,"ts":""}', '{"ok":true,"channel":{},"ts":["1"]}'])(
  'a message whose place the answer does not name has no receipt (%s)',
  async (body) => {
    const { slack, channel } = await openSlack();
    slack.faults.push({ status: 200, body });
    expect(await channel.send(outgoing(), signal)).toBeNull();
  },
);

test('a reminder is a message of its own if its thread is gone', async () => {
  const { slack, channel } = await openSlack();
  await channel.send(outgoing({ id: 'ntf_2', receipt: { channel: slack.channel, ts: '1.0' } }), signal);
  expect(slack.messages.map(({ thread }) => thread)).toEqual([null]);
});

test.each([
  ['invalid_auth', 'rejected', 'invalid_auth'],
  ['channel_not_found', 'rejected', 'channel_not_found'],
  ['not_in_channel', 'rejected', 'invite the bot'],
  ['is_archived', 'rejected', 'not archived'],
  ['some_new_error', 'rejected', 'some_new_error'],
  ['ratelimited', 'not-taken', 'ratelimited'],
  ['service_unavailable', 'not-taken', 'service_unavailable'],
  ['internal_error', 'unknown', 'internal_error'],
  ['fatal_error', 'unknown', 'fatal_error'],
  ['<canary>', 'unknown', 'cannot be read'],
])('classifies the refusal %s as %s, and gives advice', async (problem, failure, words) => {
  const { slack, channel } = await openSlack();
  slack.problem = problem;
  await expect(channel.send(outgoing(), signal)).rejects.toMatchObject({
    failure,
    message: expect.stringContaining(words),
  });
  expect(slack.requests).toHaveLength(1);
});

test('an incoming webhook gets each message for itself', async () => {
  const slack = await new FakeSlack().listen();
  const config = { url: slack.url + slack.webhookPath };
  const channel = endWithTest(openSlackWebhookChannel(config, channelContext()), slack);
  await channel.send(outgoing({ message: sampleMessage({ severity: 'warning' }) }), signal);
  expect(await channel.send(outgoing({ id: 'ntf_2', message: resolvedMessage() }), signal)).toBeNull();
  expect(slack.messages.map(({ lines }) => shownLine(lines[0] ?? []))).toEqual([
    ':large_orange_circle: The platform refuses the token: acme',
    ':white_check_mark: Resolved: The platform refuses the token: acme',
  ]);
});
