/** Finds out who sends a request. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4 } from 'node:net';
import { networkList, type UiConfig } from '../../config/ui.ts';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../log.ts';
import type { Actor } from '../../store/history.ts';
import { PageError, roleOf, type Viewer } from '../model/page.ts';
import type { OidcProvider } from './oidc.ts';
import type { PageSessions, SignedIn } from './page-sessions.ts';

/** Parts of a request that say who sends it. */
interface AuthRequest {
  readonly headers: IncomingHttpHeaders;
  /** Address of the other end of the connection. */
  readonly peer: string;
  readonly cookies: Readonly<Record<string, string | undefined>>;
}

/** A known person. */
export interface KnownPerson {
  readonly actor: Actor;
  readonly groups: readonly string[];
  /** True if browsers send the proof with every request, so that other sites could make them send one. */
  readonly isAmbient: boolean;
}

/** A way to know people. Returns null if the request has none of its proofs. Throws PageError for a wrong one. */
export type Authenticator = (request: AuthRequest) => Promise<KnownPerson | null>;

/** Asks several authenticators, in their order. */
export function firstOf(authenticators: readonly Authenticator[]): Authenticator {
  return async (request) => {
    for (const authenticate of authenticators) {
      const identity = await authenticate(request);
      if (identity !== null) {
        return identity;
      }
    }
    return null;
  };
}

/** Everybody who can open a listener on this machine, without sign-in. */
export const authenticateNobody: Authenticator = async () => ({
  actor: { name: '', method: 'none' },
  groups: [],
  isAmbient: true,
});

/** Returns the rights of a person. Without sign-in, everybody may read. */
export function viewerOf({ actor, groups }: KnownPerson, { roles }: UiConfig): Viewer {
  return {
    actor,
    role: (organization) =>
      actor.method === 'none' ? 'viewer' : roleOf(roles, { name: actor.name, groups }, organization),
  };
}

interface SessionAuthenticatorOptions {
  readonly sessions: PageSessions;
  readonly config: UiConfig;
  readonly clock: Pick<Clock, 'now'>;
  /** Null without `ui.oidc`. */
  readonly provider: Pick<OidcProvider, 'id' | 'refresh'> | null;
  readonly cookie: string;
}

/** Milliseconds after which the provider is asked again, and after which a session without its answer does not count. */
const RECHECK = 15 * 60_000;
const UNCONFIRMED = 60 * 60_000;
/** Milliseconds between attempts while the provider does not answer. */
const RETRY = 60_000;

/** Knows people by the cookie of their session. */
export function authenticateBySession(options: SessionAuthenticatorOptions): Authenticator {
  const rechecks = new Rechecks(options);
  return async ({ cookies }) => {
    const secret = cookies[options.cookie];
    const person = secret === undefined ? null : await options.sessions.find(secret);
    if (secret === undefined || person === null) {
      return null;
    }
    const current = await (person.method === 'token' ? stillConfigured(person, options) : rechecks.run(secret, person));
    return current === null
      ? null
      : { actor: { name: current.name, method: current.method }, groups: current.groups, isAmbient: true };
  };
}

/** Returns null if the token was removed from the configuration. */
function stillConfigured(person: SignedIn, { config }: SessionAuthenticatorOptions): SignedIn | null {
  const token = config.tokens.find(({ sha256 }) => sha256 === person.credential);
  return token === undefined ? null : { ...person, name: token.name };
}

/** Asks the provider from time to time whether people may still sign in, and for their groups. */
class Rechecks {
  readonly #options: SessionAuthenticatorOptions;
  readonly #running = new Map<string, Promise<SignedIn | null>>();
  #retryAt = 0;

  constructor(options: SessionAuthenticatorOptions) {
    this.#options = options;
  }

  async run(secret: string, person: SignedIn): Promise<SignedIn | null> {
    const { provider, clock } = this.#options;
    if (provider === null || provider.id !== person.credential) {
      return null;
    }
    const isDue = clock.now() - person.checkedAt >= RECHECK && clock.now() >= this.#retryAt;
    if (person.refreshToken === null) {
      return person;
    }
    if (!isDue) {
      return this.#unconfirmed(person);
    }
    const running = this.#running.get(secret) ?? this.#ask(secret, person, person.refreshToken, provider);
    this.#running.set(secret, running);
    try {
      return await running;
    } finally {
      this.#running.delete(secret);
    }
  }

  async #ask(
    secret: string,
    person: SignedIn,
    refreshToken: string,
    provider: NonNullable<SessionAuthenticatorOptions['provider']>,
  ): Promise<SignedIn | null> {
    const { sessions, clock } = this.#options;
    try {
      const found = await provider.refresh(person, refreshToken);
      if (found === null) {
        // Another replica may have used the refresh token at the same time: a token is often valid once.
        const latest = await sessions.find(secret);
        if (latest !== null && latest.checkedAt > person.checkedAt) {
          return latest;
        }
        await sessions.end(secret);
        return null;
      }
      const updated = { ...person, ...found, checkedAt: clock.now() };
      await sessions.update(secret, updated);
      return updated;
    } catch (error) {
      if (!(error instanceof PageError)) {
        throw error;
      }
      this.#retryAt = clock.now() + RETRY;
      return this.#unconfirmed(person);
    }
  }

  /** Accepts a person without asking the provider, unless that was too long ago. */
  #unconfirmed(person: SignedIn): SignedIn {
    if (this.#options.clock.now() - person.checkedAt >= UNCONFIRMED) {
      throw new PageError(
        502,
        'The sign-in provider does not answer, so it is not known whether you may see this page.',
      );
    }
    return person;
  }
}

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
