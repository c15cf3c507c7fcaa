/** All channels that send over HTTP, each with its receiver. */
import type { ChannelConfig } from '../../../src/config/notifications.ts';
import { FakePagerDuty } from './fake-pagerduty.ts';
import type { FakeReceiver } from './fake-receiver.ts';
import { FakeSlack } from './fake-slack.ts';
import { FakeTeams } from './fake-teams.ts';
import { FakeWebhookReceiver } from './fake-webhook-receiver.ts';

interface HttpChannelCase {
  readonly receiver: FakeReceiver;
  readonly config: ChannelConfig;
  /** Returns the number of messages that the receiver has, with repeated ones that it did not recognize. */
  readonly count: () => number;
  /** True if the receiver recognizes a repeated message. */
  readonly isIdempotent: boolean;
}

/** Starts the receiver of each kind of channel. */
export const HTTP_CHANNELS: Readonly<Record<string, () => Promise<HttpChannelCase>>> = {
  async webhook() {
    const receiver = await new FakeWebhookReceiver().listen();
    const config = { webhook: { url: receiver.url, secret: receiver.secret } };
    return { receiver, config, count: () => receiver.messages.size, isIdempotent: true };
  },
  async slack() {
    const receiver = await new FakeSlack().listen();
    const config = { slack: { token: receiver.token, channel: receiver.channel, apiUrl: receiver.apiUrl } };
    return { receiver, config, count: () => receiver.messages.length, isIdempotent: false };
  },
  async slackWebhook() {
    const receiver = await new FakeSlack().listen();
    const config = { slackWebhook: { url: receiver.url + receiver.webhookPath } };
    return { receiver, config, count: () => receiver.messages.length, isIdempotent: false };
  },
  async teams() {
    const receiver = await new FakeTeams().listen();
    return {
      receiver,
      config: { teams: { url: receiver.url } },
      count: () => receiver.cards.length,
      isIdempotent: false,
    };
  },
  async pagerduty() {
    const receiver = await new FakePagerDuty().listen();
    const config = { pagerduty: { routingKey: receiver.routingKey, url: receiver.url } };
    const count = () => [...receiver.incidents.values()].reduce((sum, { pages }) => sum + pages, 0);
    return { receiver, config, count, isIdempotent: true };
  },
};
