import { expect, test } from 'vitest';
import type { GitSource } from '../../../src/config/config.ts';
import { forgeLinks } from '../../../src/web/model/words.ts';

const COMMIT = '3f2a91c0a1b2c3d4e5f60718293a4b5c6d7e8f90';
const links = (url: string, path = 'docs') => forgeLinks({ git: { url, path } as GitSource });

test.each([
  ['https://github.com/acme/docs.git', 'https://github.com/acme/docs/blob/C/docs/a%20b/t.yaml#L12'],
  ['git@github.com:acme/docs.git', 'https://github.com/acme/docs/blob/C/docs/a%20b/t.yaml#L12'],
  ['ssh://git@github.example.com:2222/acme/docs', 'https://github.example.com/acme/docs/blob/C/docs/a%20b/t.yaml#L12'],
  ['https://gitlab.com/g/sub/docs.git', 'https://gitlab.com/g/sub/docs/-/blob/C/docs/a%20b/t.yaml#L12'],
  [
    'https://oauth2:s3cret@gitlab.acme.example:8443/g/docs',
    'https://gitlab.acme.example:8443/g/docs/-/blob/C/docs/a%20b/t.yaml#L12',
  ],
  ['https://codeberg.org/acme/docs', 'https://codeberg.org/acme/docs/src/commit/C/docs/a%20b/t.yaml#L12'],
  ['https://git.forgejo.example/acme/docs', 'https://git.forgejo.example/acme/docs/src/commit/C/docs/a%20b/t.yaml#L12'],
  ['https://bitbucket.org/acme/docs.git', 'https://bitbucket.org/acme/docs/src/C/docs/a%20b/t.yaml#lines-12'],
])('links to a line of a file of %s', (url, expected) => {
  expect(links(url).file(COMMIT, 'a b/t.yaml', 12)).toBe(expected.replace('/C/', `/${COMMIT}/`));
});

test.each([
  ['https://github.com/acme/docs', 'https://github.com/acme/docs/commit/C'],
  ['https://gitlab.com/acme/docs', 'https://gitlab.com/acme/docs/-/commit/C'],
  ['https://bitbucket.org/acme/docs', 'https://bitbucket.org/acme/docs/commits/C'],
  ['https://codeberg.org/acme/docs', 'https://codeberg.org/acme/docs/commit/C'],
])('links to a commit of %s', (url, expected) => {
  expect(links(url).commit(COMMIT)).toBe(expected.replace('/C', `/${COMMIT}`));
});

test.each([
  'http://github.com/acme/docs',
  'https://git.example.com/acme/docs',
  'javascript:alert(1)//github.com/',
  'file:///srv/github.com/docs',
  '/srv/github.com/docs.git',
  'https://github.com.evil.example/acme/docs".git',
  'ext::sh -c github.com/',
])('has no links for %s', (url) => {
  const { file, commit } = links(url);
  expect(
    [file(COMMIT, 'a.yaml', 1), commit(COMMIT)].filter((each) => each !== null && !each.startsWith('https://')),
  ).toEqual([]);
  if (!url.includes('.evil.')) {
    expect([file(COMMIT, 'a.yaml', 1), commit(COMMIT)]).toEqual([null, null]);
  }
});

test('has no links for a directory, for a file without a commit, and for what is not a commit', () => {
  expect(forgeLinks({ directory: '/srv/docs' }).commit(COMMIT)).toBeNull();
  expect(forgeLinks(null).file(COMMIT, 'a.yaml', 1)).toBeNull();
  expect(links('https://github.com/acme/docs').file(null, 'a.yaml', 1)).toBeNull();
  expect(links('https://github.com/acme/docs').commit('../../evil')).toBeNull();
  expect(links('https://github.com/acme/docs').file(COMMIT, '../../a.yaml', 1)).toBeNull();
});
