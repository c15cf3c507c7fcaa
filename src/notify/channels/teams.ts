/** Channel that posts cards to Microsoft Teams, through a workflow that starts with a webhook request. */
import type { ChannelConfig } from '../../config/notifications.ts';
import type { Channel } from './channel.ts';
import { type ChannelContext, HttpSender } from './http-sender.ts';
import { writeTeamsMessage } from './teams-card.ts';

type TeamsConfig = NonNullable<ChannelConfig['teams']>;

/** Opens a workflow. It has no threads: each message is a card. */
export function openTeamsChannel({ url }: TeamsConfig, context: ChannelContext): Channel {
  const sender = new HttpSender(url, context);
  return {
    name: context.name,
    isPager: false,
    async send({ message }, signal) {
      await sender.post(url, writeTeamsMessage(message), { 'content-type': 'application/json' }, signal);
      return null;
    },
    close: () => sender.close(),
  };
}
