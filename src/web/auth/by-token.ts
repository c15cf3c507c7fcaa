/** People and programs that send a token with every request. */
import type { UiConfig } from '../../config/ui.ts';
import { PageError } from '../page-error.ts';
import type { Authenticator } from './authenticator.ts';
import type { FailedAttempts } from './failed-attempts.ts';
import { bearerOf, findToken } from './tokens.ts';

/** Knows the senders of an `Authorization: Bearer` header. Other sites cannot make a browser send one. */
export function authenticateByToken({ tokens }: UiConfig, attempts: FailedAttempts): Authenticator {
  return async ({ headers, peer }) => {
    const token = bearerOf(headers.authorization);
    if (token === null) {
      return null;
    }
    attempts.check(peer);
    const found = findToken(tokens, token);
    if (found === null) {
      attempts.add(peer);
      throw new PageError(401, 'The token is not known.', { 'www-authenticate': 'Bearer error="invalid_token"' });
    }
    return { actor: { name: found.name, method: 'token' }, groups: [], isAmbient: false };
  };
}
