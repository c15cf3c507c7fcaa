/** Checks for URLs that would send credentials over a network unencrypted. */
import { isObject } from '../../core/json.ts';
import { isLoopback } from '../../core/loopback.ts';
import type { ConfigDocument, Path } from './document.ts';
import { readFlag } from './values.ts';

/** Returns true for an `http:` URL of another machine. */
export function isPlainHttp(url: unknown): url is string {
  return typeof url === 'string' && /^http:\/\//i.test(url) && URL.canParse(url) && !isLoopback(url);
}

export const PLAIN_HTTP = 'would send credentials unencrypted over http; use https://';

/** Returns a problem for each plain HTTP address in a configuration, unless `platform.insecure` allows them. */
export function plainHttpProblems(document: ConfigDocument) {
  const root = isObject(document.values) ? document.values : {};
  const platform = isObject(root.platform) ? root.platform : {};
  if (readFlag(platform.insecure) === true) {
    return [];
  }
  return [...addresses(document.values, [])].map((path) =>
    document.problemAt(path, `${PLAIN_HTTP}, or set platform.insecure: true on a network that you trust`),
  );
}

/** Finds every plain HTTP `baseUrl` and `apiUrl`, and every other plain HTTP URL with a user or a password. */
function* addresses(value: unknown, path: Path): Iterable<Path> {
  if (isPlainHttp(value)) {
    const { username, password } = new URL(value);
    if (path.at(-1) === 'baseUrl' || path.at(-1) === 'apiUrl' || username !== '' || password !== '') {
      yield path;
    }
  } else if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) {
      yield* addresses(member, [...path, index]);
    }
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      yield* addresses(member, [...path, name]);
    }
  }
}
