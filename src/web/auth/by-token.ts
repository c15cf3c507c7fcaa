/** People and programs that send a token with every request. */
import { PageError } from '../page-error.ts';
import type { Authenticator } from './authenticator.ts';
import type { TokenCheck } from './token-check.ts';
import { bearerOf } from './tokens.ts';

/** Knows the senders of an `Authorization: Bearer` header. Other sites cannot make a browser send one. */
export function authenticateByToken(tokens: TokenCheck): Authenticator {
  return async ({ headers, peer }) => {
    const token = bearerOf(headers.authorization);
    if (token === null) {
      return null;
    }
    const found = tokens.find(peer, token);
    if (found === null) {
      throw new PageError(401, 'The token is not known.', { 'www-authenticate': 'Bearer error="invalid_token"' });
    }
    return { actor: { name: found.name, method: 'token' }, groups: [], isAmbient: false };
  };
}
