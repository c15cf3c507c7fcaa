/** Sign-in with an OpenID Connect provider: authorization code with PKCE, state and nonce. */
import type * as client from 'openid-client';
import type { UiConfig } from '../../config/ui.ts';
import { PageError } from '../page-error.ts';

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
export interface OidcPerson {
  readonly name: string;
  readonly groups: readonly string[];
  readonly refreshToken: string | null;
}

/** Seconds that an answer of the provider may take. */
const TIMEOUT = 10;

export class OidcProvider {
  readonly #config: OidcConfig;
  readonly #redirectUri: string;
  /** Discovered at the first sign-in, so that a provider that is down does not keep the daemon from starting. */
  #discovered: Promise<client.Configuration> | null = null;

  constructor(config: OidcConfig, publicUrl: string) {
    this.#config = config;
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
    const tokens = await authorizationCodeGrant(config, url, checks).catch((error: unknown) => {
      throw new PageError(403, `The sign-in was refused: ${describe(error)}. Sign in again.`);
    });
    return this.#personOf(config, tokens);
  }

  /** Asks the provider for the person again. Returns null if it refuses, and throws PageError (502) if it is down. */
  async refresh(refreshToken: string): Promise<OidcPerson | null> {
    const { refreshTokenGrant, ResponseBodyError } = await import('openid-client');
    const config = await this.#discover();
    try {
      const tokens = await refreshTokenGrant(config, refreshToken);
      const person = await this.#personOf(config, tokens);
      return { ...person, refreshToken: person.refreshToken ?? refreshToken };
    } catch (error) {
      if (error instanceof ResponseBodyError || error instanceof PageError) {
        return null;
      }
      throw unreachable(error);
    }
  }

  async #discover(): Promise<client.Configuration> {
    this.#discovered ??= this.#load();
    try {
      return await this.#discovered;
    } catch (error) {
      this.#discovered = null;
      throw unreachable(error);
    }
  }

  async #load(): Promise<client.Configuration> {
    const openid = await import('openid-client');
    const { issuer, clientId, clientSecret } = this.#config;
    const proof = clientSecret === undefined ? openid.None() : openid.ClientSecretBasic(clientSecret);
    // The configuration accepts plain HTTP only on this machine, or if platform.insecure allows it.
    const execute = issuer.startsWith('http:') ? [openid.allowInsecureRequests] : [];
    return openid.discovery(new URL(issuer), clientId, undefined, proof, { execute, timeout: TIMEOUT });
  }

  /** Reads the claims of the ID token, and those that only the user info has. */
  async #personOf(
    config: client.Configuration,
    tokens: client.TokenEndpointResponse & client.TokenEndpointResponseHelpers,
  ): Promise<OidcPerson> {
    const { fetchUserInfo } = await import('openid-client');
    const identity = tokens.claims();
    if (identity === undefined) {
      throw new PageError(403, 'The provider sent no ID token. Sign in again.');
    }
    const isComplete = identity.email !== undefined && identity[this.#config.groupsClaim] !== undefined;
    const more =
      isComplete || config.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : await fetchUserInfo(config, tokens.access_token, identity.sub).catch((error: unknown) => {
            throw new PageError(403, `The provider refused to describe you: ${describe(error)}. Sign in again.`);
          });
    const claims: Readonly<Record<string, unknown>> = { ...more, ...identity };
    const isVerified = typeof claims.email === 'string' && claims.email_verified === true;
    // Anybody can claim an email that was not verified, also as the identifier.
    if (!isVerified && identity.sub.includes('@')) {
      throw new PageError(403, 'The provider has not verified your email.');
    }
    const groups = [claims[this.#config.groupsClaim] ?? []].flat();
    return {
      name: isVerified ? String(claims.email) : identity.sub,
      groups: groups.filter((group) => typeof group === 'string'),
      refreshToken: tokens.refresh_token ?? null,
    };
  }
}

/** Describes an error of the provider without details of the requests. */
function describe(error: unknown): string {
  const { error: code, code: kind } = (error ?? {}) as { readonly error?: unknown; readonly code?: unknown };
  return typeof code === 'string' ? code : typeof kind === 'string' ? kind : 'an unknown reason';
}

function unreachable(error: unknown): PageError {
  return new PageError(502, `The sign-in provider does not answer (${describe(error)}). Try again later.`);
}
