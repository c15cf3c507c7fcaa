/** Finds out who sends a request. */
import type { IncomingHttpHeaders } from 'node:http';
import type { UiConfig } from '../../config/ui.ts';
import type { Actor } from '../../store/history.ts';
import type { Viewer } from '../page.ts';
import { roleOf } from './roles.ts';

/** Parts of a request that say who sends it. */
export interface AuthRequest {
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
