/** Reads the headers of `-H` and finds the secrets in them. */
import { ConfigError } from '../../core/errors.ts';
import { quote } from '../../core/text/suggest.ts';

/** Headers that the client sets, because they describe the connection or the message. */
const OWN = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** Printable Latin-1 and tabs; other characters cannot be sent, or would start another header. */
const VALUE = /^[\t\x20-\x7e\xa0-\xff]*$/;
/** Headers whose values grant access. */
const SECRET_NAME = /auth|cookie|token|secret|key|password|credential|signature|session/;
/** The scheme of `Authorization` is public; the value after it is secret. */
const SCHEME = /^(\w+)\s+/;

/**
 * Parses `-H` arguments (`name: value`) to values by lower-case name; the last value of a name wins. Throws ConfigError;
 * its message never contains a value.
 */
export function readHeaders(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(given.map(readHeader));
}

function readHeader(text: string): readonly [name: string, value: string] {
  const colon = text.indexOf(':');
  if (colon < 0) {
    throw new ConfigError('-H: expected name:value, such as -H "Prefer: return=minimal"');
  }
  const name = text.slice(0, colon).trim().toLowerCase();
  const value = text.slice(colon + 1).trim();
  if (!NAME.test(name)) {
    throw new ConfigError(`-H: ${quote(name)} is not a valid header name`);
  }
  if (OWN.has(name)) {
    throw new ConfigError(`-H: ${name} cannot be set, because Octavo sets it`);
  }
  if (!VALUE.test(value)) {
    throw new ConfigError(`-H ${name}: the value has characters that are not allowed in a header`);
  }
  return [name, value];
}

/** Returns header values that must not be printed. */
export function secretValues(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => SECRET_NAME.test(name))
    .flatMap(([, value]) => [value, value.replace(SCHEME, '')]);
}
