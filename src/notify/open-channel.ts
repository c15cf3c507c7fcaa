/** Opens the channels of the configuration. The libraries of a kind are loaded only if a channel is of that kind. */
import type { ChannelConfig } from '../config/notifications.ts';
import { ConfigError } from '../core/errors.ts';
import type { Channel, ChannelContext } from './channel.ts';

/** Opens a channel; it connects when it sends. Throws ConfigError if its settings cannot be used. */
export async function openChannel(config: ChannelConfig, context: ChannelContext): Promise<Channel> {
  const { webhook, slack, slackWebhook, teams, mail, pagerduty } = config;
  if (webhook !== undefined) {
    return (await import('./webhook.ts')).openWebhookChannel(webhook, context);
  }
  if (slack !== undefined) {
    return (await import('./slack.ts')).openSlackChannel(slack, context);
  }
  if (slackWebhook !== undefined) {
    return (await import('./slack.ts')).openSlackWebhookChannel(slackWebhook, context);
  }
  if (teams !== undefined) {
    return (await import('./teams.ts')).openTeamsChannel(teams, context);
  }
  if (mail !== undefined) {
    return (await import('./mail.ts')).openMailChannel(mail, context);
  }
  if (pagerduty !== undefined) {
    return (await import('./pagerduty.ts')).openPagerDutyChannel(pagerduty, context);
  }
  throw new ConfigError(`notifications.channels.${context.name} has no kind; give it one, such as slack or mail`);
}
