/**
 * Check of tokens by their hashes in the configuration, with a limit for wrong ones: guesses must not be cheap, and must not
 * lock out those who know theirs.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { UiConfig } from '../../config/ui.ts';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../log.ts';
import { PageError } from '../model/page.ts';
import type { Authenticator } from './authenticator.ts';

type PageToken = UiConfig['tokens'][number];

/** Number of wrong tokens in a period, in milliseconds: from one address, and from all. */
const MAX_ATTEMPTS = 10;
const MAX_OVERALL = 300;
const PERIOD = 60_000;
/** Maximum number of addresses that are remembered, and of tokens with the address that they came from. */
const MAX_REMEMBERED = 10_000;
/** Key of the attempts from all addresses, which is not an address. */
const OVERALL = '*';

interface Attempts {
  readonly since: number;
  readonly count: number;
}

export interface TokenCheckOptions {
  readonly tokens: UiConfig['tokens'];
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Pick<Logger, 'warn'>;
  /** Called once a minute when the limit is reached. `peer`: the address; null: all addresses. */
  readonly onGuesses: (peer: string | null, attempts: number) => void;
}

export class TokenCheck {
  readonly #options: TokenCheckOptions;
  readonly #wrong = new Map<string, Attempts>();
  /** Tokens that were accepted, with their address. The limit does not apply to them. */
  readonly #accepted = new Set<string>();

  constructor(options: TokenCheckOptions) {
    this.#options = options;
  }

  /**
   * Returns the entry of a token; null if there is none. Throws PageError (429) after too many wrong tokens, unless this
   * one was accepted from the address before.
   */
  find(peer: string, text: string): PageToken | null {
    const token = findToken(this.#options.tokens, text);
    const pair = token === null ? null : `${peer} ${token.sha256}`;
    if (pair !== null && this.#accepted.has(pair)) {
      return token;
    }
    this.#limit(peer, MAX_ATTEMPTS);
    this.#limit(OVERALL, MAX_OVERALL);
    if (pair === null) {
      this.#add(peer, MAX_ATTEMPTS);
      this.#add(OVERALL, MAX_OVERALL);
    } else {
      this.#accepted.add(pair);
      removeOldest(this.#accepted);
    }
    return token;
  }

  #limit(key: string, most: number): void {
    const known = this.#recent(key);
    if (known !== null && known.count >= most) {
      const seconds = Math.ceil((known.since + PERIOD - this.#options.clock.monotonic()) / 1000);
      throw new PageError(429, `Too many wrong tokens. Try again in ${seconds} seconds.`, {
        'retry-after': String(seconds),
      });
    }
  }

  /** Counts a wrong token. The limit is logged once in a period. */
  #add(key: string, most: number): void {
    const { since, count } = this.#recent(key) ?? { since: this.#options.clock.monotonic(), count: 0 };
    this.#wrong.delete(key);
    this.#wrong.set(key, { since, count: count + 1 });
    removeOldest(this.#wrong);
    if (count + 1 === most) {
      this.#options.log.warn({ peer: key, attempts: most }, 'too many wrong tokens; new ones are refused for a minute');
      this.#options.onGuesses(key === OVERALL ? null : key, most);
    }
  }

  #recent(key: string): Attempts | null {
    const known = this.#wrong.get(key);
    return known !== undefined && this.#options.clock.monotonic() - known.since < PERIOD ? known : null;
  }
}

/** Returns the entry of a token; null if there is none. Takes the same time whichever entry it is. */
function findToken(tokens: readonly PageToken[], token: string): PageToken | null {
  const hash = createHash('sha256').update(token).digest();
  return tokens.filter(({ sha256 }) => timingSafeEqual(Buffer.from(sha256, 'hex'), hash)).at(0) ?? null;
}

/** Knows the senders of an `Authorization: Bearer` header. Other sites cannot make a browser send one. */
export function authenticateByToken(tokens: TokenCheck): Authenticator {
  return async ({ headers, peer }) => {
    const token = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) {
      return null;
    }
    const found = tokens.find(peer, token);
    if (found === null) {
      throw new PageError(401, 'The token is not known.', { 'www-authenticate': 'Bearer error="invalid_token"' });
    }
    return { actor: { name: found.name, method: 'token' }, groups: [], isAmbient: false };
  };
}

function removeOldest(collection: Set<string> | Map<string, unknown>): void {
  const [oldest] = collection.keys();
  if (collection.size > MAX_REMEMBERED && oldest !== undefined) {
    collection.delete(oldest);
  }
}
