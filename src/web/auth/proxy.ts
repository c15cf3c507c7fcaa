/** People that a reverse proxy knows. Its headers count only if they come from the proxy itself. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { networkList, type UiConfig } from '../../config/ui.ts';
import type { Logger } from '../../log.ts';
import { PageError } from '../page-error.ts';
import type { Authenticator, AuthRequest } from './authenticator.ts';

/**
 * Knows people by a header of a proxy. The proxy is known by the address at the other end of the connection, by a secret
 * in another header, or both. `X-Forwarded-For` has no effect, as everybody can send it.
 */
export function authenticateByProxy(proxy: NonNullable<UiConfig['proxy']>, log: Pick<Logger, 'warn'>): Authenticator {
  const { userHeader, groupsHeader, secretHeader, secret } = proxy;
  const networks = networkList(proxy.from);
  const isFromProxy = ({ peer, headers }: AuthRequest) =>
    (proxy.from.length === 0 || networks.check(...addressOf(peer))) &&
    (secret === undefined || secretHeader === undefined || isEqual(textOf(headers[secretHeader]), secret));
  return async (request) => {
    const user = textOf(request.headers[userHeader]);
    const groups = groupsHeader === undefined ? '' : textOf(request.headers[groupsHeader]);
    if (user === '' && groups === '') {
      return null;
    }
    if (!isFromProxy(request)) {
      log.warn({ peer: request.peer, header: userHeader }, 'refused a sign-in header that is not from the proxy');
      throw new PageError(400, `The header ${userHeader} is accepted only from the proxy.`);
    }
    // Of a repeated header, one may be from the client.
    if (user.includes(',')) {
      throw new PageError(400, `The header ${userHeader} must have one value.`);
    }
    return user === ''
      ? null
      : {
          actor: { name: user, method: 'proxy' },
          groups: groups.split(',').map((each) => each.trim()),
          isAmbient: true,
        };
  };
}

/** Returns the text of a header. Proxies send UTF-8, and Node.js reads each byte as one character. */
function textOf(value: string | readonly string[] | undefined): string {
  const text = [value ?? []].flat().join(',').trim();
  const decoded = Buffer.from(text, 'latin1').toString('utf8');
  return decoded.includes('\uFFFD') ? text : decoded;
}

function isEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** Returns the address and its family. An IPv4 client of an IPv6 listener has an address such as `::ffff:10.0.0.1`. */
function addressOf(peer: string): readonly [string, 'ipv4' | 'ipv6'] {
  const mapped = peer.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  return [mapped, isIPv4(mapped) ? 'ipv4' : 'ipv6'];
}
