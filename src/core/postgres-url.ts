/** Parses the URL of a PostgreSQL database. */

import { plainLine } from './text/plain-line.ts';
import { isLoopbackHost } from './url.ts';

/** Encryption of a connection, as in libpq; `verify-ca` does not check the host name. */
export const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** Place of a database, and the user that signs in. An absolute path as host is the directory of a Unix socket. */
export interface PostgresUrl {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Empty: none. */
  readonly password: string;
  readonly sslMode: SslMode;
}

const DEFAULT_PORT = 5432;
/** Longest name of a database in messages. */
const MAX_NAME = 200;
const FORM = 'postgres://USER:PASSWORD@HOST:5432/DATABASE';
const PARAMETERS = ['host', 'port', 'sslmode'];

/** Returns true for text that is meant as the URL of a PostgreSQL database. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:/i.test(text);
}

/** Returns true for text that is meant as a URL, and not as the path of a file. */
export function isUrl(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(text);
}

/** Returns the password of a URL as it is written and decoded, also if the URL cannot be used; empty texts if it has none. */
export function databasePasswords(text: string): readonly string[] {
  const [, written = ''] = /^postgres(?:ql)?:\/\/[^:@/]*:(.*)@/is.exec(text) ?? [];
  return [written, decode(written) ?? written];
}

/** Returns the name of a database for messages. */
export function nameDatabase({ host, port, database }: PostgresUrl): string {
  return plainLine(`the PostgreSQL database "${database}" at ${host}:${port}`, MAX_NAME);
}

/** Parses a URL. For one that cannot be used, returns the problem and what to do, without secrets. */
export function parsePostgresUrl(text: string): PostgresUrl | string {
  // A user without a host is what libpq allows for Unix sockets.
  const url = URL.parse(text.replace('@/', '@localhost/'));
  if (url === null || !isPostgresUrl(text)) {
    return `is not the URL of a PostgreSQL database with one host; use ${FORM}, with special characters percent-encoded`;
  }
  const database = decode(url.pathname.slice(1));
  const user = decode(url.username);
  const port = Number(url.searchParams.get('port') ?? (url.port === '' ? DEFAULT_PORT : url.port));
  if (database === null || database === '' || database.includes('/') || user === null || user === '') {
    return `must name a user and a database; use ${FORM}`;
  }
  if (url.pathname.includes('@') || url.search.includes('@')) {
    // Part of a password with a slash or a question mark, which no message may show.
    return `has "@" after the host; use ${FORM}, with special characters percent-encoded`;
  }
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    return `has an unsupported parameter "${unknown}"; supported are ${PARAMETERS.join(', ')}; set store.ca for certificates`;
  }
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    return 'has an invalid port; use a number from 1 to 65535';
  }
  const host = hostOf(url);
  // A local connection does not cross a network.
  const isLocal = host.startsWith('/') || isLoopbackHost(host);
  const mode = url.searchParams.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full');
  if (!isSslMode(mode)) {
    return `has an unsupported sslmode; use ${SSL_MODES.join(', ')}`;
  }
  const password = decode(url.password);
  return password === null
    ? 'has a password with an invalid percent-encoding; encode % as %25'
    : { host, port, database, user, password, sslMode: mode };
}

function hostOf(url: URL): string {
  const host = url.searchParams.get('host') ?? decode(url.hostname) ?? url.hostname;
  return host.replace(/^\[(.*)\]$/, '$1') || 'localhost';
}

function isSslMode(mode: string): mode is SslMode {
  return (SSL_MODES as readonly string[]).includes(mode);
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
