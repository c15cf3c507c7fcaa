/** Errors of PostgreSQL: turns them into a StoreError with advice and without secrets. */
import { messageOf, StoreError } from '../../core/errors.ts';
import { nameDatabase, type PostgresUrl } from '../../core/postgres-url.ts';
import { plainLine } from '../../core/text/plain-line.ts';
import { createRedactor } from '../../redact.ts';

const MAX_MESSAGE = 200;

const UNREACHABLE =
  'cannot be reached; check that the server runs and that store.url names it; a running daemon connects again by itself';
const BUSY = 'has no free connection; lower store.pool, or raise max_connections of the server';
const REFUSED = 'refuses the user or the password; check store.url and pg_hba.conf of the server';
const UNTRUSTED =
  'has a certificate that is not trusted; set store.ca to the certificate of its authority, and use a host name that the certificate has';
const NO_TLS =
  'does not support encrypted connections; enable TLS on the server, or set sslmode=disable in store.url on a network that you trust';
const TOO_SLOW =
  'did not answer in time; check its load and its locks (pg_stat_activity); a running daemon tries again by itself';
const DAMAGED = 'is damaged; restore a backup, see docs/fleet.md#backup-and-restore';
const NO_TABLES =
  'has lost tables of the schema "octavo"; restore a backup, see docs/fleet.md#backup-and-restore, or drop the schema to start empty';

/** Advice by SQLSTATE, by its first two characters, or by a code of Node.js. */
const ADVICE: Readonly<Record<string, string>> = {
  '08': UNREACHABLE,
  '57P01': UNREACHABLE,
  '57P02': UNREACHABLE,
  '57P03': UNREACHABLE,
  '57P05': UNREACHABLE,
  '28': REFUSED,
  '3D000': 'does not exist; create it as a user who may: CREATE DATABASE … ENCODING UTF8',
  '53300': BUSY,
  '53100':
    'cannot be written: the disk of the server is full; free some space; a running daemon then continues by itself',
  '53200': 'cannot be used: the server is out of memory',
  '57014': TOO_SLOW,
  '55P03': TOO_SLOW,
  '25P03': TOO_SLOW,
  '25P04': TOO_SLOW,
  '40': 'refused a transaction because of others, several times; a running daemon tries again by itself',
  '25006': 'is read-only; name the primary server in store.url',
  '42501':
    'refuses a statement for lack of permissions; the user of store.url must own the schema "octavo": GRANT CREATE ON DATABASE … TO …',
  '42P01': NO_TABLES,
  '3F000': NO_TABLES,
  '54000': 'refused a text that is too long for its column',
  '22': 'refused a value that its column cannot hold',
  '23': 'refused a row that contradicts others',
  XX001: DAMAGED,
  XX002: DAMAGED,
  ...adviceOf(UNREACHABLE, 'ECONNREFUSED ECONNRESET ENOTFOUND EAI_AGAIN ETIMEDOUT EHOSTUNREACH ENETUNREACH EPIPE'),
  ...adviceOf(UNREACHABLE, 'ENOENT EACCES ECONNABORTED'),
  ...adviceOf(UNTRUSTED, 'SELF_SIGNED_CERT_IN_CHAIN DEPTH_ZERO_SELF_SIGNED_CERT UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
  ...adviceOf(UNTRUSTED, 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY CERT_HAS_EXPIRED ERR_TLS_CERT_ALTNAME_INVALID'),
};

function adviceOf(advice: string, codes: string): Readonly<Record<string, string>> {
  return Object.fromEntries(codes.split(' ').map((code) => [code, advice]));
}

/** Advice by the message of an error of the client, which has no code. */
const CLIENT_ERRORS: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [/^timeout exceeded when trying to connect/, 'has no free connection in time; raise store.pool, or check its load'],
  [/does not support SSL/, NO_TLS],
  [/^Query read timeout/, TOO_SLOW],
  [/password must be a/, REFUSED],
  [/^Connection terminated|^timeout expired|not queryable|connection error/, UNREACHABLE],
  [/establishing an SSL connection/, UNREACHABLE],
];

/** Returns an error's code: that of the server (SQLSTATE), or that of the system. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** Returns true if the transaction can run again: the server undid it because of another one. */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error));
}

/** Returns true if the connection ended, so that another one may work. */
export function isBroken(error: unknown): boolean {
  return adviceFor(error) === UNREACHABLE;
}

/** Returns true if the server did not answer at all: it ends slow statements by itself. */
export function isUnanswered(error: unknown): boolean {
  return /^Query read timeout/.test(messageOf(error));
}

/** Converts errors of one database. */
export class PostgresErrors {
  readonly #name: string;
  readonly #redact: (text: string) => string;

  constructor(url: PostgresUrl) {
    const { password } = url;
    this.#redact = createRedactor([password, encodeURIComponent(password)].filter((text) => text !== ''));
    this.#name = this.#redact(nameDatabase(url));
  }

  /** Returns a StoreError. Its cause has neither the statement nor the values nor the password. */
  convert(error: unknown): StoreError {
    if (error instanceof StoreError) {
      return error;
    }
    const advice = adviceFor(error);
    const code = codeOf(error);
    const message = plainLine(this.#redact(messageOf(error)), MAX_MESSAGE);
    // Messages of classes 22 and 23 quote the value.
    const detail = /^2[23]/.test(code) ? code : [message, code].filter((text) => text !== '').join(', ');
    const cause = Object.assign(new Error(/^2[23]/.test(code) ? 'refused' : message), { code });
    return this.create(advice === null ? `cannot be used: ${detail}` : `${advice} (${detail})`, cause);
  }

  /** Returns a StoreError that starts with the name of the database. */
  create(words: string, cause?: unknown): StoreError {
    return new StoreError(`${this.#name} ${words}`, cause === undefined ? undefined : { cause });
  }
}

function adviceFor(error: unknown): string | null {
  const code = codeOf(error);
  const message = messageOf(error);
  return (
    ADVICE[code] ??
    (/^[0-9A-Z]{5}$/.test(code) ? ADVICE[code.slice(0, 2)] : undefined) ??
    CLIENT_ERRORS.find(([pattern]) => pattern.test(message))?.[1] ??
    null
  );
}
