/** Sign-in with an OpenID Connect provider: authorization code with PKCE, state, nonce and a signed ID token. */

import { createHash } from 'node:crypto';
import type * as client from 'openid-client';
import type { RoleRule, UiConfig } from '../../config/ui.ts';
import type { Logger } from '../../log.ts';
import { PageError } from '../model/page.ts';
import type { SignedIn } from './page-sessions.ts';

/** Codes of openid-client for answers that say nothing about the person. */
const UNUSABLE: ReadonlySet<string> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  // The keys of the provider are cached for up to a minute, and may have been replaced since.
  'OAUTH_KEY_SELECTION_FAILED',
]);
/** OAuth errors with the same meaning. Source: RFC 6749, section 4.1.2.1, and RFC 8628 for `slow_down`. */
const TEMPORARY: ReadonlySet<string> = new Set(['temporarily_unavailable', 'server_error', 'slow_down']);
const TOO_MANY_REQUESTS = 429;

/** Returns true if the provider could not answer, so that nothing is known about the person. */
function isUnavailable(error: unknown): boolean {
  const { error: reason, code, status } = partsOf(error);
  return (
    // Thrown by fetch for every failure of the network.
    error instanceof TypeError ||
    (typeof code === 'string' && UNUSABLE.has(code)) ||
    (typeof reason === 'string' && TEMPORARY.has(reason)) ||
    status === TOO_MANY_REQUESTS
  );
}

/** Returns the error of a sign-in that failed. */
function signInError(error: unknown): PageError {
  return isUnavailable(error)
    ? unavailable(error)
    : new PageError(403, `The sign-in was refused: ${describeError(error)}. Sign in again.`);
}

/** Returns the error for a provider that cannot be used now. */
function unavailable(error: unknown): PageError {
  return new PageError(502, `The sign-in provider cannot be used now (${describeError(error)}). Try again later.`);
}

/** Describes an error by its code, without details of the requests. */
function describeError(error: unknown): string {
  const { error: reason, code, cause } = partsOf(error);
  const found = [reason, code, partsOf(cause).code].find(
    (each): each is string => typeof each === 'string' && /^[\w.-]{1,80}$/.test(each),
  );
  return found ?? 'an unknown reason';
}

function partsOf(error: unknown): Readonly<Record<string, unknown>> {
  return typeof error === 'object' && error !== null ? (error as Readonly<Record<string, unknown>>) : {};
}

type OidcConfig = NonNullable<UiConfig['oidc']>;

/** A sign-in that has begun. The browser keeps it until it returns from the provider. */
export interface SignInAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Path to open afterwards. */
  readonly back: string;
}

/** A person, as the provider knows them. */
type OidcPerson = Pick<SignedIn, 'subject' | 'name' | 'groups' | 'refreshToken'>;

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };
type Tokens = client.TokenEndpointResponse & client.TokenEndpointResponseHelpers;

/** Seconds that an answer of the provider may take. */
const TIMEOUT = 10;
/** Maximum number of groups of a person, and the longest name of one, in characters. */
const MAX_GROUPS = 1000;
const LONGEST_GROUP = 1000;

export class OidcProvider {
  /** Identifies the provider and the client: sessions of others do not count. */
  readonly id: string;
  readonly #config: OidcConfig;
  readonly #roles: readonly RoleRule[];
  readonly #log: Pick<Logger, 'warn'>;
  readonly #redirectUri: string;
  /** Discovered at the first sign-in, so that a provider that is down does not keep the daemon from starting. */
  #discovered: Promise<client.Configuration> | null = null;

  constructor(
    config: OidcConfig,
    { publicUrl = '', roles }: Pick<UiConfig, 'publicUrl' | 'roles'>,
    log: Pick<Logger, 'warn'>,
  ) {
    const { issuer, clientId } = config;
    this.id = createHash('sha256')
      .update(JSON.stringify([issuer, clientId]))
      .digest('hex');
    this.#config = config;
    this.#roles = roles;
    this.#log = log;
    this.#redirectUri = `${publicUrl}/oidc/callback`;
  }

  /** Begins a sign-in. Returns the URL of the provider. Throws PageError (502) if it cannot be reached. */
  async begin(back: string): Promise<{ readonly url: string; readonly attempt: SignInAttempt }> {
    const { randomState, randomNonce, randomPKCECodeVerifier, ...openid } = await import('openid-client');
    const attempt = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier(), back };
    const url = openid.buildAuthorizationUrl(await this.#discover(), {
      redirect_uri: this.#redirectUri,
      scope: this.#config.scopes.join(' '),
      code_challenge: await openid.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
      state: attempt.state,
      nonce: attempt.nonce,
    });
    return { url: url.href, attempt };
  }

  /** Ends a sign-in with the query of the redirect. Throws PageError if the provider or the checks refuse it. */
  async complete(query: string, { state, nonce, verifier }: SignInAttempt): Promise<OidcPerson> {
    const { authorizationCodeGrant } = await import('openid-client');
    const config = await this.#discover();
    const url = new URL(`${this.#redirectUri}${query}`);
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
    try {
      const tokens = await authorizationCodeGrant(config, url, checks);
      const claims = await this.#claimsOf(config, tokens, null);
      if (claims === null) {
        throw new PageError(403, 'The provider sent no ID token. Sign in again.');
      }
      return { ...this.#personOf(claims), refreshToken: tokens.refresh_token ?? null };
    } catch (error) {
      throw error instanceof PageError ? error : signInError(this.#report(error));
    }
  }

  /** Asks the provider for a person again. Returns null if it refuses. Throws PageError (502) if it cannot be used. */
  async refresh(known: OidcPerson, refreshToken: string): Promise<OidcPerson | null> {
    const { refreshTokenGrant } = await import('openid-client');
    const config = await this.#discover();
    try {
      const tokens = await refreshTokenGrant(config, refreshToken);
      const claims = await this.#claimsOf(config, tokens, known.subject);
      const person = claims === null ? known : this.#personOf(claims);
      return { ...person, refreshToken: tokens.refresh_token ?? refreshToken };
    } catch (error) {
      this.#report(error);
      if (isUnavailable(error)) {
        throw unavailable(error);
      }
      return null;
    }
  }

  async #discover(): Promise<client.Configuration> {
    this.#discovered ??= this.#load();
    try {
      return await this.#discovered;
    } catch (error) {
      this.#discovered = null;
      throw unavailable(this.#report(error));
    }
  }

  #report(error: unknown): unknown {
    this.#log.warn({ issuer: this.#config.issuer, reason: describeError(error) }, 'sign-in provider failed');
    return error;
  }

  async #load(): Promise<client.Configuration> {
    const openid = await import('openid-client');
    const { issuer, clientId, clientSecret } = this.#config;
    const proof = clientSecret === undefined ? openid.None() : openid.ClientSecretBasic(clientSecret);
    // The configuration accepts plain HTTP only on this machine, or if platform.insecure allows it.
    const insecure = issuer.startsWith('http:') ? [openid.allowInsecureRequests] : [];
    // Verifies the signature of every ID token with the keys of the provider.
    const execute = [...insecure, openid.enableNonRepudiationChecks];
    const found = await openid.discovery(new URL(issuer), clientId, undefined, proof, { execute, timeout: TIMEOUT });
    // Throws if the provider has no address to sign in at.
    openid.buildAuthorizationUrl(found, {});
    return found;
  }

  /**
   * Reads the claims of the ID token, and those that only the user info has. `subject`: the account that they must be
   * about; null: any. Returns null if there are none, as an answer to a refresh token may have.
   */
  async #claimsOf(config: client.Configuration, tokens: Tokens, subject: string | null): Promise<Claims | null> {
    const { fetchUserInfo } = await import('openid-client');
    const identity: Partial<Claims> = tokens.claims() ?? {};
    const sub = identity.sub ?? subject;
    const hasUserInfo = config.serverMetadata().userinfo_endpoint !== undefined;
    if (sub === null || (identity.sub === undefined && !hasUserInfo)) {
      return null;
    }
    if (subject !== null && sub !== subject) {
      throw new PageError(403, 'The provider answered for another account. Sign in again.');
    }
    const isComplete = identity.email !== undefined && identity[this.#config.groupsClaim] !== undefined;
    const more = isComplete || !hasUserInfo ? {} : await fetchUserInfo(config, tokens.access_token, sub);
    return { ...more, ...identity, sub };
  }

  #personOf(claims: Claims): Omit<OidcPerson, 'refreshToken'> {
    const { sub: subject, email } = claims;
    const isVerified = typeof email === 'string' && claims.email_verified === true;
    // Anybody can claim an email that was not verified, also as the identifier.
    if (!isVerified && subject.includes('@')) {
      throw new PageError(403, 'The provider has not verified your email.');
    }
    const groups = groupsOf(claims[this.#config.groupsClaim], this.#roles);
    return { subject, name: isVerified ? email : subject, groups };
  }
}

/** Returns the groups of a claim. If there are too many, those that have a role come first. */
function groupsOf(claim: unknown, roles: readonly RoleRule[]): readonly string[] {
  const groups = [claim ?? []]
    .flat()
    .filter((group): group is string => typeof group === 'string' && group.length <= LONGEST_GROUP);
  if (groups.length <= MAX_GROUPS) {
    return groups;
  }
  const named = new Set(roles.flatMap((rule) => rule.groups));
  return groups.toSorted((a, b) => Number(named.has(b)) - Number(named.has(a))).slice(0, MAX_GROUPS);
}
