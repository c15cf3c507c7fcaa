/** People who signed in before. */
import type { UiConfig } from '../../config/ui.ts';
import type { Clock } from '../../core/clock.ts';
import { PageError } from '../page-error.ts';
import type { Authenticator } from './authenticator.ts';
import type { OidcProvider } from './oidc.ts';
import type { PageSessions, SignedIn } from './page-sessions.ts';

export interface SessionAuthenticatorOptions {
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
