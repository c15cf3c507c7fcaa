/** Checks of requests that do not depend on the person: host names, and the origin of what changes something. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { UiConfig } from '../../config/ui.ts';
import { isLoopback } from '../../core/url.ts';
import { PageError } from '../page-error.ts';

/** Headers of every answer. Pages load nothing from other hosts, and run no script of their own text. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    ...["script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"],
    ...["form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"],
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/**
 * Throws PageError unless the Host header is a name of this server. A site whose name is made to point to this machine
 * (DNS rebinding) could otherwise read the pages.
 */
export function checkHost(host: string | undefined, { listen, publicUrl, hosts }: UiConfig): void {
  const url = host === undefined || /[/?#@\\\s]/.test(host) ? null : URL.parse(`http://${host}`);
  const isKnown =
    url !== null &&
    ((publicUrl !== undefined && new URL(publicUrl).hostname === url.hostname) ||
      hosts.some((name) => name.toLowerCase() === url.hostname) ||
      listen?.host === url.hostname ||
      isLoopback(url));
  if (!isKnown) {
    throw new PageError(421, 'This server does not answer to this host name. Add the name to ui.hosts.');
  }
}

/**
 * Throws PageError for requests that proxies and servers understand differently: several Host headers, and a whole URL
 * in place of the path.
 */
export function checkTarget({ url = '', rawHeaders }: Pick<IncomingMessage, 'url' | 'rawHeaders'>): void {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1 || !url.startsWith('/')) {
    throw new PageError(400, 'The request must have one Host header, and a path as its address.');
  }
}

/**
 * Throws PageError if a request that changes something may come from a page of another site. `isAmbient`: the browser
 * proves who sends it without being asked. Otherwise, another site cannot make it do so.
 */
export function checkOrigin(headers: IncomingHttpHeaders, isAmbient: boolean, publicUrl: string | undefined): void {
  const { host, origin } = headers;
  const site = headers['sec-fetch-site'];
  const isSame =
    site !== undefined
      ? site === 'same-origin'
      : origin !== undefined &&
        (URL.parse(origin)?.host === host || (publicUrl !== undefined && origin === new URL(publicUrl).origin));
  if (!isSame && isAmbient) {
    throw new PageError(403, 'This request does not come from a page of this server. Open the page and try again.');
  }
}
