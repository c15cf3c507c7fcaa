/**
 * Protection of secrets: values that no output may contain, addresses that would send them unencrypted, and limits of a
 * configuration whose author may not be trusted.
 */

import type { Problem } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { databasePasswords, isPostgresUrl } from '../core/postgres-url.ts';
import { isLoopback } from '../core/url.ts';
import type { ConfigDocument } from './document.ts';
import { asMapping, type Path, readFlag, textsIn } from './values.ts';

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
  'token',
  'secret',
  'webhookSecret',
  'clientSecret',
  'refreshToken',
  'secrets',
  'value',
  'privateKey',
  'password',
  'routingKey',
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
  for (const [path, value] of textsIn(document.values)) {
    for (const secret of secretsIn(value, path).filter((text) => text !== '')) {
      secrets.add(secret);
    }
  }
  return secrets;
}

function isPublic(path: Path, { values }: ConfigDocument): boolean {
  const name = path.join('.');
  const isStateFile = name === 'store' && isObject(values) && !isPostgresUrl(String(values.store));
  return isStateFile || PUBLIC.some((place) => place.test(name));
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

/** Returns true for an `http:` URL of another machine. */
export function isPlainHttp(url: unknown): url is string {
  return typeof url === 'string' && /^http:\/\//i.test(url) && URL.canParse(url) && !isLoopback(url);
}

/** Returns true if credentials may be sent unencrypted. */
export function isInsecure({ values }: ConfigDocument): boolean {
  return readFlag(asMapping(asMapping(values).platform).insecure) === true;
}

export const PLAIN_HTTP = 'would send credentials unencrypted over http; use https://';
/** Problem of a setting with a plain HTTP URL. */
export const PLAIN_HTTP_SETTING = `${PLAIN_HTTP}, or set platform.insecure: true on a network that you trust`;

/**
 * Returns a problem for every plain HTTP `baseUrl` and `apiUrl`, and every other plain HTTP URL with a user or a password,
 * unless `platform.insecure` allows them.
 */
export function plainHttpProblems(document: ConfigDocument) {
  return isInsecure(document)
    ? []
    : [...textsIn(document.values)]
        .filter(([path, value]) => {
          const { username, password } = isPlainHttp(value) ? new URL(value) : { username: '', password: '' };
          const isAddress = path.at(-1) === 'baseUrl' || path.at(-1) === 'apiUrl';
          return isPlainHttp(value) && (isAddress || username !== '' || password !== '');
        })
        .map(([path]) => document.problemAt(path, PLAIN_HTTP_SETTING));
}

/** `named`: by `--config` or `OCTAVO_CONFIG`. `found`: `config.yaml` in the working directory, not named explicitly. */
export type ConfigTrust = 'named' | 'found';

/** Variables that a found configuration may use. Other variables belong to other programs. */
const OWN_VARIABLE = /^OCTAVO_/;

/** The setting that determines where the token is sent. */
const ADDRESS = 'platform.baseUrl';

/**
 * Returns the limits of the found configuration `file`. It may use variables that start with `OCTAVO_`, and no files.
 * Values from the environment are sent only to an address from the environment, because the author of the file chose
 * every other address.
 */
export function foundLimits(file: string) {
  const advice = `pass --config ${file}, or set OCTAVO_CONFIG, to trust this file`;
  return {
    refuse(scheme: 'env' | 'file', name: string): string | null {
      if (scheme === 'env' && OWN_VARIABLE.test(name)) {
        return null;
      }
      const what =
        scheme === 'env'
          ? `the variable ${name} is not read: its name does not start with OCTAVO_`
          : `${name} is not read`;
      return `${what}, because this configuration was not named explicitly; ${advice}`;
    },
    /** Always throws, because no other file may be read. */
    readFile(): never {
      throw new Error(`this configuration was not named explicitly; ${advice}`);
    },
    examine({ substituted, problemAt }: ConfigDocument): readonly Problem[] {
      const isFromEnvironment = substituted.some(({ path, isWhole }) => isWhole && nameOf(path) === ADDRESS);
      return isFromEnvironment
        ? []
        : substituted.map(({ path }) =>
            problemAt(
              path,
              `comes from the environment, but would be sent to the ${ADDRESS} of a file that was not named explicitly; ${advice}`,
            ),
          );
    },
  };
}

function nameOf(path: Path): string {
  return path.map(String).join('.');
}
