/** Finds links that grant access to anyone who has them, by their secret: a parameter or a random part of the path. */
import hosts from '../data/access-hosts.json' with { type: 'json' };
import type { Finder } from '../model/found.ts';
import { matchesIn } from '../model/matches.ts';
import { looksDrawn, patternOf } from './keys.ts';

/** After a scheme, without one, and the path in a request line. */
const LINK =
  /(?::\/\/(?:[^\s/?#"'<>`\\@]{0,200}@)?|(?<![\w@/.:-])(?=[a-z0-9.-]{4,100}\.[a-z]{2,6}\/)|(?<=(?:GET|POST|PUT|PATCH|DELETE) )(?=\/))([a-z0-9.-]{0,255})(?::\d{1,5})?([/?#][^\s"'<>`\\|^{}]{3,4096})/dgi;
/** Signature of a link to a file: everything after the host is the key. */
const SIGNED = /[?&](?:x-(?:amz|goog|oss)-signature|awsaccesskeyid|googleaccessid|key-pair-id)=/i;
const PARAMETER =
  /[?&#;](?:[a-z0-9]{1,20}[-_.]){0,3}(?:token|jwt|auth|access|key|rlkey|code|secret|sig|hash|session|sid|ticket|otp|magic|invit(?:e|ation)|pwd|password|share|oobcode|state)=([^&#;\s]{6,2048})/dgi;
/** Words before the secret part of a path. */
const WORD =
  /^(?:attachments?|uploads?|download|object|share[ds]?|join)$|reset|password|recover|magic|invit|verif|confirm|activat|unsubscribe|opt-?out|one-?time|login|sign-?in|token|guest|secret|hooks?$/i;
/** Pages of the same hosts. */
const PUBLIC =
  /^(?:index\.html?|help|about|pricing|login|signup|docs?|terms|privacy|legal|blog|support|download|features|your[-_]|example|xxx)/i;
const PLACEHOLDER_PART = /[?&/=](?:\[|%5B[A-Z]|\$|:[a-z]{2})/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i;
const WORDS = /^(?:[a-z]{1,40}[-_.]){0,40}[a-z]{1,40}(?:[-_.]?\d{1,4})?(?:\.[a-z]{2,5})?$/i;

/** A link is removed from the secret part of its path on, or loses the values of its parameters: the host stays visible. */
export const findAccessLinks: Finder = ({ text }) =>
  (text.includes('/') ? matchesIn(text, LINK) : []).flatMap(({ 1: host = '', 2: rest = '', indices }) => {
    const offset = indices?.[2]?.[0] ?? 0;
    const tail = (rest.split(/\]\(|\*\*|:\/\//, 1)[0] as string).replace(/[.,;:!?)\]*_~]{1,8}$/, '');
    return secretsIn(host.toLowerCase(), tail).map(([from, to]) => {
      const [start, end] = [offset + from, offset + to];
      return { type: 'secret', label: 'SECRET', start, end, key: text.slice(start, end), rule: 'access link' };
    });
  });

const PATHS = new Map(hosts.flatMap(({ hosts: names, path }) => names.map((name) => [name, path] as const)));

/**
 * Returns where the key to a file starts on hosts of attachments, file shares and recordings; -1 if it is none. A host
 * stands for its subdomains, and some vendors number theirs: `acme.intercom-attachments-7.com`.
 */
function keyStart(host: string, tail: string): number {
  for (let name = host.replace(/-\d{1,3}\./, '.'); name.includes('.'); name = name.slice(name.indexOf('.') + 1)) {
    const path = PATHS.get(name);
    const matcher = path === undefined ? undefined : patternOf(path).matcher(tail);
    if (matcher?.lookingAt() === true) {
      const start = matcher.groupCount() > 0 && matcher.start(1) >= 0 ? matcher.start(1) : matcher.end();
      return tail.length - start >= 4 && !PUBLIC.test(tail.slice(start)) ? start : -1;
    }
  }
  return -1;
}

/** Returns the positions of the secrets of a link, in the text after its host. */
function secretsIn(host: string, tail: string): readonly (readonly [number, number])[] {
  if (PLACEHOLDER_PART.test(tail) && !/\d{3}/.test(tail)) {
    return [];
  }
  const start = keyStart(host, tail);
  if (start >= 0) {
    return [[start, tail.length]];
  }
  const query = tail.search(/[?#]/);
  const path = query < 0 ? tail : tail.slice(0, query);
  if (
    query >= 0 &&
    (SIGNED.test(tail) || (/[?&]sig=/.test(tail) && /[?&]s[evrp]=/.test(tail))) &&
    /=[\w%~+/.-]{12}/.test(tail)
  ) {
    return [[1, tail.length]];
  }
  const segments = path.split('/');
  for (let index = 1, at = 1; index < segments.length; index += 1) {
    const segment = segments[index] as string;
    if (WORD.test(segments[index - 1] as string) ? isRandom(segment) : segment.length >= 22 && looksDrawn(segment)) {
      return [[at, tail.length]];
    }
    at += segment.length + 1;
  }
  return matchesIn(tail.slice(Math.max(query, 0)), PARAMETER).flatMap(({ 1: value = '', indices }) => {
    const [from = 0, to = 0] = indices?.[1] ?? [];
    return query >= 0 && isRandom(value) ? [[query + from, query + to] as const] : [];
  });
}

/** Reports whether a part is random: an id, a hash, base64, but not words with hyphens and dates. */
function isRandom(value: string): boolean {
  const digits = value.match(/\d/g)?.length ?? 0;
  const words = value.split(/[-_.]/).filter((part) => /^[a-z]{3,}$/i.test(part)).length;
  return (
    UUID.test(value) ||
    (value.length >= 10 &&
      (digits >= 2 || value.length >= 20) &&
      /[a-z]\W{0,3}\w?/i.test(value) &&
      !WORDS.test(value) &&
      words < 3)
  );
}
