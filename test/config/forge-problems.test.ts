import { expect, test } from 'vitest';
import { findStatusForge } from '../../src/config/forge.ts';
import { loadConfig } from '../../src/config/load.ts';

const load = (forge: string, source = 'git: { url: "https://github.com/acme/docs.git" }', rest = '') => {
  const text = `platform: { token: platform-token }\norganizations:\n  - id: org_1\n    source: { ${source} }\n    forge: { ${forge} }\n${rest}`;
  return loadConfig({
    text,
    file: 'config.yaml',
    env: { FORGE_TOKEN: 'never-shown' },
    readFile: () => '',
    kinds: [],
  });
};
// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
const TOKEN = 'token: "${env:FORGE_TOKEN}"';

test.each([
  ['https://github.com/acme/docs.git', {}, ['github', 'https://api.github.com', 'acme/docs']],
  ['git@gitlab.com:acme/team/docs.git', {}, ['gitlab', 'https://gitlab.com/api/v4', 'acme/team/docs']],
  [
    'https://git.acme.example/gitlab/team/docs.git',
    { type: 'gitlab', apiUrl: 'https://git.acme.example/gitlab/api/v4' },
    ['gitlab', 'https://git.acme.example/gitlab/api/v4', 'team/docs'],
  ],
  [
    'https://git.acme.example/code/acme/docs',
    { type: 'gitea', apiUrl: 'https://git.acme.example/code/api/v1' },
    ['gitea', 'https://git.acme.example/code/api/v1', 'acme/docs'],
  ],
] as const)('derives the forge of %s', (url, settings, [type, apiUrl, repository]) => {
  expect(findStatusForge(settings, url)).toEqual({ type, apiUrl, repository });
});

test.each([
  ['https://git.acme.example/acme/docs.git', {}, ['type', 'apiUrl']],
  ['https://git.acme.example/acme/docs.git', { type: 'github' }, ['apiUrl']],
  ['https://git.acme.example/docs.git', { type: 'gitea', apiUrl: 'https://git.acme.example/api/v1' }, ['repository']],
  ['/srv/git/docs.git', {}, ['type', 'apiUrl', 'repository']],
  ['https://github.com/acme/docs/../../user', {}, ['repository']],
] as const)('names what is missing for %s', (url, settings, missing) => {
  expect(findStatusForge(settings, url)).toEqual(missing);
});

test('accepts a token for a known forge, and keeps it secret', () => {
  const config = load(`${TOKEN}, environment: docs`);
  expect(config.organizations[0]?.forge).toMatchObject({ token: 'never-shown', environment: 'docs' });
  expect([...config.secrets]).toContain('never-shown');
});

test.each([
  [
    TOKEN,
    'git: { url: /srv/docs.git }',
    'config.yaml:5:12: organizations[0].forge: cannot be derived from source.git.url; set forge.type',
  ],
  [TOKEN, 'directory: manifests', 'sets commit statuses, which require source.git'],
  ['environment: docs', undefined, 'organizations[0].forge.environment: does nothing without a token; set forge.token'],
  [`${TOKEN}, environment: docs`, 'git: { url: "https://codeberg.org/acme/docs" }', 'is for GitHub and GitLab'],
  [`${TOKEN}, apiUrl: "http://git.acme.example/api/v3"`, undefined, 'would send credentials unencrypted over http'],
  [`${TOKEN}, repository: a/b/c`, undefined, 'set forge.repository to the repository, such as acme/docs'],
  [`${TOKEN}, type: svn`, undefined, 'expected one of github, gitlab, gitea, bitbucket'],
])('refuses %s with %s', (forge, source, problem) => {
  expect(() => load(forge, source)).toThrow(problem);
});
