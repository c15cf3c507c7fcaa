import { describe, expect, test } from 'vitest';
import { openForge } from '../../src/forge/open-forge.ts';
import { type Answer, FakeForge, FakeGiteaBelow, FakeGitHubServer, STRANGER } from '../support/fake-forge.ts';
import { FORGES, HEAD, pullAt } from './samples.ts';

const { signal } = new AbortController();

describe.each(FORGES)('$name', ({ name, open, repository }) => {
  const forgeAt = (fake: FakeForge, token: string = FakeForge.token) => {
    const forge = openForge(pullAt(fake, name, repository), token, signal, 'octavo/0');
    if (forge === null) {
      throw new Error('comments are supported');
    }
    return forge;
  };

  test('creates, reads, updates and deletes comments', async () => {
    await using fake = await open();
    const forge = forgeAt(fake);
    const { id } = await forge.create('one');
    await forge.create('two');
    await forge.update(id, 'changed');
    expect(await forge.listOwn()).toEqual([
      { id, body: 'changed' },
      { id: id + 1, body: 'two' },
    ]);
    await forge.remove(id);
    expect(fake.comments.map(({ body }) => body)).toEqual(['two']);
  });

  test('lists only its own comments, over all pages', async () => {
    await using fake = await open();
    const forge = forgeAt(fake);
    for (let at = 0; at < 250; at += 1) {
      fake.comment(STRANGER, `<!-- octavo:plan organization=org_1 run=9.${at} -->`);
    }
    const { id } = await forge.create('mine');
    for (let at = 0; at < 120; at += 1) {
      fake.comment(STRANGER, 'more');
    }
    expect(await forge.listOwn()).toEqual([{ id, body: 'mine' }]);
  });

  test('ignores a missing comment when it deletes, and fails when it updates', async () => {
    await using fake = await open();
    const forge = forgeAt(fake);
    await forge.remove(4711);
    await expect(forge.update(4711, 'x')).rejects.toMatchObject({ code: 'rejected', status: 404 });
  });

  test('sets a commit status with state, context and description', async () => {
    await using fake = await open();
    const forge = forgeAt(fake);
    for (const state of ['success', 'failure', 'error'] as const) {
      await forge.setStatus({ state, context: 'octavo/plan/org_1', description: '1 to create' });
    }
    const expected = name === 'gitlab' ? ['success', 'failed', 'failed'] : ['success', 'failure', 'error'];
    const rest = { sha: HEAD, context: 'octavo/plan/org_1', description: '1 to create' };
    expect(fake.statuses).toEqual(expected.map((state) => ({ state, ...rest })));
  });

  test('reports an authorization error for an unknown token and one without permission', async () => {
    await using fake = await open();
    fake.may.comment = false;
    fake.may.status = false;
    const forge = forgeAt(fake);
    await expect(forge.create('x')).rejects.toMatchObject({ code: 'not-authorized', status: 403 });
    const status = { state: 'success', context: 'c', description: 'd' } as const;
    await expect(forge.setStatus(status)).rejects.toMatchObject({ code: 'not-authorized', status: 403 });
    const unknown = forgeAt(fake, 'another-token');
    await expect(unknown.create('x')).rejects.toMatchObject({ code: 'not-authorized', status: 401 });
  });

  test('accepts a comment of the maximum size, and refuses a longer one', async () => {
    await using fake = await open();
    const forge = forgeAt(fake);
    await forge.create('x'.repeat(forge.maxLength));
    if (name !== 'gitea') {
      await expect(forge.create('x'.repeat(forge.maxLength + 2))).rejects.toMatchObject({ code: 'rejected' });
    }
    expect(fake.comments).toHaveLength(1);
  });

  test.each([
    [500, 'transient'],
    [503, 'transient'],
    ['dropped', 'transient'],
    [422, 'rejected'],
  ] as const)('reports %s as %s, without quoting the request', async (fault, code) => {
    await using fake = await open();
    fake.fault = () => fault;
    const error = await forgeAt(fake)
      .update(1, 'a-private-title')
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    expect(String(error)).not.toMatch(new RegExp(`${FakeForge.token}|a-private-title`));
  });
});

test('finds its comments with a workflow token of Gitea, which has no user', async () => {
  const { open, name, repository } = FORGES[2];
  await using fake = await open();
  fake.self = -2;
  fake.comment(STRANGER, 'not mine');
  const forge = openForge(pullAt(fake, name, repository), FakeForge.token, signal, 'octavo/0');
  await forge?.create('mine');
  expect((await forge?.listOwn())?.map(({ body }) => body)).toEqual(['mine']);
});

test('reports an authorization error if GitHub does not return the owner of the token', async () => {
  const { open, name, repository } = FORGES[0];
  await using fake = await open();
  fake.may.identify = false;
  const forge = openForge(pullAt(fake, name, repository), FakeForge.token, signal, 'octavo/0');
  await expect(forge?.listOwn()).rejects.toMatchObject({ code: 'not-authorized' });
});

const githubAt = async (answer: Answer, on = /^PATCH /) => {
  const { open, name, repository } = FORGES[0];
  const fake = await open();
  fake.fault = (request) => (on.test(request) ? answer : null);
  return { fake, forge: openForge(pullAt(fake, name, repository), FakeForge.token, signal, 'octavo/0') };
};

test.each([
  ['a limit that resets soon', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1500000030' }, 30_000],
  ['a limit with a time to wait', { 'retry-after': '7' }, 7000],
  ['a secondary limit that only the documentation link identifies', {}, null],
])('reports a 403 of GitHub for %s as rate-limited', async (_what, headers, after) => {
  const date = new Date(1_500_000_000_000).toUTCString();
  const body = {
    message: 'Please wait a few minutes before you try again.',
    documentation_url:
      'https://docs.github.com/free-pro-team@latest/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits',
  };
  const { fake, forge } = await githubAt({ status: 403, body, headers: { ...headers, date } });
  await using _fake = fake;
  await expect(forge?.update(1, 'x')).rejects.toMatchObject({ code: 'rate-limited', after });
});

test.each([
  [[{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }], 'rate-limited'],
  [[{ message: 'Something went wrong while executing your query' }], 'transient'],
  [[{ type: 'FORBIDDEN', message: 'Resource not accessible' }], 'not-authorized'],
])('classifies a GraphQL error of GitHub: %j', async (errors, code) => {
  const { fake, forge } = await githubAt({ status: 200, body: { errors } }, /graphql/);
  await using _fake = fake;
  await expect(forge?.listOwn()).rejects.toMatchObject({ code });
});

describe('GitLab', () => {
  const { open, name, repository } = FORGES[1];

  test('reports an exceeded rate limit after one request', async () => {
    await using fake = await open();
    let sent = 0;
    fake.fault = () => {
      sent += 1;
      return 429;
    };
    const forge = openForge(pullAt(fake, name, repository), FakeForge.token, signal, 'octavo/0');
    await expect(forge?.create('x')).rejects.toMatchObject({ code: 'rate-limited' });
    expect(sent).toBe(1);
  });

  test('omits a link that is too long for a status', async () => {
    await using fake = await open();
    const runUrl = `https://gitlab.example/${'group/'.repeat(50)}docs/-/jobs/1`;
    const forge = openForge({ ...pullAt(fake, name, repository), runUrl }, FakeForge.token, signal, 'octavo/0');
    await forge?.setStatus({ state: 'success', context: 'c', description: 'd' });
    expect(fake.statuses).toHaveLength(1);
  });
});

test.each([
  ['GitHub Enterprise Server', 'github', () => new FakeGitHubServer()],
  ['Gitea below a path', 'gitea', () => new FakeGiteaBelow()],
] as const)('uses the API address of %s', async (_what, name, make) => {
  await using fake = await make().listen();
  for (let at = 0; at < 150; at += 1) {
    fake.comment(STRANGER, 'somebody else');
  }
  const forge = openForge(pullAt(fake, name, 'acme/docs'), FakeForge.token, signal, 'octavo/0');
  const made = await forge?.create('mine');
  await forge?.update(made?.id ?? 0, 'still mine');
  await forge?.setStatus({ state: 'success', context: 'c', description: 'd' });
  expect(await forge?.listOwn()).toEqual([{ id: made?.id, body: 'still mine' }]);
  expect(fake.statuses).toHaveLength(1);
});

test('writes no comments at Bitbucket', () => {
  const fake = { apiUrl: 'http://127.0.0.1:1' } as FakeForge;
  expect(openForge(pullAt(fake, 'bitbucket', 'acme/docs'), 'token', signal, 'octavo/0')).toBeNull();
});
