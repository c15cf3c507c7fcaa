/** Connections of HTTP clients, also through the proxy that the environment names, and errors of the network. */
import { type Dispatcher, EnvHttpProxyAgent, Pool, setGlobalDispatcher } from 'undici';
import { ConfigError, messageOf, NotThePlatformError, TransientError } from '../../core/errors.ts';
import { isLoopback } from '../../core/url.ts';
import { TimeoutError } from '../../queue/request.ts';

/** Limits of a client's connections; times in milliseconds, sizes in bytes. */
type DispatcherOptions = Required<
  Pick<Pool.Options, 'connections' | 'connectTimeout' | 'headersTimeout' | 'bodyTimeout' | 'maxResponseSize'>
>;

/** Variables that name a proxy, as in other programs; lower case takes precedence. */
const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const;

/**
 * Opens connections to one origin, at the first request. `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` apply to every
 * origin except those of this machine. Throws ConfigError if a variable does not name a proxy.
 */
export function openDispatcher(origin: string, { connectTimeout, ...limits }: DispatcherOptions): Dispatcher {
  const connect = { timeout: connectTimeout };
  if (isLoopback(origin) || proxyUrls(process.env).length === 0) {
    return new Pool(origin, { ...limits, connect });
  }
  return new EnvHttpProxyAgent({ ...limits, connect, connectTimeout } as EnvHttpProxyAgent.Options);
}

/** Lets `fetch` use the proxies of the environment, except for addresses of this machine. */
export function useProxyForFetch(): void {
  const named = process.env.no_proxy ?? process.env.NO_PROXY ?? '';
  const noProxy = named.trim() === '*' ? named : `${named},localhost,127.0.0.1,[::1]`;
  setGlobalDispatcher(new EnvHttpProxyAgent({ noProxy }));
}

/** Returns the proxies in the environment. Throws ConfigError for an invalid URL, without repeating it. */
export function proxyUrls(env: Readonly<Record<string, string | undefined>>): readonly URL[] {
  return PROXY_VARIABLES.flatMap((name) => {
    const value = env[name] ?? '';
    if (value === '') {
      return [];
    }
    const url = URL.parse(value);
    if (url === null || !['http:', 'https:'].includes(url.protocol) || !isDecodable(url)) {
      throw new ConfigError(`${name} is not the URL of a proxy; write one such as http://proxy.example:3128`);
    }
    return [url];
  });
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** Messages for failed connections, where nothing was sent. */
const UNREACHED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name cannot be looked up now',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  EADDRNOTAVAIL: 'the address is not available',
};

const SLOW = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

/**
 * Converts a network error to an error with a readable message. `answered`: the headers had already arrived. Returns a
 * NotThePlatformError if another protocol responds, because retries would not help.
 */
export function networkError(error: unknown, origin: string, answered = false): TransientError | NotThePlatformError {
  const code = codeOf(error);
  const options = { cause: error };
  if (!answered) {
    const other = otherProtocol(error, code, origin);
    if (other !== null) {
      return new NotThePlatformError(other, options);
    }
    const proxy = proxyTrouble(error, code);
    if (proxy !== null) {
      return new TransientError(`cannot reach ${origin}: ${proxy}`, false, options);
    }
    const reason = UNREACHED[code];
    if (reason !== undefined) {
      return new TransientError(`cannot reach ${origin}: ${reason}`, false, options);
    }
    if (code === 'UND_ERR_CONNECT_TIMEOUT') {
      return new TimeoutError(`cannot reach ${origin}: no connection in time`, false, options);
    }
    if (isCertificateTrouble(code)) {
      return new TransientError(`cannot reach ${origin}: its certificate is not trusted (${code})`, false, options);
    }
  }
  if (SLOW.has(code)) {
    return new TimeoutError(`${origin} did not answer in time`, true, options);
  }
  const what = answered ? 'broke off in the middle of an answer' : 'closed the connection without an answer';
  // TLS servers, for example, close connections with plain HTTP.
  const hint =
    !answered && code === 'UND_ERR_SOCKET' && origin.startsWith('http:') ? '; if it speaks TLS, write https://' : '';
  return new TransientError(`${origin} ${what}${code === '' ? '' : ` (${code})`}${hint}`, true, options);
}

/** Describes a mix-up of HTTP and HTTPS; null for other errors. */
function otherProtocol(error: unknown, code: string, origin: string): string | null {
  if (/^(EPROTO|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST))$/.test(code)) {
    return `${origin} does not speak TLS on this port; check the scheme and the port of the base URL`;
  }
  return error instanceof Error && error.name === 'HTTPParserError'
    ? `${origin} does not respond with HTTP; if the port expects TLS, use https://`
    : null;
}

/** Describes the failure of a proxy; null for other errors. */
function proxyTrouble(error: unknown, code: string): string | null {
  if (code === 'UND_ERR_PRX_TLS' || code === 'UND_ERR_PRX_CONN') {
    return 'the proxy cannot be reached, or closed the connection (HTTPS_PROXY, HTTP_PROXY)';
  }
  const [, status] = /^Proxy response \((\d+)\) !== 200/.exec(messageOf(error)) ?? [];
  return status === undefined ? null : `the proxy refuses the connection (${status}; HTTPS_PROXY, HTTP_PROXY)`;
}

function isCertificateTrouble(code: string): boolean {
  return code.startsWith('ERR_TLS_') || code.includes('CERT') || code.startsWith('UNABLE_TO_');
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string') {
    return code;
  }
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : '';
}
