/** Collects the secrets of a configuration, which no output may contain. */
import { isObject } from '../../core/json.ts';
import { databasePasswords, isPostgresUrl } from '../../core/postgres-url.ts';
import type { ConfigDocument, Path } from '../model/document.ts';

/** Settings that are not secret: redacting a branch name from the environment would redact parts of most log lines. */
const PUBLIC = [
  /^organizations\.\d+\.(id|scope|requireApproval|prune|limits|selfHeal|schedule|syncWindows)(\.|$)/,
  /^organizations\.\d+\.source\.(directory|git\.(ref|path|pollInterval|recordApplied))$/,
  /^organizations\.\d+\.forge\.(type|apiUrl|repository|statusContext|environment)$/,
  /^organizations\.\d+\.conversations\.(settleDelay|batch|outbox|redact)(\.|$)/,
  /^organizations\.\d+\.conversations\.sources\.\d+\.(name|pollInterval|since|folder)(\.|$)/,
  /^organizations\.\d+\.clusters\.(?!changeRequest\.reviewers)/,
  /^(queue|fleet|server|log|runtime)(\.|$)/,
  /^store\.(path|pool|ca)$/,
  /^ui\.(listen|publicUrl|hosts|session|roles)(\.|$)/,
  /^notifications\.(?!channels\.)/,
  /^notifications\.channels\.[^.]+\.(slack\.(channel|apiUrl)|mail\.(server|user|from|to)|pagerduty\.url)(\.|$)/,
  /^platform\.(baseUrl|user|timeout|insecure)$/,
];

/** Settings that contain a secret or a list of secrets. */
const SECRET = new Set([
  ...['token', 'secret', 'webhookSecret', 'clientSecret', 'refreshToken', 'secrets', 'privateKey'],
  ...['password', 'routingKey'],
]);
/** Kinds of channels whose URL is a secret: anyone who has it can send messages. */
const SECRET_URLS = ['webhook', 'slackWebhook', 'teams'];

/** Path of words, such as `/octavo`. It is not secret on its own: paths of files in the log contain it. */
const PLAIN_PATH = /^(?:\/[a-z]{0,12})+$/;

/** Returns true for the path of a secret, or of a part of one. */
export function isSecretSetting(path: Path): boolean {
  // A URL may be given as a path by mistake.
  const isDatabase = ['store.url', 'store.path'].includes(path.join('.'));
  return path.some((part) => SECRET.has(String(part))) || isSecretUrl(path) || isDatabase;
}

function isSecretUrl([section, list, , kind, name]: Path): boolean {
  const isChannel = section === 'notifications' && list === 'channels';
  return isChannel && name === 'url' && SECRET_URLS.includes(String(kind));
}

/** Returns the values that were read from the environment or a file, secrets in the file itself, and passwords in URLs. */
export function collectSecrets(document: ConfigDocument): ReadonlySet<string> {
  const secrets = new Set<string>();
  for (const { path, value } of document.substituted) {
    if (value !== '' && !isPublic(path, document)) {
      secrets.add(value);
    }
  }
  collectBelow(document.values, [], secrets);
  return secrets;
}

function isPublic(path: Path, { values }: ConfigDocument): boolean {
  const name = path.join('.');
  const isStateFile = name === 'store' && isObject(values) && !isPostgresUrl(String(values.store));
  return isStateFile || PUBLIC.some((place) => place.test(name));
}

function collectBelow(value: unknown, path: Path, secrets: Set<string>): void {
  if (typeof value === 'string') {
    for (const secret of secretsIn(value, path).filter((text) => text !== '')) {
      secrets.add(secret);
    }
  } else if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) {
      collectBelow(member, [...path, index], secrets);
    }
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      collectBelow(member, [...path, key], secrets);
    }
  }
}

/** Returns the secrets in a value: all of it, its password if it is a URL, or the path of a secret URL. */
function secretsIn(value: string, path: Path): readonly string[] {
  const name = path.findLast((part) => typeof part === 'string') ?? '';
  const url = URL.parse(value);
  const own = url?.password ?? '';
  const passwords = [own, decodePassword(own), ...databasePasswords(value)];
  if (isSecretUrl(path)) {
    const place = url === null ? '/' : `${url.pathname}${url.search}`;
    return [...passwords, value, ...(PLAIN_PATH.test(place) ? [] : [place])];
  }
  return SECRET.has(String(name)) ? [...passwords, value] : passwords;
}

function decodePassword(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
