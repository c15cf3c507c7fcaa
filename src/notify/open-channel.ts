/** Opens the channels of the configuration. The libraries of a kind are loaded only if a channel is of that kind. */
import type { ChannelConfig } from '../config/notifications.ts';
import { ConfigError } from '../core/errors.ts';
import type { Channel, ChannelContext } from './channel.ts';

type Kind = keyof ChannelConfig;
type Opener<K extends Kind> = (config: NonNullable<ChannelConfig[K]>, context: ChannelContext) => Channel;

const OPENERS: { readonly [K in Kind]-?: () => Promise<Opener<K>> } = {
  webhook: async () => (await import('./webhook.ts')).openWebhookChannel,
  slack: async () => (await import('./slack.ts')).openSlackChannel,
  slackWebhook: async () => (await import('./slack.ts')).openSlackWebhookChannel,
  teams: async () => (await import('./teams.ts')).openTeamsChannel,
  mail: async () => (await import('./mail.ts')).openMailChannel,
  pagerduty: async () => (await import('./pagerduty.ts')).openPagerDutyChannel,
};

/** Opens a channel; it connects when it sends. Throws ConfigError if its settings cannot be used. */
export async function openChannel(config: ChannelConfig, context: ChannelContext): Promise<Channel> {
  const kind = (Object.keys(OPENERS) as Kind[]).find((each) => config[each] !== undefined);
  if (kind === undefined) {
    throw new ConfigError(`notifications.channels.${context.name} has no kind; give it one, such as slack or mail`);
  }
  const open = (await OPENERS[kind]()) as Opener<Kind>;
  return open(config[kind] as never, context);
}
