/** Opens the connections of HTTP clients: directly, or through the proxy that the environment names. */
import { type Dispatcher, EnvHttpProxyAgent, Pool, setGlobalDispatcher } from 'undici';
import { ConfigError } from '../../core/errors.ts';
import { isLoopback } from '../../core/loopback.ts';

/** Limits of a client's connections; times in milliseconds, sizes in bytes. */
export interface DispatcherOptions {
  /** Maximum open connections to one origin. */
  readonly connections: number;
  readonly connectTimeout: number;
  readonly headersTimeout: number;
  readonly bodyTimeout: number;
  readonly maxResponseSize: number;
}

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
