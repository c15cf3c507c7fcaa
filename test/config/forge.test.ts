/** Settings of a forge: what the URL of the repository tells, commit statuses, the secret of the webhook, and approvals by comment. */
import { describe, expect, test } from 'vitest';
import { findStatusForge, forgeTarget } from '../../src/config/forge.ts';
import { configOf } from './loading.ts';

const load = (forge: string, source = 'git: { url: "https://github.com/acme/docs.git" }', more = '') =>
  configOf(
    `platform: { token: platform-token }\norganizations:\n  - id: org_1\n    source: { ${source} }\n    forge: { ${forge} }\n${more}`,
    { env: { FORGE_TOKEN: 'never-shown' } },
  );

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
    expect(findStatusForge({}, url)).toEqual({ type, apiUrl, repository });
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

  test.each([
    ['gitlab', 'https://acme.example/git/api/v4'],
    ['gitea', 'https://acme.example/git/api/v1'],
  ] as const)('below a path of its host has a repository without that path at %s', (type, apiUrl) => {
    const { repository } = forgeTarget({ type, apiUrl }, 'https://acme.example/git/team/docs.git');
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

  test.each([
    ['https://git.acme.example/acme/docs.git', {}, ['type', 'apiUrl']],
    ['https://git.acme.example/acme/docs.git', { type: 'github' }, ['apiUrl']],
    ['https://git.acme.example/docs.git', { type: 'gitea', apiUrl: 'https://git.acme.example/api/v1' }, ['repository']],
    ['/srv/git/docs.git', {}, ['type', 'apiUrl', 'repository']],
    ['https://github.com/acme/docs/../../user', {}, ['repository']],
  ] as const)('names what is missing for %s', (url, settings, missing) => {
    expect(findStatusForge(settings, url)).toEqual(missing);
  });
});

// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
const TOKEN = 'token: "${env:FORGE_TOKEN}"';

describe('commit statuses', () => {
  test('accept a token for a known forge, and keep it secret', () => {
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
    [
      'environment: docs',
      undefined,
      'organizations[0].forge.environment: does nothing without a token; set forge.token',
    ],
    [`${TOKEN}, environment: docs`, 'git: { url: "https://codeberg.org/acme/docs" }', 'is for GitHub and GitLab'],
    [`${TOKEN}, apiUrl: "http://git.acme.example/api/v3"`, undefined, 'would send credentials unencrypted over http'],
    [`${TOKEN}, repository: a/b/c`, undefined, 'set forge.repository to the repository, such as acme/docs'],
    [`${TOKEN}, type: svn`, undefined, 'expected one of github, gitlab, gitea, bitbucket'],
  ])('refuse %s with %s', (forge, source, problem) => {
    expect(() => load(forge, source)).toThrow(problem);
  });
});

const SECRET = 'a-secret-of-more-than-16-characters';

describe('the secret of a webhook', () => {
  test.each([
    [`webhookSecret: ${SECRET}`, undefined],
    [`webhookSecret: ${SECRET}, type: gitea`, 'git: { url: https://git.acme.example/acme/docs }'],
    [`webhookSecret: ${SECRET}, type: gitlab, repository: acme/docs`, 'git: { url: /srv/docs.git }'],
    [`webhookSecret: whsec_${Buffer.alloc(32).toString('base64')}, type: gitlab`, undefined],
  ])('%s is accepted', (forge, source) => {
    expect(load(forge, source).organizations).toHaveLength(1);
  });

  test.each([
    [`webhookSecret: ${SECRET}`, 'directory: /manifests', 'requires source.git'],
    [`webhookSecret: ${SECRET}`, 'git: { url: https://git.acme.example/acme/docs }', 'set forge.type'],
    [`webhookSecret: ${SECRET}`, 'git: { url: /srv/docs.git }', 'set forge.type and forge.repository'],
    ['webhookSecret: tiny-one', undefined, 'is shorter than 16 characters'],
    ['webhookSecret: whsec_not-a-signing-token, type: gitlab', undefined, 'is not a signing token'],
  ])('%s with %s is a problem', (forge, source, problem) => {
    expect(() => load(forge, source)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/^config\.yaml:5:\d+: organizations\[0\]\.forge\.webhookSecret: /),
      }),
    );
    expect(() => load(forge, source)).toThrow(problem);
    expect(() => load(forge, source)).not.toThrow(SECRET);
  });
});

describe('approvals by comment', () => {
  const all = `token: forge-token, webhookSecret: ${SECRET}`;
  const notAuthor = (value: boolean) => `    approvals: { notAuthor: ${value} }\n`;

  test('are off, and with a permission that is maintain by default', () => {
    const rules = (forge: string) => load(forge, undefined, notAuthor(false)).organizations[0]?.forge?.approveByComment;
    expect(rules(all)).toBeUndefined();
    expect(rules(`${all}, approveByComment: {}`)).toEqual({ permission: 'maintain' });
    const some = { permission: 'write', users: ['ana'] };
    expect(rules(`${all}, approveByComment: ${JSON.stringify(some)}`)).toEqual(some);
  });

  test.each([
    ['approveByComment: {}', '', 'requires forge.token, which reads permissions and answers, and forge.webhookSecret'],
    [`webhookSecret: ${SECRET}, approveByComment: {}`, '', 'requires forge.token, which'],
    [`${all}, type: gitea, apiUrl: "https://g.example/api/v1", approveByComment: {}`, '', 'is for GitHub and GitLab'],
    [`${all}, approveByComment: {}`, notAuthor(true), 'does nothing with approvals.notAuthor'],
    [`${all}, approveByComment: { permission: read }`, '', 'expected one of write, maintain, admin'],
    [`${all}, approveByComment: { user: ana }`, '', 'unknown'],
    [`${all}, approveByComment: true`, '', 'approveByComment'],
  ])('%s is a problem', (forge, more, problem) => {
    expect(() => load(forge, undefined, more)).toThrow(problem);
  });
});
