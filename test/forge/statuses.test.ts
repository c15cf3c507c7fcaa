/** Commit statuses and deployments at fakes that validate requests. */
import { describe, expect, test } from 'vitest';
import type { CommitState } from '../../src/forge/forge.ts';
import { openForgeStatuses } from '../../src/forge/open-forge.ts';
import {
  FakeBitbucketStatuses,
  FakeGiteaStatuses,
  FakeGitHubStatuses,
  FakeGitLabStatuses,
  FakeStatusForge,
} from '../support/fake-status-forge.ts';

const { signal } = new AbortController();
const SHA1 = 'a'.repeat(40);
const SHA256 = 'b'.repeat(64);

const FORGES = [
  {
    type: 'github',
    repository: 'acme/docs',
    make: () => new FakeGitHubStatuses(),
    states: ['pending', 'pending', 'failure', 'error', 'success', 'success'],
  },
  {
    type: 'gitlab',
    repository: 'acme/team/docs',
    make: () => new FakeGitLabStatuses(),
    states: ['pending', 'running', 'failed', 'failed', 'success', 'canceled'],
  },
  {
    type: 'gitea',
    repository: 'acme/docs',
    make: () => new FakeGiteaStatuses(),
    states: ['pending', 'pending', 'failure', 'error', 'success', 'success'],
  },
  {
    type: 'bitbucket',
    repository: 'acme/docs',
    make: () => new FakeBitbucketStatuses(),
    states: ['INPROGRESS', 'INPROGRESS', 'FAILED', 'FAILED', 'SUCCESSFUL', 'STOPPED'],
  },
] as const;
const STATES: readonly CommitState[] = ['pending', 'running', 'failure', 'error', 'success', 'superseded'];

const open = (
  fake: FakeStatusForge,
  { type, repository }: Pick<(typeof FORGES)[number], 'type' | 'repository'>,
  token = FakeStatusForge.token,
) => openForgeStatuses({ type, apiUrl: fake.apiUrl, repository, token, ref: 'main' }, signal, 'octavo/0');

describe.each(FORGES)('$type', (forge) => {
  const { make, states } = forge;

  test('sets every state of a commit, with a link', async () => {
    await using fake = await make().listen();
    const client = open(fake, forge);
    for (const sha of [SHA1, SHA256]) {
      for (const state of STATES) {
        await client.setStatus(sha, {
          ...{ state, context: 'octavo/org_1', description: `is ${state}`, url: 'https://octavo.acme.example/o/org_1' },
        });
      }
      const shown = fake.statuses.filter((status) => status.sha === sha);
      expect(shown.map(({ state }) => state)).toEqual(states);
      expect(shown[0]).toEqual({
        ...{ sha, name: 'octavo/org_1', state: states[0], description: 'is pending' },
        url: 'https://octavo.acme.example/o/org_1',
      });
    }
    expect(fake.requests).toHaveLength(12);
    expect(fake.problems).toEqual([]);
  });

  test('accepts a description of the maximum length, and a long name', async () => {
    await using fake = await make().listen();
    const client = open(fake, forge);
    const description = '😀'.repeat(client.maxDescription);
    const context = `octavo/${'organization'.repeat(10)}`;
    await client.setStatus(SHA1, { state: 'success', context, description, url: null });
    expect(fake.statuses).toMatchObject([{ name: context, description }]);
  });

  test.each([
    [401, 'not-authorized'],
    [403, 'not-authorized'],
    [404, 'rejected'],
    [422, 'rejected'],
    [503, 'transient'],
  ])('reports %i as %s, without the answer and the token', async (status, code) => {
    await using fake = await make().listen();
    fake.fault = () => ({ status, body: { message: 'a-private-title' } });
    const sent = { state: 'success', context: 'c', description: 'd', url: null } as const;
    const error = await open(fake, forge)
      .setStatus(SHA1, sent)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    expect(String(error)).toContain(`answers with ${status} when asked to set the commit status`);
    expect(String(error)).not.toMatch(/a-private-title|never-to-be-seen/);
  });

  test('reports the time to wait after a rate limit, and a lost answer', async () => {
    await using fake = await make().listen();
    const sent = { state: 'success', context: 'c', description: 'd', url: null } as const;
    fake.fault = () => ({ status: 429, headers: { 'retry-after': '7' } });
    await expect(open(fake, forge).setStatus(SHA1, sent)).rejects.toMatchObject({ code: 'rate-limited', after: 7000 });
    fake.fault = () => 'lost';
    await expect(open(fake, forge).setStatus(SHA1, sent)).rejects.toMatchObject({ code: 'transient', maybeDone: true });
    fake.fault = () => null;
    await expect(open(fake, forge, 'another').setStatus(SHA1, sent)).rejects.toMatchObject({ status: 401 });
  });
});

describe('GitLab', () => {
  test('takes a refused repetition for done, and no other 400', async () => {
    await using fake = await new FakeGitLabStatuses().listen();
    const client = open(fake, FORGES[1]);
    const status = (state: CommitState) => ({ state, context: 'c', description: 'd', url: null });
    await client.setStatus(SHA1, status('running'));
    await client.setStatus(SHA1, status('running'));
    await client.setStatus(SHA1, status('pending'));
    expect(fake.of(SHA1)).toEqual(['running: d']);
    fake.fault = () => ({ status: 400, body: { message: 'ref is invalid' } });
    await expect(client.setStatus(SHA1, status('success'))).rejects.toMatchObject({ code: 'rejected', status: 400 });
  });

  test('leaves out a link that is too long', async () => {
    await using fake = await new FakeGitLabStatuses().listen();
    const url = `https://octavo.acme.example/${'a'.repeat(250)}`;
    await open(fake, FORGES[1]).setStatus(SHA1, { state: 'success', context: 'c', description: 'd', url });
    expect(fake.statuses).toMatchObject([{ url: null }]);
  });
});

test('Bitbucket gets a key of 40 characters that stays the same, and the page of the commit without another link', async () => {
  await using fake = await new FakeBitbucketStatuses().listen();
  const client = open(fake, FORGES[3]);
  await client.setStatus(SHA1, { state: 'success', context: `octavo/${'x'.repeat(60)}`, description: 'd', url: null });
  expect(fake.statuses).toMatchObject([{ url: `https://bitbucket.org/acme/docs/commits/${SHA1}` }]);
  expect(fake.problems).toEqual([]);
});

describe.each(FORGES.slice(0, 2))('deployments at $type', (forge) => {
  const NEW = { commit: SHA1, environment: 'docs/acme', description: 'applying 3 changes' };

  test('are created once, found again, and get their states', async () => {
    await using fake = await forge.make().listen();
    const { deployments } = open(fake, forge);
    expect(await deployments?.find(NEW)).toBeNull();
    const id = (await deployments?.create(NEW)) ?? '';
    expect(await deployments?.find(NEW)).toBe(id);
    expect(await deployments?.find({ ...NEW, commit: SHA256 })).toBeNull();
    const start = deployments?.createdState === null ? ['in_progress' as const] : [];
    for (const state of [...start, 'failure', 'success', 'success', 'inactive'] as const) {
      await deployments?.setState(id, state, { description: 'a description', url: 'https://octavo.acme.example/' });
    }
    const states =
      forge.type === 'github'
        ? ['in_progress', 'failure', 'success', 'success', 'inactive']
        : ['running', 'failed', 'success', 'canceled'];
    expect(fake.deployments).toEqual([{ id: 1, sha: SHA1, environment: 'docs/acme', states }]);
    expect(fake.problems).toEqual([]);
  });
});

test.each(FORGES.slice(2))('$type has no deployments', async (forge) => {
  await using fake = await forge.make().listen();
  expect(open(fake, forge).deployments).toBeNull();
});
