import type { Clock } from '../../core/clock.ts';
import { AuthError, RejectedError } from '../../core/errors.ts';

export interface FreshToken {
  readonly token: string;
  /** Time at which the token is due for renewal, in milliseconds since the epoch. */
  readonly until: number;
}

/** Token that expires. One request renews it for all requests that wait for it. */
export class RenewedToken {
  readonly #clock: Clock;
  readonly #renew: (isRefused: boolean) => Promise<FreshToken>;
  #current: FreshToken | null = null;
  #isRefused = false;
  #renewing: Promise<FreshToken> | null = null;

  /** `renew` gets a new token, and throws AppError; `isRefused`: the last token was refused. */
  constructor(clock: Clock, renew: (isRefused: boolean) => Promise<FreshToken>) {
    this.#clock = clock;
    this.#renew = renew;
  }

  /** Returns a valid token. Throws AppError. */
  async token(): Promise<string> {
    return (await this.#good()).token;
  }

  /**
   * Makes a request, and retries it once with a new token after status 401: the token may have been revoked early, or
   * renewed in the meantime. Throws AppError.
   */
  async authorized<T>(request: () => Promise<T>): Promise<T> {
    const used = await this.#good();
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof AuthError) || error.status !== 401) {
        throw error;
      }
      if (this.#current === used) {
        this.#current = null;
        this.#isRefused = true;
      }
      await this.#good();
      return request();
    }
  }

  async #good(): Promise<FreshToken> {
    if (this.#current !== null && this.#current.until > this.#clock.now()) {
      return this.#current;
    }
    this.#renewing ??= this.#renewed().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #renewed(): Promise<FreshToken> {
    try {
      this.#current = await this.#renew(this.#isRefused);
    } catch (error) {
      // Without a token no request is possible, so this must not be classified as the rejection of a single ticket.
      throw error instanceof RejectedError ? new AuthError(error.message, 401, { cause: error }) : error;
    }
    this.#isRefused = false;
    return this.#current;
  }
}
