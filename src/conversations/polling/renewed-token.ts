import type { Clock } from '../../core/clock.ts';
import { AuthError, RejectedError } from '../../core/errors.ts';

export interface FreshToken {
  readonly token: string;
  /** From when on it is renewed, in milliseconds since the epoch. */
  readonly until: number;
}

/** A token that is good for a while, and renewed when it is not any more: by one request, however many wait for it. */
export class RenewedToken {
  readonly #clock: Clock;
  readonly #renew: (isRefused: boolean) => Promise<FreshToken>;
  #current: FreshToken | null = null;
  #isRefused = false;
  #renewing: Promise<FreshToken> | null = null;

  /** `renew` makes another one, and throws AppError; `isRefused`: the last one was not accepted. */
  constructor(clock: Clock, renew: (isRefused: boolean) => Promise<FreshToken>) {
    this.#clock = clock;
    this.#renew = renew;
  }

  /** The one that is good now. Throws AppError. */
  async token(): Promise<string> {
    return (await this.#good()).token;
  }

  /**
   * Makes a request with it, and once more with another one where that is not accepted (401): it may have been withdrawn
   * before its time, or renewed meanwhile. Throws AppError.
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
      // Nothing can be asked then: it must not be taken for a refusal of the one thing that was to be asked.
      throw error instanceof RejectedError ? new AuthError(error.message, 401, { cause: error }) : error;
    }
    this.#isRefused = false;
    return this.#current;
  }
}
