import { describe, expect, test } from 'vitest';
import { forgeTarget } from '../../src/config/forge.ts';

describe('the forge of a repository', () => {
  test.each([
    ['https://github.com/acme/docs.git', 'github', 'https://api.github.com', 'acme/docs'],
    ['https://user:pass@github.com/acme/docs', 'github', 'https://api.github.com', 'acme/docs'],
    ['git@github.com:acme/docs.git', 'github', 'https://api.github.com', 'acme/docs'],
    ['ssh://git@ssh.github.com:443/acme/docs.git', 'github', 'https://api.github.com', 'acme/docs'],
    ['https://acme.ghe.com/team/docs.git', 'github', 'https://api.acme.ghe.com', 'team/docs'],
    ['https://gitlab.com/acme/team/docs.git', 'gitlab', 'https://gitlab.com/api/v4', 'acme/team/docs'],
    ['ssh://git@gitlab.com/acme/docs.git/', 'gitlab', 'https://gitlab.com/api/v4', 'acme/docs'],
    ['https://codeberg.org/acme/docs', 'gitea', 'https://codeberg.org/api/v1', 'acme/docs'],
    ['git@bitbucket.org:acme/docs.git', 'bitbucket', 'https://api.bitbucket.org/2.0', 'acme/docs'],
    ['https://GitHub.com/acme/docs', 'github', 'https://api.github.com', 'acme/docs'],
  ])('%s is known', (url, type, apiUrl, repository) => {
    expect(forgeTarget({}, url)).toEqual({ type, apiUrl, repository });
  });

  test.each([
    ['https://git.acme.example/acme/docs.git', 'acme/docs'],
    ['git@git.acme.example:acme/docs.git', 'acme/docs'],
    ['https://github.com.evil.example/acme/docs', 'acme/docs'],
    ['/srv/git/docs.git', null],
    ['file:///srv/git/docs.git', null],
  ])('%s does not tell its forge', (url, repository) => {
    expect(forgeTarget({}, url)).toEqual({ type: null, apiUrl: null, repository });
  });

  test('below a path of its host has a repository without that path', () => {
    const settings = { type: 'gitlab', apiUrl: 'https://acme.example/git/api/v4' } as const;
    const { repository } = forgeTarget(settings, 'https://acme.example/git/team/docs.git');
    expect(repository).toBe('team/docs');
  });

  test('settings win over the URL, and the address of another forge is not used', () => {
    const url = 'https://git.acme.example/mirror/docs.git';
    const settings = { type: 'gitlab', apiUrl: 'https://git.acme.example/api/v4', repository: '42' } as const;
    expect(forgeTarget(settings, url)).toEqual(settings);
    expect(forgeTarget({ type: 'gitea' }, 'https://github.com/acme/docs')).toMatchObject({
      type: 'gitea',
      apiUrl: null,
    });
  });
});
