/** Settings of notifications. See docs/notifications.md. */
import * as z from 'zod';
import { CONDITION_CODES, type ConditionCode, EVENT_CODES, type EventCode } from '../core/condition-codes.ts';
import { choice, cron, duration, positive, setting, text } from './model/settings.ts';
import { readBaseUrl, readEmail, readText, readTimezone } from './model/values.ts';

const SEVERITIES = ['page', 'warning', 'info'] as const;
const CODES: readonly (ConditionCode | EventCode)[] = [...CONDITION_CODES, ...EVENT_CODES];

const secret = (what: string) => text(`${what}, preferably as "\${env:NAME}" or "\${file:PATH}"`);
const url = (expected: string) => setting(expected, readUrl);

/** Reads an address that may have a secret in its query. */
function readUrl(value: unknown): string | undefined {
  const address = readText(value);
  const protocol = address !== undefined && URL.canParse(address) ? new URL(address).protocol : '';
  return protocol === 'https:' || protocol === 'http:' ? address : undefined;
}

/** Reads the address of a mail server. */
function readMailServer(value: unknown): string | undefined {
  const address = readText(value);
  const protocol = address !== undefined && URL.canParse(address) ? new URL(address).protocol : '';
  return protocol === 'smtps:' || protocol === 'smtp:' ? address : undefined;
}

const webhook = z.strictObject({
  url: url('the URL that receives the messages'),
  secret: secret('the secret that signs the messages, such as whsec_…'),
});
const slack = z.strictObject({
  token: secret('the token of the bot, such as xoxb-…'),
  channel: text('the id of a channel, such as C0123456789'),
  apiUrl: setting('the address of the API', readBaseUrl).prefault('https://slack.com/api'),
});
const incoming = (from: string) => z.strictObject({ url: url(`the URL of the ${from}, preferably as "\${env:NAME}"`) });
const mail = z.strictObject({
  server: setting('the address of the mail server, such as smtps://mail.acme.example', readMailServer),
  user: text('the user at the mail server').optional(),
  password: secret('the password at the mail server').optional(),
  from: setting('an email address', readEmail),
  to: z.array(setting('an email address', readEmail)).min(1),
});
const pagerduty = z.strictObject({
  routingKey: secret('the integration key of a service, for the Events API v2'),
  url: setting('the address of the API', readBaseUrl).prefault('https://events.pagerduty.com'),
});

/** A channel has exactly one kind. */
const channel = z.strictObject({
  webhook: webhook.optional(),
  slack: slack.optional(),
  slackWebhook: incoming('incoming webhook').optional(),
  teams: incoming('workflow').optional(),
  mail: mail.optional(),
  pagerduty: pagerduty.optional(),
});

/** Kinds of channels, as they are named in the configuration. */
export const CHANNEL_KINDS = Object.keys(channel.shape) as readonly (keyof typeof channel.shape)[];

const route = z.strictObject({
  channels: z.array(text('the name of a channel')).min(1),
  /** Undefined: all conditions. Events go only where they are listed. */
  codes: z.array(choice(CODES)).optional(),
  severities: z.array(choice(SEVERITIES)).optional(),
  organizations: z.array(text('the id of an organization')).optional(),
});

const quietHours = z.strictObject({
  cron: cron(),
  duration: positive('the length of the quiet hours, such as 12h'),
  timezone: setting('a time zone such as Europe/Berlin', readTimezone).prefault('UTC'),
  channels: z.array(text('the name of a channel')).min(1),
});

const perCode = <T extends z.ZodType>(codes: readonly string[], value: T) =>
  z.strictObject(Object.fromEntries(codes.map((code) => [code, value.optional()])));

/** Schema of the notifications. */
export function notificationsSchema() {
  return z
    .strictObject({
      channels: z.record(text('the name of a channel'), channel).prefault({}),
      routes: z.array(route).prefault([]),
      for: perCode(CONDITION_CODES, duration('how long it has to last, such as 5m')).prefault({}),
      groupWait: duration('how long a message waits for others of its kind, such as 30s').prefault('30s'),
      groupInterval: positive('the time between two messages of a thread, such as 5m').prefault('5m'),
      quietHours: z.array(quietHours).prefault([]),
      templates: perCode(CODES, text('a text with placeholders such as {{organization}}')).prefault({}),
    })
    .prefault({});
}

/** Settings of notifications. Durations are in milliseconds. */
export type NotificationsConfig = Readonly<z.output<ReturnType<typeof notificationsSchema>>>;
export type ChannelConfig = NotificationsConfig['channels'][string];
