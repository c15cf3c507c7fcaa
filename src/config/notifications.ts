/** Settings of notifications. See docs/notifications.md. */
import * as z from 'zod';
import { CONDITION_CODES, type ConditionCode, EVENT_CODES, type EventCode } from '../core/condition-codes.ts';
import type { Problem } from '../core/errors.ts';
import { readSigningKey } from '../core/signature.ts';
import { didYouMean } from '../core/text/suggest.ts';
import { parseTemplate, templateProblems } from '../core/text/template.ts';
import type { OrganizationsDocument } from './document.ts';
import { isInsecure, isPlainHttp, PLAIN_HTTP_SETTING } from './secrets.ts';
import { choice, cron, duration, positive, secret, section, setting, text } from './settings.ts';
import {
  asList,
  asMapping,
  type Path,
  type RawSettings,
  readBaseUrl,
  readEmail,
  readText,
  readTimezone,
  textsAt,
} from './values.ts';

/** Names that every template may contain. */
const COMMON_NAMES = ['title', 'summary', 'details', 'url', 'code', 'severity', 'state', 'count'] as const;
/** Names that templates of conditions may contain in addition. */
const CONDITION_NAMES = ['since', 'duration'] as const;
/** Names that templates of events may contain in addition. */
const EVENT_NAMES = ['time'] as const;
/** Names of what a condition or event is about. */
const SUBJECT_NAMES = ['organization', 'platform', 'source', 'channel'] as const;

type SubjectName = (typeof SUBJECT_NAMES)[number];
/** Name in the template of a notification. */
export type NotificationName =
  | (typeof COMMON_NAMES)[number]
  | (typeof CONDITION_NAMES)[number]
  | (typeof EVENT_NAMES)[number]
  | SubjectName;

/** Names of what each condition is about, where that is not only an organization. */
const SUBJECTS: Readonly<Partial<Record<ConditionCode | EventCode, readonly SubjectName[]>>> = {
  'token-refused': ['platform'],
  'platform-failing': ['platform'],
  'budget-starved': ['platform'],
  'connector-failing': ['organization', 'source'],
  'channel-failing': ['channel'],
  'state-file-failing': [],
  'configuration-invalid': [],
};

/** Names whose value may be empty: not every condition has details, and without `ui.publicUrl` there are no links. */
const OPTIONAL: readonly string[] = ['details', 'url'] satisfies NotificationName[];

/** Returns the names that the template of a code may contain. */
export function namesForCode(code: ConditionCode | EventCode): readonly NotificationName[] {
  const isCondition = (CONDITION_CODES as readonly string[]).includes(code);
  return [...(SUBJECTS[code] ?? ['organization']), ...COMMON_NAMES, ...(isCondition ? CONDITION_NAMES : EVENT_NAMES)];
}

/** Returns the problems of a template, each with its solution. */
function notificationTemplateProblems(template: string, code: ConditionCode | EventCode): readonly string[] {
  const problems = templateProblems(template, namesForCode(code)).map(({ message }) => message);
  const { parts } = parseTemplate(template);
  const mayBeEmpty = parts.every(({ text, name }) => text?.trim() === '' || OPTIONAL.includes(name ?? ''));
  return mayBeEmpty && problems.length === 0
    ? ['can result in an empty text, because {{details}} and {{url}} may be empty; add {{summary}} or some text']
    : problems;
}

const SEVERITIES = ['page', 'warning', 'info'] as const;
const CODES: readonly (ConditionCode | EventCode)[] = [...CONDITION_CODES, ...EVENT_CODES];

const url = (expected: string) => setting(expected, readUrl);

/** Reads an address that may have a secret in its query. */
function readUrl(value: unknown): string | undefined {
  return readAddress(value, ['https:', 'http:']);
}

/** Reads the address of a mail server. */
function readMailServer(value: unknown): string | undefined {
  return readAddress(value, ['smtps:', 'smtp:']);
}

function readAddress(value: unknown, protocols: readonly string[]): string | undefined {
  const address = readText(value);
  return protocols.includes(URL.parse(address ?? '')?.protocol ?? '') ? address : undefined;
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
const CHANNEL_KINDS = Object.keys(channel.shape) as readonly (keyof typeof channel.shape)[];

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
  return section({
    channels: z.record(text('the name of a channel'), channel).prefault({}),
    routes: z.array(route).prefault([]),
    for: perCode(CONDITION_CODES, duration('how long it has to last, such as 5m')).prefault({}),
    groupWait: duration('how long a message waits for others of its kind, such as 30s').prefault('30s'),
    groupInterval: positive('the time between two messages of a thread, such as 5m').prefault('5m'),
    quietHours: z.array(quietHours).prefault([]),
    templates: perCode(CODES, text('a text with placeholders such as {{organization}}')).prefault({}),
  });
}

/** Settings of notifications. Durations are in milliseconds. */
export type NotificationsConfig = Readonly<z.output<ReturnType<typeof notificationsSchema>>>;
export type ChannelConfig = NotificationsConfig['channels'][string];

const AT: Path = ['notifications'];
/** Names are part of commands, links and metrics. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$/;

type ReportProblem = (path: Path, message: string, key?: string) => void;

/** Returns the problems of the settings of notifications, each with its solution. */
export function notificationProblems(document: OrganizationsDocument): readonly Problem[] {
  const root = asMapping(document.values);
  const notifications = asMapping(root.notifications);
  const channels = asMapping(notifications.channels);
  const problems: Problem[] = [];
  const report: ReportProblem = (path, message, key) =>
    problems.push(document.problemAt([...AT, ...path], message, key));
  const isEncrypted = !isInsecure(document);
  for (const [name, channel] of Object.entries(channels)) {
    checkChannel(name, asMapping(channel), isEncrypted, report);
  }
  checkNames(notifications, channels, organizationIds(root, document), report);
  checkRouted(notifications, Object.keys(channels), report);
  checkTemplates(asMapping(notifications.templates), report);
  return problems;
}

function checkChannel(name: string, channel: RawSettings, isEncrypted: boolean, report: ReportProblem): void {
  const at = ['channels', name];
  if (!NAME.test(name)) {
    report(['channels'], 'is not a valid name; use up to 50 letters, digits, "-" and "_"', name);
  }
  const given = CHANNEL_KINDS.filter((kind) => channel[kind] !== undefined);
  // An unknown kind is reported on its own.
  if (given.length > 1 || Object.keys(channel).length === 0) {
    report(at, `requires exactly one of ${CHANNEL_KINDS.join(', ')}`);
  }
  for (const kind of given) {
    const settings = asMapping(channel[kind]);
    for (const key of ['url', 'apiUrl'].filter((each) => isEncrypted && isPlainHttp(settings[each]))) {
      report([...at, kind, key], PLAIN_HTTP_SETTING);
    }
  }
  checkSecret(asMapping(channel.webhook).secret, [...at, 'webhook', 'secret'], report);
  checkMail(asMapping(channel.mail), [...at, 'mail'], report);
}

function checkSecret(secret: unknown, at: Path, report: ReportProblem): void {
  if (typeof secret === 'string' && readSigningKey(secret)?.toString('base64') !== secret.replace(/^whsec_/, '')) {
    report(at, 'this is not a secret of Standard Webhooks; create one with: echo "whsec_$(openssl rand -base64 32)"');
  }
}

function checkMail({ server, user, password }: RawSettings, at: Path, report: ReportProblem): void {
  const address = typeof server === 'string' ? URL.parse(server) : null;
  if (address !== null && (address.username !== '' || address.password !== '')) {
    report([...at, 'server'], 'contains a user or a password; set user and password instead');
  }
  if ((user === undefined) !== (password === undefined)) {
    const [present, missing] = user === undefined ? ['password', 'user'] : ['user', 'password'];
    report([...at, present], `requires ${missing}; set both, or neither`);
  }
}

/** Checks that routes and quiet hours name channels and organizations that exist. */
function checkNames(
  notifications: RawSettings,
  channels: RawSettings,
  organizations: readonly string[] | null,
  report: ReportProblem,
): void {
  const known = Object.keys(channels);
  for (const [at, name] of textsAt(notifications, ['routes', '*', 'channels', '*'])) {
    checkKnown(name, known, 'configured channel', at, report);
  }
  for (const [at, name] of textsAt(notifications, ['routes', '*', 'organizations', '*'])) {
    checkKnown(name, organizations ?? [name], 'configured organization', at, report);
  }
  for (const [at, name] of textsAt(notifications, ['quietHours', '*', 'channels', '*'])) {
    checkKnown(name, known, 'configured channel', at, report);
    if (asMapping(channels[name]).pagerduty !== undefined) {
      report(at, `${JSON.stringify(name)} pages people, which quiet hours never hold; remove it here`);
    }
  }
}

function checkKnown(name: string, known: readonly string[], what: string, at: Path, report: ReportProblem): void {
  if (!known.includes(name)) {
    const list = known.length === 0 ? 'none is configured' : `configured: ${known.join(', ')}`;
    report(at, `${JSON.stringify(name)} is not a ${what}${didYouMean(name, known, `; ${list}`)}`);
  }
}

/** Checks that every channel receives something. */
function checkRouted(notifications: RawSettings, channels: readonly string[], report: ReportProblem): void {
  const routed = new Set(textsAt(notifications, ['routes', '*', 'channels', '*']).map(([, name]) => name));
  for (const name of channels.filter((each) => !routed.has(each))) {
    report(
      ['channels'],
      `is in no route, so it would never be sent anything; add it to notifications.routes, such as - channels: [${name}]`,
      name,
    );
  }
}

function checkTemplates(templates: RawSettings, report: ReportProblem): void {
  for (const code of [...CONDITION_CODES, ...EVENT_CODES]) {
    const template = templates[code];
    for (const problem of typeof template === 'string' ? notificationTemplateProblems(template, code) : []) {
      report(['templates', code], problem);
    }
  }
}

/** Returns the ids of all organizations; null if the file of one cannot be read, so that its id may be unknown. */
function organizationIds(root: RawSettings, { files }: OrganizationsDocument): readonly string[] | null {
  if ([...files.values()].some(({ index }) => index === null)) {
    return null;
  }
  return asList(root.organizations).flatMap((each) => {
    const { id } = asMapping(each);
    return typeof id === 'string' ? [id] : [];
  });
}
