/** Connections to PostgreSQL: their settings, and the types of their values. See docs/fleet.md#set-up. */
import { hostname } from 'node:os';
import type { ClientConfig } from 'pg';
import { StoreError } from '../../core/errors.ts';
import { type PostgresUrl, parsePostgresUrl } from '../../core/postgres-url.ts';

/** Database and limits. Times are in milliseconds. */
export interface PostgresOptions {
  /** With its password, so it is a secret. */
  readonly url: string;
  /** Largest number of connections of this process. */
  readonly pool: number;
  /** Certificates of the authorities that may sign the server's certificate, as PEM; undefined: those of Node.js. */
  readonly ca?: string | undefined;
  /** Longest wait for a connection; default: 10 s. */
  readonly connectTimeout?: number | undefined;
  /** Longest time of a statement; default: 30 s. */
  readonly statementTimeout?: number | undefined;
  /** Longest time that a transaction waits for its own process; default: 4 s. */
  readonly idleTimeout?: number | undefined;
  /** Longest silence of a connection until the server is asked whether it runs the statement; default: 4 s. */
  readonly silenceLimit?: number | undefined;
}

const CONNECT_TIMEOUT = 10_000;
export const STATEMENT_TIMEOUT = 30_000;
/** Time until a connection is given up, over the time until the server ends a statement by itself. */
const ANSWER_LIMIT = 7 / 6;
const KEEPALIVE_DELAY = 10_000;

/** Longest name that PostgreSQL keeps. */
const MAX_NAME = 63;

/** Parses the URL of the options. Throws StoreError if it cannot be used. */
export function readUrl(options: PostgresOptions): PostgresUrl {
  const url = parsePostgresUrl(options.url);
  if (typeof url === 'string') {
    throw new StoreError(`store.url ${url}`);
  }
  return url;
}

/**
 * Returns the settings of one connection. The name is the address of the replica. There are no other startup parameters,
 * because PgBouncer refuses them: each transaction sets its own.
 */
export function connectionConfig(options: PostgresOptions): ClientConfig {
  const { host, port, database, user, password, sslMode } = readUrl(options);
  const verifies = sslMode === 'verify-full' || sslMode === 'verify-ca';
  const ca = options.ca === undefined ? {} : { ca: options.ca };
  return {
    ...{ host, port, database, user, password },
    ssl:
      sslMode === 'disable'
        ? false
        : {
            ...ca,
            rejectUnauthorized: verifies,
            ...(sslMode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
          },
    application_name: `octavo ${hostname()} ${process.pid}`.slice(0, MAX_NAME),
    connectionTimeoutMillis: options.connectTimeout ?? CONNECT_TIMEOUT,
    query_timeout: Math.ceil((options.statementTimeout ?? STATEMENT_TIMEOUT) * ANSWER_LIMIT),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY,
    types: { getTypeParser: ((oid: number) => PARSERS.get(oid) ?? String) as never },
  };
}

const NUMBERS = [20, 21, 23, 700, 701, 1700];
const BOOLEAN = 16;

/** Parsers of values by the id of their type: numbers, also of 64 bits, and 1 or 0 for booleans. The others are texts. */
const PARSERS: ReadonlyMap<number, (text: string) => number> = new Map([
  ...NUMBERS.map((oid) => [oid, toNumber] as const),
  [BOOLEAN, (text: string) => (text === 't' ? 1 : 0)] as const,
]);

function toNumber(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && !Number.isSafeInteger(number) && /^-?\d+$/.test(text)) {
    throw new RangeError('an integer of the database is too large for a number');
  }
  return number;
}
