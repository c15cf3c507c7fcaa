import { generateKeyPairSync } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Batch } from '../../src/conversations/model/source.ts';
import { openGithub } from '../../src/conversations/sources/github.ts';
import { AuthError, ConfigError, NotThePlatformError, RejectedError } from '../../src/core/errors.ts';
import { FakeGithub, type FakeGithubOptions, type FakeIssue, type FakeRepository } from '../support/fake-github.ts';
import {
  collectBatches,
  cursorOf,
  DAY,
  foundOf,
  HOUR,
  MINUTE,
  PolledProvider,
  type SocketClock,
  START,
  ticketsOf,
} from '../support/polls.ts';

const LIST = /\/issues$/;
const COMMENTS = /\/comments$/;
const ACCESS = /\/access_tokens$/;
const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = KEYS.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();

type Settings = Partial<Parameters<typeof openGithub>[0]>;

let clock: SocketClock;
let github: FakeGithub;
let repository: FakeRepository;
const polled = new PolledProvider<FakeGithub, FakeGithubOptions, Settings>(
  (options) => new FakeGithub(options),
  (settings) =>
    openGithub({
      repositories: ['acme/product'],
      ...(settings.app === undefined ? { token: FakeGithub.token } : {}),
      teamMembers: ['Ada-Admin'],
      includeNotPlanned: false,
      ...settings,
    }),
  (fake, itsClock) => {
    [github, clock] = [fake, itsClock];
    repository = github.addRepository('acme/product');
  },
);
const { open, connect, reconnect, poll, fetch } = polled;

const app = (id = 7): Pick<FakeGithubOptions, 'app'> => ({ app: { id, installation: 42, publicKey: KEYS.publicKey } });
const asApp = (privateKey = PEM): Settings => ({ app: { id: 7, installationId: 42, privateKey } });

const hintOf = ({ number, node_id }: FakeIssue) => `acme/product#${number}:${node_id}`;
const keyOf = ({ node_id }: FakeIssue) => `github/${node_id}`;
const failureOf = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.unreachable(),
    (error) => error,
  );

function closed(body = 'How do I export?', more: Partial<FakeIssue> = {}): FakeIssue {
  const issue = github.addIssue(repository, 'cora', body, more);
  github.comment(issue, 'abe', 'Under Settings.', { author_association: 'MEMBER' });
  github.close(issue);
  return issue;
}

describe('an issue', () => {
  test('contains its text and its comments, with their authors', async () => {
    const issue = closed();
    github.comment(issue, 'ada-admin', 'Also by the API.', { author_association: 'CONTRIBUTOR' });
    github.comment(issue, 'bo', 'Thanks!', { author_association: 'CONTRIBUTOR' });
    expect(ticketsOf(await poll())).toEqual([
      {
        key: keyOf(issue),
        subject: 'It breaks',
        createdAt: '2026-03-01T12:00:00Z',
        settledAt: START,
        url: 'https://github.example/acme/product/issues/1',
        attributes: { repository: 'acme/product', issue_number: '1', labels: 'api, bug' },
        parts: [
          { role: 'user', body: 'How do I export?' },
          { role: 'team-member', body: 'Under Settings.' },
          // A private member of the organization looks like any other user: the settings name her.
          { role: 'team-member', body: 'Also by the API.' },
          { role: 'user', body: 'Thanks!' },
        ],
        people: ['cora', 'abe', 'ada-admin', 'bo'].map((login) => ({ names: [login], emails: [] })),
        completeness: { reported: 3, fetched: 3 },
        recheck: hintOf(issue),
      },
    ]);
  });

  test('has its assignees and who closed it among its people', async () => {
    const issue = github.addIssue(repository, 'cora', 'How do I export?');
    Object.assign(issue, { assignees: [{ login: 'abe', name: 'Abe Agent' }], closed_by: { login: 'di' } });
    github.close(issue);
    expect(ticketsOf(await poll())[0]?.people).toEqual([
      { names: ['cora'], emails: [] },
      { names: ['abe', 'Abe Agent'], emails: [] },
      { names: ['di'], emails: [] },
    ]);
  });

  test('of a deleted account or without a text is read', async () => {
    const issue = github.addIssue(repository, null, null);
    github.comment(issue, null, 'Still there');
    github.comment(issue, 'cora', null);
    github.close(issue);
    expect(ticketsOf(await poll())[0]).toMatchObject({
      parts: [{ role: 'user', body: 'Still there' }],
      people: [{ names: ['cora'] }],
    });
  });

  test('contains no comment of a bot and no hidden comment', async () => {
    const issue = github.addIssue(repository, 'cora', 'Question');
    github.comment(issue, 'stale[bot]', 'hush: stale', { user: { login: 'stale[bot]', type: 'Bot' } });
    github.comment(issue, 'troll', 'hush: abuse', { minimized: { reason: 'abuse' } });
    github.comment(issue, 'abe', 'Answer', { author_association: 'OWNER', minimized: null });
    github.close(issue);
    const [found] = ticketsOf(await poll());
    expect(found?.parts.map(({ body }) => body)).toEqual(['Question', 'Answer']);
    expect(found?.completeness).toEqual({ reported: 3, fetched: 3 });
  });

  test('is skipped if it is open, declined, empty, of a bot or the team only, or a pull request', async () => {
    const open = github.addIssue(repository, 'cora', 'Open');
    const bots = closed('Bump', { user: { login: 'renovate[bot]', type: 'Bot' } });
    const declined = github.addIssue(repository, 'cora', 'Please');
    github.close(declined, 'not_planned');
    const duplicate = github.addIssue(repository, 'cora', 'Again');
    github.close(duplicate, 'duplicate');
    const empty = github.addIssue(repository, 'cora', null);
    github.close(empty);
    const own = github.addIssue(repository, 'abe', 'A task', { author_association: 'MEMBER' });
    github.close(own);
    closed('A change', { isPullRequest: true });
    expect(foundOf(await poll())).toEqual(
      [
        [open, 'open'],
        [bots, 'bot'],
        [declined, 'declined'],
        [duplicate, 'declined'],
        [empty, 'empty'],
        [own, 'no-customer'],
      ].map(([issue, reason]) => ({ kind: 'skipped', key: keyOf(issue as FakeIssue), reason })),
    );
    expect(github.count(COMMENTS)).toBe(2);
    await reconnect({ includeNotPlanned: true });
    expect(ticketsOf(await poll()).map(({ key }) => key)).toEqual([declined, duplicate].map(keyOf));
  });

  test('reports the number of missing comments', async () => {
    closed('Question', { withheld: 2 });
    expect(ticketsOf(await poll())[0]?.completeness).toEqual({ reported: 3, fetched: 1 });
  });

  test('is complete if a comment was deleted in the meantime', async () => {
    const issue = closed();
    github.comment(issue, 'cora', 'Oops');
    let once = true;
    github.meanwhile = ({ path }) => {
      if (COMMENTS.test(path) && once) {
        once = false;
        github.uncomment(issue);
      }
    };
    expect(ticketsOf(await poll())[0]?.completeness).toEqual({ reported: 1, fetched: 1 });
  });
});

describe('a poll', () => {
  test('uses ETags, so that polls without changes cost no rate limit', async () => {
    closed();
    await clock.advance(20 * MINUTE);
    const first = await poll();
    const second = await poll(cursorOf(first));
    expect(second.map(({ found }) => found)).toEqual([[]]);
    expect(await poll(cursorOf(second))).toEqual([]);
    expect(github.requests.at(-1)?.status).toBe(304);
    await reconnect();
    expect(await poll(cursorOf(second))).toEqual([]);
    expect(github.requests.at(-1)?.status).toBe(304);
    const later = closed('Later');
    expect(ticketsOf(await poll(cursorOf(second))).map(({ key }) => key)).toContain(keyOf(later));
  });

  test('stores no ETag within the second of the last update, and none of a partial list', async () => {
    const issue = closed();
    const first = await poll();
    const second = await poll(cursorOf(first));
    issue.comments.splice(0, 1, {
      ...(issue.comments[0] as FakeIssue['comments'][0]),
      body: 'Edited within the second',
    });
    const third = await poll(cursorOf(second.length === 0 ? first : second));
    expect(ticketsOf(third)[0]?.parts[1]?.body).toBe('Edited within the second');
    await open({ page: 2 });
    Array.from({ length: 5 }, (_, index) => closed(`Issue ${index}`));
    await clock.advance(20 * MINUTE);
    expect(JSON.stringify(cursorOf(await poll()))).not.toContain('etag');
  });

  test('stores a cursor for each repository', async () => {
    const other = github.addRepository('acme/other');
    await reconnect({ repositories: ['acme/product', 'acme/other'] });
    closed('Here');
    const first = await poll();
    await clock.advance(2 * DAY);
    const there = github.addIssue(other, 'cora', 'There', { created_at: '2026-02-01T00:00:00Z' });
    there.updated_at = '2026-02-28T00:00:00Z';
    there.state = 'closed';
    closed('Here again');
    const second = await poll(cursorOf(first));
    expect(ticketsOf(second).map(({ key }) => key)).toContain(keyOf(there));
  });

  test('reports a missing repository, and reads the others', async () => {
    await reconnect({ repositories: ['acme/nowhere', 'acme/product'] });
    closed();
    const batches: Batch[] = [];
    const span = { cursor: null, since: 0, most: Number.POSITIVE_INFINITY };
    const failure = await failureOf(clock.run(collectBatches(polled.source, span, batches)));
    expect(failure).toBeInstanceOf(RejectedError);
    expect(failure.message).toContain('acme/nowhere');
    expect(ticketsOf(batches)).toHaveLength(1);
  });

  test('follows a renamed repository, and keeps the keys of its issues', async () => {
    const issue = closed();
    github.rename(repository, 'acme/renamed');
    expect(ticketsOf(await poll()).map(({ key }) => key)).toEqual([keyOf(issue)]);
    expect(github.count(/./, 301)).toBeGreaterThan(0);
  });

  test('never follows a link to another host', async () => {
    github.rename(repository, 'acme/renamed');
    Object.defineProperty(github, 'baseUrl', { value: 'http://elsewhere.example' });
    expect(await failureOf(poll())).toBeInstanceOf(NotThePlatformError);
  });

  test('keeps the base path of a self-hosted installation', async () => {
    await open({ prefix: '/api/v3', page: 2 });
    for (let index = 0; index < 5; index += 1) {
      closed(`Issue ${index}`);
      await clock.advance(1000);
    }
    expect(new Set(ticketsOf(await poll()).map(({ key }) => key)).size).toBe(5);
  });
});

describe('the rate limit', () => {
  test.each([403, 429] as const)('that others used up (%i) delays requests until its reset', async (refusal) => {
    await open({ refusal });
    closed();
    closed();
    await clock.advance(55 * MINUTE);
    github.useUp();
    expect(ticketsOf(await poll())).toHaveLength(2);
    expect(github.count(/./, refusal)).toBe(1);
    const answered = github.requests.filter(({ status }) => status === 200);
    expect(Math.min(...answered.map(({ at }) => at))).toBeGreaterThanOrEqual(START + HOUR);
  });

  test('without rate headers, but with Retry-After, delays requests', async () => {
    closed();
    let refused = 0;
    github.secondary = ({ path }) => (COMMENTS.test(path) && refused++ < 1 ? { status: 403, retryAfter: 90 } : null);
    expect(ticketsOf(await poll())).toHaveLength(1);
    const [first, second] = github.requests.filter(({ path }) => COMMENTS.test(path)).map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(90_000);
  });

  test('that stays exceeded is retried with a growing backoff', async () => {
    closed();
    let refused = 0;
    github.secondary = ({ path }) => (COMMENTS.test(path) && refused++ < 3 ? { status: 403 } : null);
    await poll();
    const times = github.requests.filter(({ path }) => COMMENTS.test(path)).map(({ at }) => at);
    const waits = times.slice(1).map((at, index) => at - (times[index] as number));
    expect(waits).toEqual([MINUTE, 2 * MINUTE, 4 * MINUTE].map((wait) => expect.closeTo(wait, -2)));
  });

  test('is not assumed for a 403 that refuses the token', async () => {
    closed();
    github.isForbidden = true;
    const failure = await failureOf(poll());
    expect(failure).toBeInstanceOf(AuthError);
    expect(failure.message).not.toContain(FakeGithub.token);
    expect(github.requests).toHaveLength(1);
  });
});

describe('a GitHub App', () => {
  beforeEach(() => {
    const sign = crypto.subtle.sign.bind(crypto.subtle);
    // A signature is created outside the event loop: the clock stops meanwhile, as for a request.
    vi.spyOn(crypto.subtle, 'sign').mockImplementation(async (...of) => {
      channel('undici:request:create').publish({});
      try {
        return await sign(...of);
      } finally {
        channel('undici:request:error').publish({});
      }
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('requests an installation token once, and again before it expires', async () => {
    await open(app(), asApp());
    closed();
    const first = await poll();
    await clock.advance(50 * MINUTE);
    await poll(cursorOf(first));
    expect(github.count(ACCESS)).toBe(1);
    await clock.advance(6 * MINUTE);
    closed();
    expect(ticketsOf(await poll(cursorOf(first)))).not.toHaveLength(0);
    expect(github.count(ACCESS, 201)).toBe(2);
    expect(github.count(/./, 401)).toBe(0);
  });

  test.each([
    ['PKCS #1', PEM],
    ['PKCS #8', KEYS.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    ['one line', PEM.replaceAll('\n', '\\n')],
  ])('accepts a key as %s', async (_, privateKey) => {
    await open(app(), asApp(privateKey));
    closed();
    expect(ticketsOf(await poll())).toHaveLength(1);
  });

  test('signs tokens that a server with a slow clock accepts', async () => {
    await open({ ...app(), behind: 50_000 }, asApp());
    closed();
    expect(ticketsOf(await poll())).toHaveLength(1);
  });

  test('uses separate tokens for equal installation ids on two servers', async () => {
    await open(app(), asApp());
    const other = await new FakeGithub({ clock, ...app() }).listen();
    other.addRepository('acme/product');
    other.addRepository('acme/other');
    const second = connect({ ...asApp(), baseUrl: other.baseUrl });
    closed();
    const span = { cursor: null, since: START - 30 * DAY, most: Number.POSITIVE_INFINITY };
    await clock.run(Promise.all([collectBatches(polled.source, span), collectBatches(second, span)]));
    expect([github.count(ACCESS, 201), other.count(ACCESS, 201)]).toEqual([1, 1]);
    expect([...github.tokens.keys()]).not.toEqual([...other.tokens.keys()]);
    expect([github.count(/./, 401), other.count(/./, 401)]).toEqual([0, 0]);
    await clock.run(second.close());
    await other[Symbol.asyncDispose]();
  });

  test('requests a new token after the old one was revoked', async () => {
    await open(app(), asApp());
    closed();
    const first = await poll();
    github.tokens.clear();
    closed();
    expect(ticketsOf(await poll(cursorOf(first)))).not.toHaveLength(0);
    expect(github.count(ACCESS)).toBe(2);
  });

  test('is reported if GitHub does not know it', async () => {
    await open(app(8), asApp());
    const failure = await failureOf(poll());
    expect(failure).toBeInstanceOf(AuthError);
    expect(failure.message).not.toMatch(/ey[A-Za-z0-9]/);
    expect(github.count(LIST)).toBe(0);
  });

  test('with an invalid key fails at once, without quoting the key', () => {
    for (const key of [
      'hush',
      PEM.slice(0, 200),
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ]) {
      let failure: Error | null = null;
      try {
        connect(asApp(key));
      } catch (error) {
        failure = error as Error;
      }
      expect(failure).toBeInstanceOf(ConfigError);
      expect(failure?.cause).toBeUndefined();
      expect(failure?.message).not.toContain(key.slice(0, 40));
    }
  });
});

describe('a hint', () => {
  test('of a person has a repository in any case, and no node id', async () => {
    const issue = closed();
    expect(await fetch('ACME/Product#1')).toMatchObject({ kind: 'ticket', ticket: { key: keyOf(issue) } });
  });

  test('for a transferred issue reports it as gone', async () => {
    const moved = closed();
    github.transfer(repository, moved, github.addRepository('acme/other'));
    expect(await fetch(hintOf(moved))).toEqual({ kind: 'gone', key: keyOf(moved) });
  });

  test.each(['acme/other#1', 'nonsense', 'acme/product#99', 'acme/product#1/../../x'])('is refused: %s', async (id) => {
    expect(await fetch(id)).toMatchObject({ kind: 'rejected', place: id });
  });

  test('for a repository that is no longer configured reports its issue as gone', async () => {
    expect(await fetch('acme/other#1:I_1')).toEqual({ kind: 'gone', key: 'github/I_1' });
    expect(github.requests).toHaveLength(0);
  });

  test('for an unreachable repository reports nothing about the issue', async () => {
    const issue = closed();
    const hint = hintOf(issue);
    github.repositories.splice(0);
    expect(await fetch(hint)).toMatchObject({ kind: 'rejected', reason: expect.stringContaining('acme/product') });
  });

  test('for a pull request is refused', async () => {
    const issue = closed('A change', { isPullRequest: true });
    expect(await fetch(hintOf(issue))).toMatchObject({ kind: 'rejected' });
  });
});
