/** Bodies that channels would send, for previews. */
import type { ChannelConfig } from '../config/notifications.ts';
import type { Outgoing } from './channel.ts';
import { writeMail } from './mail.ts';
import { writePagerDutyEvent } from './pagerduty.ts';
import { writeSlackMessage } from './slack.ts';
import { writeTeamsMessage } from './teams.ts';
import { writeWebhookBody } from './webhook.ts';

/** Returns the content of a message as its channel would send it, without credentials and references to a thread. */
export function previewBody(config: ChannelConfig, outgoing: Outgoing): unknown {
  const { message } = outgoing;
  if (config.webhook !== undefined) {
    return JSON.parse(writeWebhookBody(outgoing));
  }
  if (config.teams !== undefined) {
    return JSON.parse(writeTeamsMessage(message));
  }
  if (config.pagerduty !== undefined) {
    return writePagerDutyEvent(outgoing);
  }
  return config.mail === undefined ? writeSlackMessage(message) : writeMail(message);
}

/** Returns the text of a message. */
export function previewText({ message }: Outgoing): string {
  return writeMail(message).text;
}

/** Returns where the messages of a channel go, without secrets. */
export function describeDestination(config: ChannelConfig): string {
  const { webhook, slack, slackWebhook, teams, mail, pagerduty } = config;
  if (slack !== undefined) {
    return `the Slack channel ${slack.channel}`;
  }
  if (mail !== undefined) {
    return `${mail.to.join(', ')} through ${new URL(mail.server).host}`;
  }
  if (pagerduty !== undefined) {
    return `PagerDuty at ${new URL(pagerduty.url).host}`;
  }
  const url = (webhook ?? slackWebhook ?? teams)?.url;
  return url === undefined ? 'nowhere' : `a webhook at ${new URL(url).host}`;
}
