/** Sessions of people who signed in with a token or a provider. Browsers keep a secret, the state file its hash. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Sessions } from '../../store/sessions.ts';

/** A person who signed in. */
export interface SignedIn {
  readonly method: 'token' | 'oidc';
  readonly name: string;
  /** Identifier of the account at the provider; empty for a token. */
  readonly subject: string;
  readonly groups: readonly string[];
  /** Hash of the token, or of the provider and the client. It must still be configured. */
  readonly credential: string;
  /** Refresh token of the provider; null if there is none. Encrypted with the secret of the cookie. */
  readonly refreshToken: string | null;
  /** When the provider last confirmed the person, in milliseconds since the epoch. */
  readonly checkedAt: number;
}

export interface PageSessionsOptions {
  readonly sessions: Sessions;
  readonly clock: Pick<Clock, 'now'>;
  readonly randomBytes: (size: number) => Buffer;
  /** Milliseconds until people have to sign in again. */
  readonly lifetime: number;
}

export class PageSessions {
  readonly #options: PageSessionsOptions;
  readonly #listeners = new Set<() => void>();

  constructor(options: PageSessionsOptions) {
    this.#options = options;
  }

  /** Starts a session. Returns the secret for the cookie. */
  async start(person: SignedIn): Promise<string> {
    const secret = this.#options.randomBytes(32).toString('base64url');
    const { clock, lifetime, sessions } = this.#options;
    const session = { id: hashOf(secret), data: this.#dataOf(secret, person), expiresAt: clock.now() + lifetime };
    await sessions.put(session, clock.now());
    return secret;
  }

  /** Returns the person of a session; null if it has ended. */
  async find(secret: string): Promise<SignedIn | null> {
    const session = await this.#options.sessions.get(hashOf(secret), this.#options.clock.now());
    if (session === null) {
      return null;
    }
    const { refreshToken, ...person } = session.data as unknown as SignedIn;
    return { ...person, refreshToken: refreshToken === null ? null : decrypt(refreshToken, secret) };
  }

  /** Replaces what is known about the person of a session. The session does not last longer. */
  async update(secret: string, person: SignedIn): Promise<void> {
    await this.#options.sessions.update(hashOf(secret), this.#dataOf(secret, person));
  }

  async end(secret: string): Promise<void> {
    if (await this.#options.sessions.remove(hashOf(secret))) {
      for (const listener of this.#listeners) {
        listener();
      }
    }
  }

  /** Calls back when a session has ended before its time. */
  onEnd(listener: () => void): void {
    this.#listeners.add(listener);
  }

  #dataOf(secret: string, person: SignedIn): JsonObject {
    const { refreshToken } = person;
    const encrypted = refreshToken === null ? null : encrypt(refreshToken, secret, this.#options.randomBytes(12));
    return { ...person, refreshToken: encrypted } as unknown as JsonObject;
  }
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'octavo refresh token', 32));
}

function encrypt(text: string, secret: string, nonce: Buffer): string {
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret), nonce);
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64');
}

/** Returns null if the text was not encrypted with this secret. */
function decrypt(text: string, secret: string): string | null {
  const bytes = Buffer.from(text, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', keyOf(secret), bytes.subarray(0, 12));
  try {
    decipher.setAuthTag(bytes.subarray(12, 28));
    return decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null;
  }
}
