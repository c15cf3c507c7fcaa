/** Masks secrets in URLs: user info, and query parameters, fragments and path segments that grant access. */

/** Returns the replacement of a secret. */
export type Mask = (secret: string) => string;

/** Longest scheme that is recognized before `://`. */
const MAX_SCHEME_LENGTH = 20;
/** Maximum nesting of URLs inside URLs that is searched. */
const DEEPEST = 3;

/**
 * Replaces a secret by a digest, so that secrets can be distinguished but not read. Masking it again changes nothing.
 */
const digestMask: Mask = (secret) => {
  // Loaded only here, because every command imports this file and few find a secret.
  const { hash } = process.getBuiltinModule('node:crypto');
  return `sha256-${hash('sha256', secret).slice(0, 12)}`;
};
const DIGEST = /^sha256-[0-9a-f]{12}$/;

/**
 * Masks the secrets of every URL in a text. Takes linear time.
 */
export function maskUrls(text: string, mask: Mask = digestMask): string {
  return text.includes('://') ? maskAll(text, mask, 0) : text;
}

function maskAll(text: string, mask: Mask, depth: number): string {
  return isOneUrl(text) ? maskOneUrl(text, mask, depth) : maskEach(text, mask, depth);
}

/** Masks the secrets of a text that is one URL, read as parsers do: spaces are kept, line breaks removed. */
function maskOneUrl(text: string, mask: Mask, depth: number): string {
  const url = text.replaceAll(/[\t\n\r]/g, '');
  const shown = maskUrl(url, url.indexOf('://') + 3, mask, depth);
  return shown === url ? text : shown;
}

function isOneUrl(text: string): boolean {
  return text.indexOf('://') <= MAX_SCHEME_LENGTH && !/\s\S*:\/\//.test(text) && URL.canParse(text);
}

function maskEach(text: string, mask: Mask, depth: number): string {
  let out = '';
  let from = 0;
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', from)) {
    const end = endOfUrl(text, at + 3);
    const start = startOfUrl(text, at, from);
    out += text.slice(from, start) + maskUrl(text.slice(start, end), at + 3 - start, mask, depth);
    from = end;
  }
  return out + text.slice(from);
}

function startOfUrl(text: string, at: number, from: number): number {
  let start = at;
  while (start > from && at - start < MAX_SCHEME_LENGTH && /[a-z0-9+.-]/i.test(text[start - 1] ?? '')) {
    start -= 1;
  }
  return start;
}

/** Returns the index of the next character that cannot be part of a URL. */
function endOfUrl(text: string, from: number): number {
  STOP.lastIndex = from;
  return STOP.exec(text)?.index ?? text.length;
}
const STOP = /[\s<>"`\p{Cc}]/gu;

/** Masks one URL; `authority` is the offset of its user info and host. */
function maskUrl(url: string, authority: number, mask: Mask, depth: number): string {
  const rest = url.slice(authority);
  const end = rest.search(/[/?#\\]/);
  const host = end < 0 ? rest : rest.slice(0, end);
  const at = host.lastIndexOf('@');
  const user = host.slice(0, Math.max(0, at));
  const shown = at < 0 ? host : `${masked(user, mask)}${host.slice(at)}`;
  const after = end < 0 ? '' : maskAfterHost(rest.slice(end), host.slice(at + 1).toLowerCase(), mask, depth);
  // If the replacement is empty, the separator is removed too.
  return url.slice(0, authority) + shown.replace(/^@/, '') + after;
}

function masked(secret: string, mask: Mask): string {
  return secret === '' || isPlaceholder(secret) ? secret : mask(secret);
}

function maskAfterHost(text: string, host: string, mask: Mask, depth: number): string {
  const [, path = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text) ?? [];
  return (
    maskPath(path, host, mask) +
    (query === '' ? '' : `?${maskParameters(query.slice(1), mask, depth)}`) +
    (fragment === '' ? '' : `#${maskParameters(fragment.slice(1), mask, depth)}`)
  );
}

/** Masks parameters such as `a=1&token=x` whose name or value looks like a secret. */
function maskParameters(text: string, mask: Mask, depth: number): string {
  return text
    .split('&')
    .map((part) => maskParameter(part, mask, depth))
    .join('&');
}

function maskParameter(part: string, mask: Mask, depth: number): string {
  const value = secretValueAt(part);
  if (value !== null) {
    return part.slice(0, value) + masked(part.slice(value), mask);
  }
  const at = part.indexOf('=') + 1;
  const [name, own] = [part.slice(0, Math.max(0, at - 1)), part.slice(at)];
  const plain = decoded(own);
  const isSecret =
    (looksSecret(plain) && !IDENTIFIERS.test(name)) ||
    (depth < DEEPEST && plain.includes('://') && maskAll(plain, mask, depth + 1) !== plain);
  return isSecret ? part.slice(0, at) + masked(own, mask) : part;
}

/** Returns the offset of the value after the first secret name, or null. Separators can also be `;` or `?`. */
function secretValueAt(part: string): number | null {
  let from = 0;
  for (const { 0: sign, index } of part.matchAll(/[=;?]/g)) {
    if (sign === '=' && isSecretName(decoded(part.slice(from, index)))) {
      return index + 1;
    }
    from = index + 1;
  }
  return null;
}

/** Masks path segments that grant access, and matrix parameters (`;token=x`). */
function maskPath(path: string, host: string, mask: Mask): string {
  const parts = path.split('/');
  return parts
    .map((part, at) => {
      const [own = '', ...parameters] = part.split(';');
      const isSecret = KNOWN.test(decoded(own)) || isSecretPlace(parts, at, host);
      const matrix = parameters.map((each) => `;${maskParameter(each, mask, DEEPEST)}`).join('');
      return (isSecret ? masked(own, mask) : own) + matrix;
    })
    .join('/');
}

/** Returns true for a segment after `token` or `secret`, and for the last segments of a webhook URL. */
function isSecretPlace(parts: readonly string[], at: number, host: string): boolean {
  const [part = '', before = '', first] = [parts[at], parts[at - 1], parts[1]];
  const isWebhook = (host === 'hooks.slack.com' && at >= 4) || (first === 'api' && parts[2] === 'webhooks' && at >= 4);
  return part !== '' && (isWebhook || (/^(?:token|secret)s?$/i.test(before) && part.length >= 8));
}

/** Names of parameters with a secret, without word separators. */
const SECRET_NAMES =
  /token|secret|signature|passw|passphrase|credential|apikey|accesskey|privatekey|authkey|jwt|bearer|sessionid|subscriptionkey/;
const WHOLE_SECRET_NAMES = /^(?:sig|key|auth|authorization|pass|pwd|sid|session|oauth|x?authorization)$/;
/** Names of long values that are not secret. */
const IDENTIFIERS = /^(?:ref|sha|commit|rev|revision|version|v|branch|tag|etag|hash|checksum|digest|id|[a-z]+_?id)$/i;

function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return (SECRET_NAMES.test(plain) && plain !== 'tokentype') || WHOLE_SECRET_NAMES.test(plain);
}

/** Published prefixes of keys, and JSON Web Tokens. */
const KNOWN =
  /^(?:gh[oprsu]_|github_pat_|gl[a-z]+-|xox[a-z]-|xapp-|sk[-_]|rk_|pk_live_|AKIA|ASIA|AIza|ya29\.|eyJ[\w-]+\.|shp[a-z]+_|npm_|pypi-|dop_v1_|hf_|lin_api_|figd_|gb_api_|bot\d+:|SG\.)[\w.~+/=:-]{6,}$/;

/** Returns true if a value looks generated: hexadecimal, or with upper case, lower case and digits. */
function looksSecret(value: string): boolean {
  const hasAll = () => [/^[\w+/=.~-]+$/, /[a-z]/, /[A-Z]/, /\d/].every((part) => part.test(value));
  return KNOWN.test(value) || /^[0-9a-f]{32,}$/i.test(value) || (value.length >= 20 && hasAll());
}

/** Returns true for a placeholder of a secret, or a masked secret. */
function isPlaceholder(value: string): boolean {
  const text = decoded(value);
  return (
    DIGEST.test(text) ||
    /^(?:<[^<>]*>|\{[^{}]*\}|\{\{[^{}]*\}\}|\$\{?\w+\}?|\[\w+\]|[*.•…x]+|your[-_]\w+|USER:PASSWORD)$/i.test(text)
  );
}

function decoded(text: string): string {
  if (!text.includes('%')) {
    return text;
  }
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Masks every string in a JSON value, at any depth. Returns the same value if nothing is secret. */
export function maskUrlsIn<T>(value: T, mask: Mask = digestMask): T {
  if (typeof value === 'string') {
    return maskUrls(value, mask) as T;
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => maskUrlsIn(item, mask));
    return items.some((item, index) => item !== value[index]) ? (items as T) : value;
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const entries = Object.entries(value).map(
    ([name, member]) => [maskUrls(name, mask), maskUrlsIn(member, mask)] as const,
  );
  const isSame = entries.every(([name, member]) => (value as Record<string, unknown>)[name] === member);
  return isSame ? value : (Object.fromEntries(entries) as T);
}

/** Returns true if a value contains a URL with a secret, at any depth. */
export function hasUrlSecrets(value: unknown): boolean {
  return maskUrlsIn(value) !== value;
}
