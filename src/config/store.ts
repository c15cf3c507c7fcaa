/** Settings of the place where state is stored, and of the leases that replicas take there. */

import { dirname } from 'node:path';
import * as z from 'zod';
import { CLOCK_DRIFT } from '../core/clock.ts';
import { isPostgresUrl, isUrl, nameDatabase, parsePostgresUrl } from '../core/postgres-url.ts';
import { choice, count, positive, section, text } from './settings.ts';

/** A state file, which one process uses. */
interface FileStoreConfig {
  readonly path: string;
  readonly url?: undefined;
}

/** A PostgreSQL database, which several replicas can share. */
interface PostgresStoreConfig {
  readonly path?: undefined;
  /** A secret, because it contains the password. */
  readonly url: string;
  /** Maximum number of connections of one process. */
  readonly pool: number;
  /** Certificates of the authorities that the server's certificate may come from, as PEM; undefined: those of Node.js. */
  readonly ca?: string | undefined;
}

/** Place of the state. */
export type StoreConfig = FileStoreConfig | PostgresStoreConfig;

const DEFAULT_PATH = 'octavo.db';
const DEFAULT_POOL = 10;

/** Directory of the control socket and the checkouts next to the configuration file, if there is no state file. */
const DEFAULT_RUNTIME = 'octavo-runtime';

/** Schema of `store`: a path or a URL, or a mapping. */
export function storeSchema() {
  const mapping = z.strictObject({
    path: filePath().optional(),
    url: databaseUrl().optional(),
    pool: count(1, 1_000).optional(),
    ca: text('certificates as PEM, preferably by a reference to a file').optional(),
  });
  return z
    .preprocess((value) => (typeof value === 'string' ? toMapping(value) : (value ?? {})), mapping)
    .transform(({ path, url, pool, ca }, context): StoreConfig => {
      if (url !== undefined && path === undefined) {
        return { url, pool: pool ?? DEFAULT_POOL, ca };
      }
      const problem =
        url === undefined
          ? 'has settings of a database without store.url; set store.url, or leave out pool and ca'
          : 'names both a state file and a database; keep either path or url';
      if (url !== undefined || pool !== undefined || ca !== undefined) {
        context.issues.push({ code: 'custom', input: {}, params: { problem } });
      }
      return { path: path ?? DEFAULT_PATH };
    });
}

/** Returns the directory of the control socket and the checkouts. */
export function runtimeDirectory(store: StoreConfig, chosen: string | undefined): string {
  return chosen ?? (store.path === undefined ? DEFAULT_RUNTIME : dirname(store.path));
}

/** Returns the place of the state for messages, without its password. */
export function storeName(store: StoreConfig): string {
  const url = store.url === undefined ? store.path : parsePostgresUrl(store.url);
  return typeof url === 'string' ? url : nameDatabase(url);
}

function toMapping(value: string) {
  return isPostgresUrl(value) ? { url: value } : { path: value };
}

function filePath() {
  return text('the state file, such as octavo.db').transform((input, context): string => {
    if (isUrl(input)) {
      const problem =
        'is a URL, not the path of a state file; set store.url to postgres://USER:PASSWORD@HOST:5432/DATABASE';
      context.issues.push({ code: 'custom', input, params: { problem } });
    }
    return input;
  });
}

function databaseUrl() {
  return text('postgres://USER:PASSWORD@HOST:5432/DATABASE').transform((input, context): string => {
    const url = parsePostgresUrl(input);
    if (typeof url === 'string') {
      context.issues.push({ code: 'custom', input, params: { problem: url } });
    }
    return input;
  });
}

/** Schema of `fleet`. See docs/fleet.md. */
export function fleetSchema() {
  return section({
    lease: positive('the time after which others take over from a replica that failed, such as 60s').prefault('60s'),
    weight: count(1, 1000).prefault(1),
    split: choice(['token', 'organization']).prefault('token'),
  });
}

/** Part of a lease that is left at worst, because replicas renew after a quarter of it, and clocks drift. */
const LEFT = 0.75 - CLOCK_DRIFT;
/** Milliseconds by which a lease must outlast the timeout of a request that changes something. */
export const SEND_MARGIN = 2000;

/**
 * Returns the shortest lease in milliseconds with which a replica can send requests between two renewals, if a request may
 * take `timeout` milliseconds.
 */
export function shortestLease(timeout: number): number {
  return Math.ceil((timeout + SEND_MARGIN) / LEFT);
}
