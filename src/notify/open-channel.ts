/** Kinds of channels: how each is opened, and what it would send where. The libraries of a kind are loaded when it is used. */
import type { ChannelConfig } from '../config/notifications.ts';
import { ConfigError } from '../core/errors.ts';
import type { Channel, ChannelContext, Outgoing } from './channel.ts';

type KindName = keyof ChannelConfig;

interface ChannelKind<Settings> {
  /** Opens a channel; it connects when it sends. Throws ConfigError if its settings cannot be used. */
  readonly open: (settings: Settings, context: ChannelContext) => Channel;
  /** Returns the content of a message as the channel would send it, without credentials and references to a thread. */
  readonly preview: (outgoing: Outgoing) => unknown;
  /** Returns where its messages go, without secrets. */
  readonly destination: (settings: Settings) => string;
}

const aWebhook = ({ url }: { readonly url: string }) => `a webhook at ${new URL(url).host}`;

const KINDS: { readonly [K in KindName]-?: () => Promise<ChannelKind<NonNullable<ChannelConfig[K]>>> } = {
  webhook: async () => {
    const { openWebhookChannel, writeWebhookBody } = await import('./http-channels.ts');
    const preview = (outgoing: Outgoing) => JSON.parse(writeWebhookBody(outgoing));
    return { open: openWebhookChannel, preview, destination: aWebhook };
  },
  slack: async () => {
    const { openSlackChannel, writeSlackMessage } = await import('./slack.ts');
    const preview = ({ message }: Outgoing) => writeSlackMessage(message);
    return { open: openSlackChannel, preview, destination: ({ channel }) => `the Slack channel ${channel}` };
  },
  slackWebhook: async () => {
    const { openSlackWebhookChannel, writeSlackMessage } = await import('./slack.ts');
    const preview = ({ message }: Outgoing) => writeSlackMessage(message);
    return { open: openSlackWebhookChannel, preview, destination: aWebhook };
  },
  teams: async () => {
    const { openTeamsChannel, writeTeamsMessage } = await import('./http-channels.ts');
    const preview = ({ message }: Outgoing) => JSON.parse(writeTeamsMessage(message));
    return { open: openTeamsChannel, preview, destination: aWebhook };
  },
  mail: async () => {
    const { openMailChannel, writeMail } = await import('./mail.ts');
    return {
      open: openMailChannel,
      preview: ({ message }) => writeMail(message),
      destination: ({ to, server }) => `${to.join(', ')} through ${new URL(server).host}`,
    };
  },
  pagerduty: async () => {
    const { openPagerDutyChannel, writePagerDutyEvent } = await import('./http-channels.ts');
    const destination = ({ url }: { readonly url: string }) => `PagerDuty at ${new URL(url).host}`;
    return { open: openPagerDutyChannel, preview: writePagerDutyEvent, destination };
  },
};

/** Loads the kind of a channel. Throws ConfigError if it has none. */
async function kindOf(config: ChannelConfig, name: string): Promise<{ kind: ChannelKind<never>; settings: never }> {
  const kind = (Object.keys(KINDS) as KindName[]).find((each) => config[each] !== undefined);
  if (kind === undefined) {
    throw new ConfigError(`notifications.channels.${name} has no kind; give it one, such as slack or mail`);
  }
  return { kind: await KINDS[kind](), settings: config[kind] as never };
}

/** Opens a channel of the configuration. Throws ConfigError if its settings cannot be used. */
export async function openChannel(config: ChannelConfig, context: ChannelContext): Promise<Channel> {
  const { kind, settings } = await kindOf(config, context.name);
  return kind.open(settings, context);
}

/** Returns the content of a message as a channel would send it. Throws ConfigError. */
export async function previewBody(name: string, config: ChannelConfig, outgoing: Outgoing): Promise<unknown> {
  return (await kindOf(config, name)).kind.preview(outgoing);
}

/** Returns where the messages of a channel go, without secrets. Throws ConfigError. */
export async function describeDestination(name: string, config: ChannelConfig): Promise<string> {
  const { kind, settings } = await kindOf(config, name);
  return kind.destination(settings);
}
