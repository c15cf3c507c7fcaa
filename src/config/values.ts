/** Readers for values of settings. They return undefined for invalid values. */

import { createRequire } from 'node:module';
import { isObject } from '../core/json.ts';
import { withoutTrailingSlashes } from '../core/url.ts';

/** Loads the cron packages on first use, because most commands do not need them. */
const require = createRequire(import.meta.url);

/** Keys and indexes from the root of the settings. */
export type Path = readonly PropertyKey[];

/** Settings as they are written, for checks that also run if other settings are invalid. */
export type RawSettings = Readonly<Record<string, unknown>>;

/** Returns a mapping of settings; an empty one for anything else. */
export function asMapping(value: unknown): RawSettings {
  return isObject(value) ? value : {};
}

/** Returns a list of settings; an empty one for anything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Yields every text in settings, with its path. */
export function* textsIn(value: unknown, path: Path = []): Iterable<readonly [Path, string]> {
  if (typeof value === 'string') {
    yield [path, value];
  } else if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) {
      yield* textsIn(member, [...path, index]);
    }
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      yield* textsIn(member, [...path, key]);
    }
  }
}

/** Returns the texts at paths in which `*` is any index of a list, in the order of the paths. Blank ones are left out. */
export function textsAt(
  value: unknown,
  ...paths: readonly (readonly string[])[]
): readonly (readonly [Path, string])[] {
  const texts = [...textsIn(value)].filter(([, text]) => text.trim() !== '');
  return paths.flatMap((path) =>
    texts.filter(
      ([at]) =>
        at.length === path.length &&
        at.every((part, index) => (typeof part === 'number' ? path[index] === '*' : path[index] === part)),
    ),
  );
}

/** Public address of the platform's API; paths start with /v1. See docs/platform-notes.md#conventions. */
export const PUBLIC_API = 'https://api.gitbook.com';

/** Address that the server listens on. */
export interface ListenAddress {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** Converts "500ms", "30s", "5m", "2h" or "1d" to milliseconds; undefined for anything else. */
export function readDuration(text: unknown): number | undefined {
  const parts = typeof text === 'string' ? /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) : null;
  const unit = UNITS.get(parts?.[2] ?? '');
  return parts === null || unit === undefined ? undefined : Number(parts[1]) * unit;
}

/** Reads a cron expression of five fields, or six with seconds; undefined for anything else. */
export function readCron(text: unknown): string | undefined {
  const { CronExpressionParser } = require('cron-parser') as typeof import('cron-parser');
  const { default: cron } = require('node-cron') as typeof import('node-cron');
  // The parser would replace missing fields with defaults.
  if (typeof text !== 'string' || ![5, 6].includes(text.trim().split(/\s+/).length)) {
    return undefined;
  }
  try {
    CronExpressionParser.parse(text);
    // Sync windows use cron-parser, schedules use node-cron: both must accept the expression.
    return cron.validate(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Reads an IANA time zone such as "Europe/Berlin"; undefined if this machine does not know it. */
export function readTimezone(text: unknown): string | undefined {
  // Looking up any other zone takes 15 ms the first time.
  if (text === 'UTC') {
    return text;
  }
  try {
    return typeof text === 'string' && new Intl.DateTimeFormat('en', { timeZone: text }) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Reads "127.0.0.1:8080", "[::1]:8080", "localhost:8080" or ":8080" (all interfaces); undefined for anything else. */
export function readListen(text: unknown): ListenAddress | undefined {
  const parts = typeof text === 'string' ? /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s/]*)):(\d{1,5})$/.exec(text) : null;
  const port = Number(parts?.[3]);
  if (parts === null || port > 65_535) {
    return undefined;
  }
  const host = parts[1] ?? parts[2] ?? '';
  return { host: host === '' ? '::' : host, port };
}

/** Reads an http or https URL without user, query or fragment, and removes trailing slashes; otherwise undefined. */
export function readBaseUrl(text: unknown): string | undefined {
  const url = typeof text === 'string' && /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return undefined;
  }
  return withoutTrailingSlashes(url.href);
}

/** Reads a string that is not blank; undefined for anything else. */
export function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Reads a token that fits into a header: visible ASCII. RFC 6750, section 2.1, allows even fewer characters. */
export function readToken(value: unknown): string | undefined {
  return typeof value === 'string' && /^[!-~]+$/.test(value) ? value : undefined;
}

/** Reads an email address; checks its form only. */
export function readEmail(value: unknown): string | undefined {
  return typeof value === 'string' && /^[^\s@]+@[^\s@]+$/.test(value) ? value : undefined;
}

/** Reads a whole number within bounds. Accepts a string of digits too, because `${env:NAME}` returns strings. */
export function readCount(value: unknown, least: number, most: number): number | undefined {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most
    ? number
    : undefined;
}

/** Reads a boolean. Accepts "true" and "false" too, because `${env:NAME}` returns strings. */
export function readFlag(value: unknown): boolean | undefined {
  if (value === true || value === 'true') {
    return true;
  }
  return value === false || value === 'false' ? false : undefined;
}
