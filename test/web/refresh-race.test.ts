import { expect, test } from 'vitest';
import { authenticateBySession } from '../../src/web/auth/by-session.ts';
import type { PageSessions, SignedIn } from '../../src/web/auth/page-sessions.ts';

const NOW = 3_600_000;
const ANA: SignedIn = {
  ...{ method: 'oidc', name: 'ana@acme.example', subject: 'ana', groups: ['docs'], credential: 'idp' },
  ...{ refreshToken: 'once', checkedAt: NOW - 1_200_000 },
};

/** Authenticates with a provider that refuses the refresh token; another replica has used it or not. */
async function authenticate(meanwhile: SignedIn) {
  let reads = 0;
  const ended: string[] = [];
  const sessions = {
    find: async () => {
      reads += 1;
      return reads === 1 ? ANA : meanwhile;
    },
    end: async (secret: string) => void ended.push(secret),
  } as unknown as PageSessions;
  const identify = authenticateBySession({
    ...{ sessions, config: { tokens: [] } as never, clock: { now: () => NOW }, cookie: 'octavo' },
    provider: { id: 'idp', refresh: async () => null },
  });
  const person = await identify({ headers: {}, peer: '', cookies: { octavo: 'secret' } } as never);
  return { person, ended };
}

test('a refresh token that another replica has used at the same time ends no session', async () => {
  const { person, ended } = await authenticate({ ...ANA, checkedAt: NOW, groups: ['docs', 'ops'] });
  expect(person).toMatchObject({ actor: { name: 'ana@acme.example' }, groups: ['docs', 'ops'] });
  expect(ended).toEqual([]);
});

test('a refused refresh token ends the session if nobody else has used it', async () => {
  const { person, ended } = await authenticate(ANA);
  expect(person).toBeNull();
  expect(ended).toEqual(['secret']);
});
