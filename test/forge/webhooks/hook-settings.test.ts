import { describe, expect, test } from 'vitest';
import { AuthError, NotThePlatformError } from '../../../src/core/errors.ts';
import { ensureHook, type HookSettings } from '../../../src/forge/open-forge.ts';
import { createVirtualClock } from '../../queue/virtual-clock.ts';
import { FakeHooks, type HookForge } from '../../support/fake-hooks.ts';

const URL_OF_HOOK = 'https://octavo.acme.example/hooks/org_1';
const KEY = `whsec_${Buffer.alloc(32).toString('base64')}`;

function ensure(fake: FakeHooks, forge: HookForge, over: Partial<HookSettings> = {}) {
  const settings = {
    ...{ forge, apiUrl: fake.apiUrl, repository: 'acme/docs', token: FakeHooks.token },
    ...{ url: URL_OF_HOOK, secret: 'the first secret of the webhook', ...over },
  };
  const clock = { ...createVirtualClock(), sleep: async () => undefined };
  return ensureHook(settings, { clock, signal: new AbortController().signal, userAgent: 'octavo/0' });
}

const FORGES = ['github', 'gitlab', 'gitea', 'bitbucket'] as const;

describe.each(FORGES)('the webhook at %s', (forge) => {
  test('is created once, and updated from then on', async () => {
    await using fake = await new FakeHooks(forge).listen();
    expect(await ensure(fake, forge)).toBe('created');
    expect(await ensure(fake, forge, { secret: 'the second secret of the webhook' })).toBe('updated');
    expect(fake.hooks).toMatchObject([{ url: URL_OF_HOOK, secret: 'the second secret of the webhook' }]);
  });

  test('is found behind those of others on later pages, which are left alone', async () => {
    await using fake = await new FakeHooks(forge).listen();
    for (const name of ['a', 'b', 'c']) {
      await ensure(fake, forge, { url: `https://${name}.example/hook` });
    }
    await ensure(fake, forge);
    expect(await ensure(fake, forge)).toBe('updated');
    expect(fake.hooks.map(({ url }) => url)).toEqual([
      ...['a', 'b', 'c'].map((name) => `https://${name}.example/hook`),
      URL_OF_HOOK,
    ]);
  });

  test('exists once after a lost answer', async () => {
    await using fake = await new FakeHooks(forge).listen();
    let lost = 1;
    fake.fault = (method) => {
      const isLost = method === 'POST' && lost > 0;
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
  await ensure(fake, 'gitlab', { secret: KEY });
  expect(fake.hooks).toMatchObject([{ secret: KEY, events: ['with a signature'] }]);
});

test('an answer in another format than that of Bitbucket is an error', async () => {
  await using fake = await new FakeHooks('bitbucket').listen();
  fake.fault = () => 200;
  await expect(ensure(fake, 'bitbucket')).rejects.toThrow(NotThePlatformError);
});
