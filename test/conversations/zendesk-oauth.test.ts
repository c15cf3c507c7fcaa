import { describe, expect, test } from 'vitest';
import { RenewedToken } from '../../src/conversations/sources/provider.ts';
import { openZendesk } from '../../src/conversations/sources/zendesk.ts';
import { AuthError, StoreError } from '../../src/core/errors.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Note } from '../../src/store/record.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';
import { type FakeTicket, FakeZendesk } from '../support/fake-zendesk.ts';
import { HOUR, MINUTE, PolledProvider, type SocketClock } from '../support/polls.ts';

const TOKENS = /^\/oauth\/tokens$/;
const TICKET = /^\/api\/v2\/tickets\//;
const CLIENT = { clientId: 'octavo', clientSecret: 'zd-client-secret' };

let clock: SocketClock;
let helpdesk: FakeZendesk;
let note: Note;
let refreshToken: string;
let ticket: FakeTicket;
const polled = new PolledProvider<
  FakeZendesk,
  { life: number | null },
  { refreshToken: string; clientSecret: string; note: Note }
>(
  ({ life = 3600, ...options }) => new FakeZendesk({ ...options, oauth: { ...CLIENT, life } }),
  (settings) => openZendesk({ subdomain: 'acme', ...CLIENT, refreshToken, note, ...settings }),
  (fake, itsClock) => {
    [helpdesk, clock] = [fake, itsClock];
    note = openMemoryStore().note('tokens');
    refreshToken = helpdesk.authorize();
    ticket = helpdesk.addTicket(helpdesk.addUser('end-user', 'Cora Customer'), 'Help', 'How?');
  },
);
const { open, reconnect: restart } = polled;

const fetchOne = () => polled.fetch(ticket.id);
const renewals = () => helpdesk.count(TOKENS, 200);
async function failure(): Promise<Error> {
  return fetchOne().then(
    () => expect.unreachable('nothing failed'),
    (error: Error) => error,
  );
}

/** A note whose writes fail, or stop the process, from the nth on. */
function failingNote(from: number): Note & { writes: number } {
  const kept = note;
  return {
    writes: 0,
    read: () => kept.read(),
    async write(value) {
      this.writes += 1;
      if (this.writes >= from) {
        throw new StoreError('the disk is full');
      }
      await kept.write(value);
    },
  };
}

describe('an access token', () => {
  test.each([
    [3600, 54 * MINUTE, 2 * MINUTE, 2],
    [300, 4 * MINUTE, 40_000, 2],
    [null, 400 * 24 * HOUR, 24 * HOUR, 1],
  ])('that is valid for %s s is used until shortly before it expires', async (life, used, later, renewed) => {
    await open({ life });
    await fetchOne();
    await clock.advance(used);
    await fetchOne();
    expect(renewals()).toBe(1);
    await clock.advance(later);
    await fetchOne();
    expect(renewals()).toBe(renewed);
    expect(helpdesk.count(/./, 401)).toBe(0);
  });

  test('that is revoked early is renewed once for any number of requests', async () => {
    await fetchOne();
    helpdesk.withdrawAccess();
    const signal = new AbortController().signal;
    const all = Array.from({ length: 8 }, () => polled.source.fetch(String(ticket.id), signal));
    expect((await clock.run(Promise.all(all))).map(({ kind }) => kind)).toEqual(Array(8).fill('skipped'));
    expect(renewals()).toBe(2);
  });

  test('that is refused although it is new fails without a loop', async () => {
    helpdesk.meanwhile = ({ path }) => TICKET.test(path) && helpdesk.withdrawAccess();
    expect(await failure()).toBeInstanceOf(AuthError);
    expect([renewals(), helpdesk.count(TICKET, 401)]).toEqual([2, 2]);
  });
});

describe('the next refresh token', () => {
  test('is durable before the new access token is used', async () => {
    const seen: unknown[] = [];
    helpdesk.meanwhile = ({ path }) => {
      if (TICKET.test(path)) {
        seen.push(note.read());
      }
    };
    await fetchOne();
    const [, access] = helpdesk.tokens;
    expect(await seen[0]).toMatchObject({ refreshToken: helpdesk.tokens[0], access: { token: access } });
  });

  test('that cannot be written blocks requests until it can, without another renewal', async () => {
    const failing = failingNote(1);
    await restart({ note: failing });
    expect(await failure()).toBeInstanceOf(StoreError);
    expect(await failure()).toBeInstanceOf(StoreError);
    expect([renewals(), helpdesk.count(TICKET)]).toEqual([1, 0]);
    failing.write = (value) => note.write(value);
    await fetchOne();
    expect(renewals()).toBe(1);
    await restart();
    await fetchOne();
    expect(renewals()).toBe(1);
  });

  test('is used by the next process, as is a valid access token', async () => {
    await fetchOne();
    await restart();
    await fetchOne();
    expect(renewals()).toBe(1);
    await clock.advance(2 * HOUR);
    await restart();
    await fetchOne();
    expect(renewals()).toBe(2);
  });

  test('in flight during a shutdown is awaited and stored', async () => {
    let closing: Promise<void> | undefined;
    helpdesk.meanwhile = ({ path }) => {
      if (TOKENS.test(path)) {
        closing ??= polled.source.close();
      }
    };
    await fetchOne().catch(() => {});
    await clock.run(closing ?? expect.unreachable('nothing was renewed'));
    expect(await note.read()).toMatchObject({ refreshToken: helpdesk.tokens[0] });
    await restart();
    await fetchOne();
    expect(renewals()).toBe(1);
  });

  test('that never arrives does not block the shutdown', async () => {
    let closing: Promise<void> | undefined;
    helpdesk.meanwhile = ({ path }) => {
      if (TOKENS.test(path)) {
        closing ??= polled.source.close();
      }
    };
    helpdesk.fault = () => 503;
    await failure();
    await clock.run(closing ?? expect.unreachable('nothing was renewed'));
    expect(helpdesk.count(TICKET)).toBe(0);
  });

  test('is replaced by a changed one in the configuration', async () => {
    await fetchOne();
    // The client was authorized again, which invalidates the earlier tokens.
    const fresh = helpdesk.authorize();
    helpdesk.withdrawAccess();
    await restart({ refreshToken: fresh });
    await fetchOne();
    expect(renewals()).toBe(2);
    await clock.advance(2 * HOUR);
    await fetchOne();
    expect(helpdesk.count(TOKENS, 400)).toBe(0);
  });
});

describe('an invalid refresh token', () => {
  const asks = /set it as refreshToken$/;

  test('after a kill before the next one was durable fails with advice', async () => {
    await fetchOne();
    await clock.advance(2 * HOUR);
    await restart({ note: failingNote(1) });
    await failure();
    await restart();
    const error = await failure();
    expect(error).toBeInstanceOf(AuthError);
    expect(error.message).toMatch(asks);
    expect(error.message).toContain('"support" (invalid_grant)');
    const fresh = helpdesk.authorize();
    await restart({ refreshToken: fresh });
    expect(await fetchOne()).toMatchObject({ kind: 'skipped' });
  });

  test('after a lost response fails with the same advice, and without requests for tickets', async () => {
    let lost = 0;
    helpdesk.fault = ({ path }) => {
      lost += TOKENS.test(path) ? 1 : 0;
      return TOKENS.test(path) && lost === 1 ? 'dropped' : null;
    };
    const error = await failure();
    expect(error.message).toMatch(asks);
    expect(helpdesk.count(TICKET)).toBe(0);
  });

  test('of another client fails with that reason', async () => {
    await restart({ clientSecret: 'wrong-secret' });
    expect((await failure()).message).toMatch(/\(invalid_client\): .*clientId and clientSecret/);
  });
});

test('is never quoted in an error, and neither is the client secret', async () => {
  const errors: unknown[] = [];
  const quoting = Reflect.get(helpdesk, 'handle') as (request: unknown) => unknown;
  for (const [status, member] of [
    [400, 'error'],
    [400, 'error_description'],
    [200, 'refresh_token_'],
    [403, 'error'],
    [404, 'error'],
  ] as const) {
    Reflect.set(helpdesk, 'handle', (request: { body: unknown; path: string }) =>
      TOKENS.test(request.path)
        ? { status, body: { [member]: `of ${JSON.stringify(request.body)}` } }
        : quoting.call(helpdesk, request),
    );
    await restart();
    errors.push(await failure());
  }
  const texts = errors.map((error) => `${(error as Error).stack} ${JSON.stringify(error)} ${(error as Error).cause}`);
  expect(texts).toHaveLength(5);
  expect(texts.join('\n')).not.toMatch(/zd-refresh|zd-access|zd-client-secret/);
});

test('repeats a request whose token was renewed in the meantime, without another renewal', async () => {
  const clock = createVirtualClock();
  let made = 0;
  const tokens = new RenewedToken(clock, async () => ({ token: `t${++made}`, until: clock.now() + MINUTE }));
  const used: string[] = [];
  const answer = await tokens.authorized(async () => {
    used.push(await tokens.token());
    if (used.length === 1) {
      await clock.advance(2 * MINUTE);
      await tokens.token();
      throw new AuthError('not accepted', 401);
    }
    return 'fine';
  });
  expect([answer, used, made]).toEqual(['fine', ['t1', 't2'], 2]);
});
