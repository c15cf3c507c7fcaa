/** Contract of the forges: comments, commit statuses, deployments and webhooks, at fakes that validate requests. */
import { describe, expect, test } from 'vitest';
import { AuthError, NotThePlatformError } from '../../src/core/errors.ts';
import type { ForgeName } from '../../src/forge/ci-job.ts';
import type { CommitState } from '../../src/forge/forge.ts';
import { type HookSettings, openForge, openForgeStatuses } from '../../src/forge/open-forge.ts';
import { FakeForge, STRANGER } from '../support/fake-forge.ts';
import { FakeHooks } from '../support/fake-hooks.ts';
import {
  type Answer,
  FakeBitbucketStatuses,
  FakeGiteaStatuses,
  FakeGitHubStatuses,
  FakeGitLabStatuses,
  FakeStatusForge,
} from '../support/fake-status-forge.ts';
import { ensureHookAt, FORGES, HEAD, pullAt } from './samples.ts';

const { signal } = new AbortController();
const SHA256 = 'b'.repeat(64);
const PAGE = 'https://octavo.acme.example/o/org_1';
const status = (state: CommitState) => ({ state, context: 'c', description: 'd', url: null });

const [GITHUB] = FORGES;

function forgeAt(fake: FakeForge, { name, repository }: (typeof FORGES)[number], more: object = {}, token?: string) {
  const pull = { ...pullAt(fake, name, repository), ...more };
  const forge = openForge(pull, token ?? FakeForge.token, signal, 'octavo/0');
  if (forge === null) {
    throw new Error('comments are supported');
  }
  return forge;
}

describe.each(FORGES)('comments at $name', (at) => {
  const { open, name } = at;

  test('are created, read, updated and deleted', async () => {
    await using fake = await open();
    const forge = forgeAt(fake, at);
    const { id } = await forge.create('one');
    await forge.create('two');
    await forge.update(id, 'changed');
    expect(await forge.listOwn()).toEqual([
      { id, body: 'changed' },
      { id: id + 1, body: 'two' },
    ]);
    await forge.remove(id);
    expect(fake.comments.map(({ body }) => body)).toEqual(['two']);
    // A missing one is ignored when it is deleted, and fails when it is updated.
    await forge.remove(4711);
    await expect(forge.update(4711, 'x')).rejects.toMatchObject({ code: 'rejected', status: 404 });
  });

  test('of others are not listed, over all pages', async () => {
    await using fake = await open();
    const forge = forgeAt(fake, at);
    for (let number = 0; number < 250; number += 1) {
      fake.comment(STRANGER, `<!-- octavo:plan organization=org_1 run=9.${number} -->`);
    }
    const { id } = await forge.create('mine');
    for (let number = 0; number < 120; number += 1) {
      fake.comment(STRANGER, 'more');
    }
    expect(await forge.listOwn()).toEqual([{ id, body: 'mine' }]);
  });

  test('may have the maximum size, and no more', async () => {
    await using fake = await open();
    const forge = forgeAt(fake, at);
    await forge.create('x'.repeat(forge.maxLength));
    if (name !== 'gitea') {
      await expect(forge.create('x'.repeat(forge.maxLength + 2))).rejects.toMatchObject({ code: 'rejected' });
    }
    expect(fake.comments).toHaveLength(1);
  });
});

const githubAt = async (answer: Answer, on = /^PATCH /) => {
  const fake = await GITHUB.open();
  fake.fault = (request) => (on.test(request) ? answer : null);
  return { fake, forge: forgeAt(fake, GITHUB) };
};

test.each([
  ['a limit that resets soon', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1500000030' }, 30_000],
  ['a limit with a time to wait', { 'retry-after': '7' }, 7000],
  ['a secondary limit that only the documentation link identifies', {}, null],
])('reports a 403 of GitHub for %s as rate-limited', async (_what, headers, after) => {
  const date = new Date(1_500_000_000_000).toUTCString();
  const documentation =
    'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits';
  const body = { message: 'Please wait a few minutes before you try again.', documentation_url: documentation };
  const { fake, forge } = await githubAt({ status: 403, body, headers: { ...headers, date } });
  await using _fake = fake;
  await expect(forge.update(1, 'x')).rejects.toMatchObject({ code: 'rate-limited', after });
});

test.each([
  [[{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }], 'rate-limited'],
  [[{ message: 'Something went wrong while executing your query' }], 'transient'],
  [[{ type: 'FORBIDDEN', message: 'Resource not accessible' }], 'not-authorized'],
])('classifies a GraphQL error of GitHub: %j', async (errors, code) => {
  const { fake, forge } = await githubAt({ status: 200, body: { errors } }, /graphql/);
  await using _fake = fake;
  await expect(forge.listOwn()).rejects.toMatchObject({ code });
});

const STATES: readonly CommitState[] = ['pending', 'running', 'failure', 'error', 'success', 'superseded'];
const PLAIN = ['pending', 'pending', 'failure', 'error', 'success', 'success'];
interface StatusForge {
  readonly type: ForgeName;
  readonly repository: string;
  readonly make: () => FakeStatusForge;
  readonly states: readonly string[];
}
const STATUS_GITHUB: StatusForge = {
  ...{ type: 'github', repository: 'acme/docs', make: () => new FakeGitHubStatuses(), states: PLAIN },
};
const STATUS_GITLAB: StatusForge = {
  ...{ type: 'gitlab', repository: 'acme/team/docs', make: () => new FakeGitLabStatuses() },
  states: ['pending', 'running', 'failed', 'failed', 'success', 'canceled'],
};
const STATUS_GITEA: StatusForge = {
  ...{ type: 'gitea', repository: 'acme/docs', make: () => new FakeGiteaStatuses(), states: PLAIN },
};
const STATUS_BITBUCKET: StatusForge = {
  ...{ type: 'bitbucket', repository: 'acme/docs', make: () => new FakeBitbucketStatuses() },
  states: ['INPROGRESS', 'INPROGRESS', 'FAILED', 'FAILED', 'SUCCESSFUL', 'STOPPED'],
};

async function openStatuses({ type, repository, make }: StatusForge) {
  const fake = await make().listen();
  const target = { type, apiUrl: fake.apiUrl, repository, token: FakeStatusForge.token, ref: 'main' };
  return { fake, client: openForgeStatuses(target, signal, 'octavo/0') };
}

describe.each([STATUS_GITHUB, STATUS_GITLAB, STATUS_GITEA, STATUS_BITBUCKET])('statuses at $type', (at) => {
  test('have every state of a commit, with a link', async () => {
    const { fake, client } = await openStatuses(at);
    await using _ = fake;
    for (const sha of [HEAD, SHA256]) {
      for (const state of STATES) {
        await client.setStatus(sha, { state, context: 'octavo/org_1', description: `is ${state}`, url: PAGE });
      }
      const shown = fake.statuses.filter((each) => each.sha === sha);
      expect(shown.map(({ state }) => state)).toEqual(at.states);
      const first = { sha, name: 'octavo/org_1', state: at.states[0], description: 'is pending', url: PAGE };
      expect(shown[0]).toEqual(first);
    }
    expect(fake.requests).toHaveLength(12);
    expect(fake.problems).toEqual([]);
  });

  test('may have a description of the maximum length, and a long name', async () => {
    const { fake, client } = await openStatuses(at);
    await using _ = fake;
    const description = '😀'.repeat(client.maxDescription);
    const context = `octavo/${'organization'.repeat(10)}`;
    await client.setStatus(HEAD, { state: 'success', context, description, url: null });
    expect(fake.statuses).toMatchObject([{ name: context, description }]);
  });
});

test('GitLab may refuse a repetition, but no other 400 counts as done', async () => {
  const { fake, client } = await openStatuses(STATUS_GITLAB);
  await using _ = fake;
  for (const state of ['running', 'running', 'pending'] as const) {
    await client.setStatus(HEAD, status(state));
  }
  expect(fake.of(HEAD)).toEqual(['running: d']);
  fake.fault = () => ({ status: 400, body: { message: 'ref is invalid' } });
  await expect(client.setStatus(HEAD, status('success'))).rejects.toMatchObject({ code: 'rejected', status: 400 });
});

test('GitLab gets no link that is too long', async () => {
  const { fake, client } = await openStatuses(STATUS_GITLAB);
  await using _ = fake;
  await client.setStatus(HEAD, { ...status('success'), url: `${PAGE}/${'a'.repeat(250)}` });
  expect(fake.statuses).toMatchObject([{ url: null }]);
});

test('Bitbucket gets a key of 40 characters that stays the same, and the page of the commit without another link', async () => {
  const { fake, client } = await openStatuses(STATUS_BITBUCKET);
  await using _ = fake;
  await client.setStatus(HEAD, { ...status('success'), context: `octavo/${'x'.repeat(60)}` });
  expect(fake.statuses).toMatchObject([{ url: `https://bitbucket.org/acme/docs/commits/${HEAD}` }]);
  expect(fake.problems).toEqual([]);
});

test.each([
  [STATUS_GITHUB, ['in_progress', 'failure', 'success', 'success', 'inactive']],
  [STATUS_GITLAB, ['running', 'failed', 'success', 'canceled']],
] as const)('deployments at $type are created once, found again, and get their states', async (at, states) => {
  const { fake, client } = await openStatuses(at);
  await using _ = fake;
  const { deployments } = client;
  const created = { commit: HEAD, environment: 'docs/acme', description: 'applying 3 changes' };
  expect(await deployments?.find(created)).toBeNull();
  const id = (await deployments?.create(created)) ?? '';
  expect(await deployments?.find(created)).toBe(id);
  expect(await deployments?.find({ ...created, commit: SHA256 })).toBeNull();
  const start = deployments?.createdState === null ? ['in_progress' as const] : [];
  for (const state of [...start, 'failure', 'success', 'success', 'inactive'] as const) {
    await deployments?.setState(id, state, { description: 'a description', url: PAGE });
  }
  expect(fake.deployments).toEqual([{ id: 1, sha: HEAD, environment: 'docs/acme', states }]);
  expect(fake.problems).toEqual([]);
});

test.each([STATUS_GITEA, STATUS_BITBUCKET])('$type has no deployments', async (at) => {
  const { fake, client } = await openStatuses(at);
  await using _ = fake;
  expect(client.deployments).toBeNull();
});

const ensure = (fake: FakeHooks, forge: ForgeName, over?: Partial<HookSettings>) =>
  ensureHookAt(fake.apiUrl, forge, over);

describe.each(['github', 'gitlab', 'gitea', 'bitbucket'] as const)('the webhook at %s', (forge) => {
  test('is created once and updated from then on, behind those of others on later pages', async () => {
    await using fake = await new FakeHooks(forge).listen();
    const others = ['a', 'b', 'c'].map((name) => `https://${name}.example/hook`);
    for (const url of others) {
      await ensure(fake, forge, { url });
    }
    expect(await ensure(fake, forge)).toBe('created');
    expect(await ensure(fake, forge, { secret: 'the second secret of the webhook' })).toBe('updated');
    expect(fake.hooks.map(({ url, secret }) => [url, secret])).toEqual([
      ...others.map((url) => [url, 'webhook-secret-never-to-be-seen']),
      ['https://octavo.acme.example/hooks/org_1', 'the second secret of the webhook'],
    ]);
  });

  test('exists once after a lost answer', async () => {
    await using fake = await new FakeHooks(forge).listen();
    let lost = 1;
    fake.fault = (request) => {
      const isLost = request.startsWith('POST ') && lost > 0;
      lost -= isLost ? 1 : 0;
      return isLost ? 'dropped' : null;
    };
    expect(await ensure(fake, forge)).toBe('updated');
    expect(fake.hooks).toHaveLength(1);
  });

  test('needs a token with the permission, which is not asked twice', async () => {
    await using fake = await new FakeHooks(forge).listen();
    await expect(ensure(fake, forge, { token: 'another' })).rejects.toThrow(AuthError);
    expect(fake.requests).toHaveLength(1);
  });
});

test('a signing token of GitLab is sent as one', async () => {
  await using fake = await new FakeHooks('gitlab').listen();
  const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
  await ensure(fake, 'gitlab', { secret });
  expect(fake.hooks).toMatchObject([{ secret, events: ['with a signature'] }]);
});

test('an answer in another format than that of Bitbucket is an error', async () => {
  await using fake = await new FakeHooks('bitbucket').listen();
  fake.fault = () => 200;
  await expect(ensure(fake, 'bitbucket')).rejects.toThrow(NotThePlatformError);
});
