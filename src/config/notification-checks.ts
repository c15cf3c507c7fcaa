/** Checks of the settings of notifications that depend on each other or on other sections. */
import { CONDITION_CODES, EVENT_CODES } from '../core/condition-codes.ts';
import type { Problem } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { readSigningKey } from '../core/standard-signature.ts';
import { didYouMean } from '../core/text/suggest.ts';
import type { OrganizationsDocument } from './file/organization-files.ts';
import type { Path } from './model/document.ts';
import { isPlainHttp, PLAIN_HTTP } from './model/plain-http.ts';
import { readFlag } from './model/values.ts';
import { notificationTemplateProblems } from './notification-template.ts';
import { CHANNEL_KINDS } from './notifications.ts';

const AT: Path = ['notifications'];
/** Names are part of commands, links and metrics. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$/;

/** Settings as they are written: every check also runs if other settings are invalid. */
type Raw = Readonly<Record<string, unknown>>;
type ReportProblem = (path: Path, message: string, key?: string) => void;

/** Returns the problems of the settings of notifications, each with its solution. */
export function notificationProblems(document: OrganizationsDocument): readonly Problem[] {
  const root = asMapping(document.values);
  const notifications = asMapping(root.notifications);
  const channels = asMapping(notifications.channels);
  const problems: Problem[] = [];
  const report: ReportProblem = (path, message, key) =>
    problems.push(document.problemAt([...AT, ...path], message, key));
  const isInsecure = readFlag(asMapping(root.platform).insecure) === true;
  for (const [name, channel] of Object.entries(channels)) {
    checkChannel(name, asMapping(channel), isInsecure, report);
  }
  checkNames(notifications, channels, organizationIds(root, document), report);
  checkRouted(notifications, Object.keys(channels), report);
  checkTemplates(asMapping(notifications.templates), report);
  return problems;
}

function checkChannel(name: string, channel: Raw, isInsecure: boolean, report: ReportProblem): void {
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
    for (const key of ['url', 'apiUrl'].filter((each) => isPlainHttp(settings[each]) && !isInsecure)) {
      report([...at, kind, key], `${PLAIN_HTTP}, or set platform.insecure: true on a network that you trust`);
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

function checkMail({ server, user, password }: Raw, at: Path, report: ReportProblem): void {
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
  notifications: Raw,
  channels: Raw,
  organizations: readonly string[] | null,
  report: ReportProblem,
): void {
  const known = Object.keys(channels);
  for (const [at, name] of namesIn(notifications, 'routes', 'channels')) {
    checkKnown(name, known, 'configured channel', at, report);
  }
  for (const [at, name] of namesIn(notifications, 'routes', 'organizations')) {
    checkKnown(name, organizations ?? [name], 'configured organization', at, report);
  }
  for (const [at, name] of namesIn(notifications, 'quietHours', 'channels')) {
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
function checkRouted(notifications: Raw, channels: readonly string[], report: ReportProblem): void {
  const routed = new Set(namesIn(notifications, 'routes', 'channels').map(([, name]) => name));
  for (const name of channels.filter((each) => !routed.has(each))) {
    report(
      ['channels'],
      `is in no route, so it would never be sent anything; add it to notifications.routes, such as - channels: [${name}]`,
      name,
    );
  }
}

function checkTemplates(templates: Raw, report: ReportProblem): void {
  for (const code of [...CONDITION_CODES, ...EVENT_CODES]) {
    const template = templates[code];
    for (const problem of typeof template === 'string' ? notificationTemplateProblems(template, code) : []) {
      report(['templates', code], problem);
    }
  }
}

/** Returns the strings in a list of each entry of a list, with their paths. */
function namesIn(settings: Raw, list: string, member: string): readonly (readonly [Path, string])[] {
  return listOf(settings[list]).flatMap((entry, index) =>
    listOf(asMapping(entry)[member]).flatMap((name, at) =>
      typeof name === 'string' ? [[[list, index, member, at], name] as const] : [],
    ),
  );
}

/** Returns the ids of all organizations; null if the file of one cannot be read, so that its id may be unknown. */
function organizationIds(root: Raw, { files }: OrganizationsDocument): readonly string[] | null {
  if ([...files.values()].some(({ index }) => index === null)) {
    return null;
  }
  return listOf(root.organizations).flatMap((each) => {
    const { id } = asMapping(each);
    return typeof id === 'string' ? [id] : [];
  });
}

function asMapping(value: unknown): Raw {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
