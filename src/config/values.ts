import { createRequire } from 'node:module';
import { withoutTrailingSlashes } from '../core/trim.ts';

/** Loaded when they are first needed: a command that runs once looks at no schedule but one that is written. */
const require = createRequire(import.meta.url);

/** Public address of the platform's API; paths start with /v1. See docs/platform-notes.md#conventions. */
export const PUBLIC_API = 'https://api.gitbook.com';

/** Where the server listens. */
export interface ListenAddress {
  readonly host: string;
  /** 0 lets the machine choose. */
  readonly port: number;
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** "30s", "5m", "2h", "1d", also "500ms", in milliseconds; undefined for anything else. */
export function readDuration(text: unknown): number | undefined {
  const parts = typeof text === 'string' ? /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) : null;
  const unit = UNITS.get(parts?.[2] ?? '');
  return parts === null || unit === undefined ? undefined : Number(parts[1]) * unit;
}

/** A cron expression of five fields, or six with seconds; undefined for anything else. */
export function readCron(text: unknown): string | undefined {
  const { CronExpressionParser } = require('cron-parser') as typeof import('cron-parser');
  const { default: cron } = require('node-cron') as typeof import('node-cron');
  // What has fewer fields would be filled up with defaults.
  if (typeof text !== 'string' || ![5, 6].includes(text.trim().split(/\s+/).length)) {
    return undefined;
  }
  try {
    CronExpressionParser.parse(text);
    // One looks back for the windows, the other fires: both must know it.
    return cron.validate(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** An IANA time zone such as "Europe/Berlin"; undefined for what this machine does not know. */
export function readTimezone(text: unknown): string | undefined {
  try {
    return typeof text === 'string' && new Intl.DateTimeFormat('en', { timeZone: text }) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** "127.0.0.1:8080", "[::1]:8080", "localhost:8080", or ":8080" for every interface; undefined for anything else. */
export function readListen(text: unknown): ListenAddress | undefined {
  const parts = typeof text === 'string' ? /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s/]*)):(\d{1,5})$/.exec(text) : null;
  const port = Number(parts?.[3]);
  if (parts === null || port > 65_535) {
    return undefined;
  }
  const host = parts[1] ?? parts[2] ?? '';
  return { host: host === '' ? '::' : host, port };
}

/** An http or https URL without user, query or fragment, its trailing slashes removed; undefined for anything else. */
export function readBaseUrl(text: unknown): string | undefined {
  const url = typeof text === 'string' && /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return undefined;
  }
  return withoutTrailingSlashes(url.href);
}

/** A text with something in it; undefined for anything else. */
export function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A token as a header can hold it: visible ASCII (RFC 6750, section 2.1, has fewer characters still). */
export function readToken(value: unknown): string | undefined {
  return typeof value === 'string' && /^[!-~]+$/.test(value) ? value : undefined;
}

/** An email address, as far as one can tell without writing to it. */
export function readEmail(value: unknown): string | undefined {
  return typeof value === 'string' && /^[^\s@]+@[^\s@]+$/.test(value) ? value : undefined;
}

/** A whole number within bounds, also as a text of digits, since `${env:NAME}` gives texts. */
export function readCount(value: unknown, least: number, most: number): number | undefined {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most
    ? number
    : undefined;
}

/** True or false, also as a text, since `${env:NAME}` gives texts. */
export function readFlag(value: unknown): boolean | undefined {
  if (value === true || value === 'true') {
    return true;
  }
  return value === false || value === 'false' ? false : undefined;
}
