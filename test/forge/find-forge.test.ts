import { describe, expect, test } from 'vitest';
import { findForge } from '../../src/forge/ci-job.ts';

describe('the forge of a repository', () => {
  test.each([
    ['https://github.com/acme/docs.git', 'github'],
    ['git@github.com:acme/docs.git', 'github'],
    ['ssh://git@github.acme.example:2222/acme/docs.git', 'github'],
    ['https://oauth2:secret@gitlab.com/acme/docs.git', 'gitlab'],
    ['https://code.gitlab.example/acme/docs', 'gitlab'],
    ['https://gitea.example/acme/docs.git', 'gitea'],
    ['git@codeberg.org:acme/docs.git', 'gitea'],
    ['https://my-forgejo.example/acme/docs', 'gitea'],
    ['git@bitbucket.org:acme/docs.git', 'bitbucket'],
    ['https://git.example/acme/github', null],
    ['https://notgithub.example/acme/docs', null],
    ['/srv/github.com/docs.git', null],
    ['', null],
    [null, null],
  ] as const)('of a clone from %j is %s', (origin, forge) => {
    expect(findForge(origin, () => false)).toBe(forge);
  });

  test.each([
    ['.github', 'github'],
    ['.gitlab-ci.yml', 'gitlab'],
    ['.gitea', 'gitea'],
    ['.forgejo', 'gitea'],
    ['bitbucket-pipelines.yml', 'bitbucket'],
  ] as const)('is found by the file %s before the remote', (sign, forge) => {
    expect(findForge('https://github.com/acme/docs.git', (path) => path === sign)).toBe(forge);
  });
});
