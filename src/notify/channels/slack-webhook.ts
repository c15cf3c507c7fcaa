/** Channel that writes to an incoming webhook of Slack: no threads, and no updates. */
import type { ChannelConfig } from '../../config/notifications.ts';
import type { Channel } from './channel.ts';
import { type ChannelContext, HttpSender } from './http-sender.ts';
import { writeSlackMessage } from './slack-message.ts';

type SlackWebhookConfig = NonNullable<ChannelConfig['slackWebhook']>;

/** Opens an incoming webhook. */
export function openSlackWebhookChannel({ url }: SlackWebhookConfig, context: ChannelContext): Channel {
  const sender = new HttpSender(url, context);
  return {
    name: context.name,
    isPager: false,
    async send({ message }, signal) {
      const body = JSON.stringify({ ...writeSlackMessage(message), mrkdwn: false });
      await sender.post(url, body, { 'content-type': 'application/json' }, signal);
      return null;
    },
    close: () => sender.close(),
  };
}
