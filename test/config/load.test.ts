import { describe, expect, test } from 'vitest';
import { configFromEnvironment } from '../../src/config/config.ts';
import { ConfigError } from '../../src/core/errors.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { configOf, problemsIn } from './loading.ts';

const NAMES = ['organization', 'member', 'team', 'saml', 'collection', 'space', 'site'];
const KINDS = NAMES.flatMap((name) => kinds.filter((kind) => kind.name === name));
const MINIMAL = `platform: { baseUrl: https://api.example/v1/, token: t0ken-value }
organizations:
  - id: org_1
    source: { directory: /manifests }
`;

const FILE = '/etc/octavo/config.yaml';
const load = (text: string, env: Record<string, string> = {}, files: Record<string, string> = {}) =>
  configOf(text, { file: FILE, env, files, kinds: KINDS });
const problemsOf = (text: string, env: Record<string, string> = {}) => problemsIn(() => load(text, env), `${FILE}:`);

describe('loadConfig', () => {
  test('fills in every default', () => {
    const config = load(MINIMAL);
    expect(config).toMatchObject({
      platform: { baseUrl: 'https://api.example/v1', user: null, timeout: 30_000 },
      queue: { concurrency: 10, deadline: 600_000 },
      store: { path: 'octavo.db' },
      server: { listen: { host: '127.0.0.1', port: 8080 } },
      log: { level: 'info', format: 'auto' },
    });
    expect(config.organizations[0]).toMatchObject({
      id: 'org_1',
      token: 't0ken-value',
      source: { directory: '/manifests' },
      prune: Object.fromEntries(NAMES.map((kind) => [kind, 'owned'])),
      requireApproval: ['member', 'saml', 'collection', 'space', 'site'],
      syncWindows: [],
      clusters: { changeRequest: { description: null }, spaceNames: [], reviewerNames: [] },
    });
  });

  test('uses the public address of the platform by default, and only if none is given', () => {
    const without = 'organizations: [{ id: org_1, token: t0ken-value, source: { directory: /m } }]';
    expect(load(without).platform.baseUrl).toBe('https://api.gitbook.com');
    expect(load(`platform: { baseUrl: }\n${without}`).platform.baseUrl).toBe('https://api.gitbook.com');
    expect(problemsOf(`platform: { baseUrl: "" }\n${without}`)).toEqual([
      '1:22: platform.baseUrl: "" is not valid; expected an http or https URL without a query, such as https://api.gitbook.com',
    ]);
    expect(problemsOf(`platform: { baseUrl: "\${env:NO_ADDRESS}" }\n${without}`)).toEqual([
      '1:22: platform.baseUrl: the environment variable NO_ADDRESS is not set; set it, or write the value here',
    ]);
  });

  test('reads every setting', () => {
    const config = load(`platform: { baseUrl: http://localhost:1, user: bot@acme.example, timeout: 1500ms }
organizations:
  - id: org_1
    token: own-token
    source: { git: { url: git@git.example:acme/docs.git, ref: v1, path: a/b, pollInterval: 2h } }
    prune: { team: never, site: all }
    requireApproval: []
    limits: { maxDeletions: 0, maxChangedPercent: 100 }
    selfHeal: false
    schedule: { drift: "0 3 * * *" }
    syncWindows:
      - { allow: "0 9 * * 1-5", duration: 8h, timezone: Europe/Berlin }
      - { deny: "0 0 24 12 *", duration: 2d }
queue: { concurrency: 3, deadline: 1m }
store: { path: /var/lib/octavo.db }
server: { listen: "[::1]:9" }
log: { level: debug, format: json }
`);
    expect(config.organizations[0]).toMatchObject({
      token: 'own-token',
      source: { git: { url: 'git@git.example:acme/docs.git', ref: 'v1', path: 'a/b', pollInterval: 7_200_000 } },
      prune: { team: 'never', site: 'all', space: 'owned' },
      syncWindows: [
        { effect: 'allow', cron: '0 9 * * 1-5', duration: 28_800_000, timezone: 'Europe/Berlin' },
        { effect: 'deny', cron: '0 0 24 12 *', duration: 172_800_000, timezone: 'UTC' },
      ],
    });
    expect(config.server.listen).toEqual({ host: '::1', port: 9 });
  });

  test('is frozen at every depth', () => {
    const config = load(MINIMAL);
    const visit = (value: unknown) => {
      if (typeof value === 'object' && value !== null && !(value instanceof Set)) {
        expect(Object.isFrozen(value)).toBe(true);
        Object.values(value).forEach(visit);
      }
    };
    visit(config);
  });

  test('reports every problem at once, each with its position and a fix', () => {
    expect(
      problemsOf(`platform: { baseURL: https://api.example, token: x-token }
organizations:
  - id: org_1
    source: { git: { pollInterval: often } }
    prune: sometimes
    requireApproval: [sites]
    limits: { maxDeletions: -1 }
  - id: org_1
    source: {}
    syncWindows: [{ duration: 2h }]
    schedule: { drift: "61 * * * *" }
server: { listen: nowhere }
log: { level: inof }
`),
    ).toEqual([
      '1:13: platform.baseURL: unknown setting; did you mean "baseUrl"?',
      '4:20: organizations[0].source.git.url: is missing; expected the URL of a repository, such as https://git.example/acme/docs.git',
      '4:36: organizations[0].source.git.pollInterval: "often" is not valid; expected the fetch interval, such as 30s',
      '5:12: organizations[0].prune: "sometimes" is not valid; expected one of owned, never, all, or a mapping by kind',
      '6:23: organizations[0].requireApproval[0]: "sites" is not valid; expected one of organization, member, team, saml, collection, space, site; did you mean "site"?',
      '7:29: organizations[0].limits.maxDeletions: -1 is not valid; expected a whole number from 0 to 1000000',
      '8:9: organizations[1].id: "org_1" is already listed as organizations[0]; list it once',
      '9:13: organizations[1].source: requires exactly one of git and directory',
      '10:19: organizations[1].syncWindows[0]: requires exactly one of allow and deny, with a cron expression',
      '11:24: organizations[1].schedule.drift: "61 * * * *" is not valid; expected a cron expression such as "*/5 * * * *"',
      '12:19: server.listen: "nowhere" is not valid; expected an address such as 127.0.0.1:8080',
      '13:15: log.level: "inof" is not valid; expected one of trace, debug, info, warn, error, fatal; did you mean "info"?',
    ]);
  });

  test.each([
    ['', 'organizations: is missing; expected a list'],
    ['[]', 'expected a mapping'],
    ['a: [', 'is not valid YAML'],
    [`${MINIMAL}store:\n  pth: x\n`, '6:3: store.pth: unknown setting; did you mean "path"?'],
    [
      `${MINIMAL}whatever: 1\n`,
      '5:1: whatever: unknown setting; valid settings: queue, store, fleet, runtime, server, ui, notifications, log',
    ],
    [
      MINIMAL.replace(', token: t0ken-value', '').replace('organizations:\n', 'organizations:\n  - acme\n'),
      '4:5: organizations[1]: has no token; set platform.token, or token here',
    ],
    [
      MINIMAL.replace(', token: t0ken-value', ''),
      '3:5: organizations[0]: has no token; set platform.token, or token here',
    ],
    [MINIMAL.replace('org_1', '7'), '3:9: organizations[0].id: 7 is not valid'],
    [`platform: { baseUrl: https://a.example, token: x }\norganizations: []\n`, '2:16: organizations: [] is not valid'],
  ])('reports the problem of %j', (text, expected) => {
    expect(problemsOf(text).join('\n')).toContain(expected.replace('[] is not valid', 'this is not valid'));
  });

  test.each([
    ['{ name: a }', 'exactly one of zendesk, intercom, freshdesk, github, webhook, folder'],
    ['{ name: a, folder: { path: /d }, webhook: { secrets: [whsec_1] } }', 'exactly one of'],
    ['{ name: a, github: { repositories: [acme/a] } }', 'either a token or an app'],
    ['{ name: a, github: { repositories: [acme], token: gh-token } }', 'a repository such as acme/product'],
    ['{ name: a, zendesk: { subdomain: "evil.example/", token: zd-token } }', 'acme in acme.zendesk.com'],
    ['{ name: a, zendesk: { subdomain: a } }', 'or clientId, clientSecret and refreshToken'],
    ['{ name: a, zendesk: { subdomain: a, clientId: c, refreshToken: zd-r } }', 'or clientId, clientSecret and'],
    ['{ name: a, zendesk: { subdomain: a, token: zd-t, refreshToken: zd-r } }', 'either token (with email'],
    ['{ name: "a b", folder: { path: /d } }', 'a name of letters, digits and dashes'],
    ['{ name: a, folder: { path: /d } }, { name: a, folder: { path: /e } }', 'a unique name'],
    ['{ name: a, intercom: { appId: x, token: ic-token, region: mars } }', 'one of us, eu, au'],
  ])('reports what is wrong with the source %s', (source, words) => {
    expect(problemsOf(`${MINIMAL}    conversations: { sources: [${source}] }\n`).join()).toContain(words);
  });

  test.each([
    ['i', null],
    ['ii', 'any of i, m, s and u'],
    ['g', 'any of i, m, s and u'],
  ])('checks the flags %s of a redaction pattern', (flags, words) => {
    const redact = `redact: { patterns: [{ name: order, pattern: "ord-1", flags: ${flags} }] }`;
    const text = `${MINIMAL}    conversations: { ${redact} }\n`;
    if (words === null) {
      expect(load(text).organizations[0]?.conversations.redact.patterns[0]?.flags).toBe(flags);
    } else {
      expect(problemsOf(text).join()).toContain(words);
    }
  });

  test.each([
    ['(?<=x)a', 'lookaround such as (?<= is not supported'],
    ['a*', 'matches the empty text'],
  ])('refuses the redaction pattern %s with its position', (pattern, words) => {
    const text = `${MINIMAL}    conversations: { redact: { patterns: [{ name: order, pattern: "${pattern}" }] } }\n`;
    const [problem] = problemsOf(text);
    expect(problem).toMatch(/^5:67: organizations\[0\]\.conversations\.redact\.patterns\[0\]\.pattern: "/);
    expect(problem).toContain(words);
  });

  test('treats the credentials of sources as secrets', () => {
    const sources = `[{ name: a, zendesk: { subdomain: acme, token: zd-token, webhookSecret: zd-hook } },
      { name: d, zendesk: { subdomain: acme, clientId: octavo, clientSecret: zd-client, refreshToken: zd-refresh } },
      { name: b, webhook: { secrets: [whsec_one, whsec_two] } },
      { name: c, github: { repositories: [a/b], app: { id: 1, installationId: 2, privateKey: gh-key } } }]`;
    const { secrets } = load(`${MINIMAL}    conversations: { sources: ${sources} }\n`);
    for (const secret of ['zd-token', 'zd-hook', 'zd-client', 'zd-refresh', 'whsec_one', 'whsec_two', 'gh-key']) {
      expect(secrets).toContain(secret);
    }
  });

  test('uses the default for an empty value', () => {
    expect(load(`${MINIMAL}log:\nqueue:\n  concurrency:\n`).queue.concurrency).toBe(10);
  });
});

describe('references', () => {
  const referring = `platform: { baseUrl: "\${env:BASE}", token: "\${file:secrets/token}" }
organizations:
  - id: org_1
    source: { git: { url: "https://bot:\${env:PASSWORD}@git.example/a.git", ref: "\${env:BRANCH}" } }
queue: { concurrency: "\${env:N}" }
`;

  test('are replaced, and values of credentials are secrets', () => {
    const env = { BASE: 'https://api.example', PASSWORD: 'p@ss%w', BRANCH: 'main', N: '7' };
    const config = load(referring, env, { '/etc/octavo/secrets/token': 'from-a-file\n' });
    expect(config.organizations[0]?.token).toBe('from-a-file');
    expect(config.organizations[0]?.source?.git?.url).toBe('https://bot:p@ss%w@git.example/a.git');
    expect(config.queue.concurrency).toBe(7);
    expect(config.secrets).toContain('from-a-file');
    expect(config.secrets).toContain('p@ss%w');
    expect(config.secrets).not.toContain('main');
    expect(config.secrets).not.toContain('https://api.example');
  });

  test('are not required: a literal token and a password in a URL are secrets too', () => {
    const config = load(
      MINIMAL.replace('{ directory: /manifests }', '{ git: { url: "https://u:p%40ss@g.example/a" } }'),
    );
    expect([...config.secrets].sort()).toEqual(['p%40ss', 'p@ss', 't0ken-value']);
  });

  test('to missing variables and files are reported once, with their position', () => {
    expect(problemsOf(referring)).toEqual([
      '1:22: platform.baseUrl: the environment variable BASE is not set; set it, or write the value here',
      '1:44: platform.token: cannot read the file secrets/token (ENOENT: no such file); create it, or write the value here',
      '4:27: organizations[0].source.git.url: the environment variable PASSWORD is not set; set it, or write the value here',
      '4:81: organizations[0].source.git.ref: the environment variable BRANCH is not set; set it, or write the value here',
      '5:23: queue.concurrency: the environment variable N is not set; set it, or write the value here',
    ]);
  });

  test('of an unknown form are reported', () => {
    expect(problemsOf(`${MINIMAL}store: { path: "\${vault:x}" }`)).toEqual([
      `5:16: store.path: \${vault:x} is not a valid reference; use \${env:NAME} or \${file:PATH}`,
    ]);
  });

  test('never reveal a secret in a problem', () => {
    const text = MINIMAL.replace('token: t0ken-value', `token: "\${env:T}", user: "\${env:T}"`);
    const problems = problemsOf(text, { T: 'very-secret' }).join('\n');
    expect(problems).toContain('platform.user');
    expect(problems).not.toContain('very-secret');
  });
});

describe('configFromEnvironment', () => {
  test('requires three variables and uses defaults for everything else', () => {
    const env = { OCTAVO_BASE_URL: 'https://api.example/', OCTAVO_TOKEN: 'tok-1', OCTAVO_ORGANIZATION: 'org_1' };
    const config = configFromEnvironment(env, KINDS);
    expect(config.platform.baseUrl).toBe('https://api.example');
    expect(config.organizations[0]).toMatchObject({ id: 'org_1', token: 'tok-1', source: null, selfHeal: true });
    expect([...config.secrets]).toEqual(['tok-1']);
  });

  test('names every missing variable', () => {
    expect(() => configFromEnvironment({}, KINDS)).toThrow(
      'OCTAVO_TOKEN, OCTAVO_ORGANIZATION are not set; set them, or pass --config FILE',
    );
  });

  test('uses the public address of the platform by default', () => {
    const env = { OCTAVO_BASE_URL: ' ', OCTAVO_TOKEN: 'tok-1', OCTAVO_ORGANIZATION: 'org_1' };
    expect(configFromEnvironment(env, KINDS).platform.baseUrl).toBe('https://api.gitbook.com');
  });

  test('requires the address if a config.yaml is ignored, because it may name another', () => {
    const env = { OCTAVO_TOKEN: 'tok-1', OCTAVO_ORGANIZATION: 'org_1' };
    expect(() => configFromEnvironment(env, KINDS, 'OCTAVO_TOKEN is set')).toThrow(
      'OCTAVO_BASE_URL is not set; set it, or pass --config FILE (config.yaml in the working directory was not read, because OCTAVO_TOKEN is set)',
    );
  });

  test.each(['hush\r\nX-Other: 1', 'hush\n', 'hush hush', 'h\u00fcsh'])(
    'refuses a token that no header can contain: %j',
    (token) => {
      const env = { OCTAVO_BASE_URL: 'https://api.example', OCTAVO_TOKEN: token, OCTAVO_ORGANIZATION: 'o' };
      expect(() => configFromEnvironment(env, KINDS)).toThrow(
        new ConfigError('OCTAVO_TOKEN is not valid: it has a line break, a space or a non-ASCII character'),
      );
      const file = MINIMAL.replace('t0ken-value', JSON.stringify(token));
      expect(problemsOf(file).join()).toMatch(/the token, in one line without spaces/);
      expect(problemsOf(file).join()).not.toMatch(/h\Wsh|hush/);
    },
  );

  test('refuses an invalid URL', () => {
    const env = { OCTAVO_BASE_URL: 'api.example', OCTAVO_TOKEN: 'x', OCTAVO_ORGANIZATION: 'o' };
    expect(() => configFromEnvironment(env, KINDS)).toThrow(ConfigError);
  });
});

describe('an unencrypted address', () => {
  const REMOTE = 'http://platform.internal:8080';
  const words = 'would send credentials unencrypted over http; use https://';

  test('is refused for the platform, for helpdesks, and for repositories with a password', () => {
    const text = `platform: { baseUrl: ${REMOTE}, token: t0ken }
organizations:
  - id: org_1
    source: { git: { url: "http://ana:word@git.internal/docs.git" } }
    conversations: { sources: [{ name: desk, zendesk: { subdomain: acme, token: x, baseUrl: "HTTP://desk.internal" } }] }
`;
    expect(problemsOf(text).map((line) => line.split(': ').slice(0, 3).join(': '))).toEqual([
      `1:22: platform.baseUrl: ${words}, or set platform.insecure`,
      `4:27: organizations[0].source.git.url: ${words}, or set platform.insecure`,
      `5:93: organizations[0].conversations.sources[0].zendesk.baseUrl: ${words}, or set platform.insecure`,
    ]);
    expect(problemsOf(text).join('\n')).not.toContain('word@');
    expect(load(text.replace('token: t0ken', 'token: t0ken, insecure: true')).platform.insecure).toBe(true);
  });

  test.each(['localhost', 'octavo.localhost', '127.0.0.1:80', '127.9.8.7', '[::1]:1', '0x7f.1'])(
    'is accepted for %s, which is this machine',
    (host) => {
      expect(problemsOf(MINIMAL.replace('https://api.example/v1/', `"http://${host}"`))).toEqual([]);
    },
  );

  test.each(['localhost.example', '127.0.0.1.example', '0.0.0.0', '[::]', '128.0.0.1', 'a@localhost.example'])(
    'is refused for %s',
    (host) => {
      expect(problemsOf(MINIMAL.replace('https://api.example/v1/', `"http://${host}"`))).not.toEqual([]);
    },
  );

  test('is refused in the environment, unless OCTAVO_INSECURE is true', () => {
    const env = { OCTAVO_BASE_URL: REMOTE, OCTAVO_TOKEN: 'tok', OCTAVO_ORGANIZATION: 'org_1' };
    expect(() => configFromEnvironment(env, KINDS)).toThrow(`OCTAVO_BASE_URL ${words}`);
    const allowed = configFromEnvironment({ ...env, OCTAVO_INSECURE: 'true' }, KINDS);
    expect(allowed.platform).toMatchObject({ baseUrl: REMOTE, insecure: true });
  });
});
