/** Organizations in files of their own. */
import { describe, expect, test } from 'vitest';
import { configOf, problemsIn } from './loading.ts';

const MAIN = 'platform: { token: a-token }\norganizations: { directory: orgs }\n';

function load(files: Readonly<Record<string, string | Error>>, text = MAIN, skipInvalidFiles = false) {
  const asked: string[] = [];
  const config = configOf(text, {
    file: 'etc/config.yaml',
    folder: '/etc/octavo',
    env: { OWN: 'own-secret-token' },
    readFile: (path) => `content of ${path}`,
    readDirectory: (path) => {
      asked.push(path);
      return new Map(Object.entries(files));
    },
    skipInvalidFiles,
  });
  return { config, asked };
}

/** Problems with the names of their files. */
const problemsOf = (work: () => unknown) => problemsIn(work, '');

describe('organizations in files', () => {
  test('are read in the order of their names, from a directory next to the configuration', () => {
    const { config, asked } = load({
      'b.yaml': 'id: org_b\nsource: { directory: /b }',
      'a.yml': `id: org_a\ntoken: "\${env:OWN}"\nconversations: { sources: [] }`,
    });
    expect(asked).toEqual(['/etc/octavo/orgs']);
    expect(config.organizations.map(({ id, token }) => [id, token])).toEqual([
      ['org_a', 'own-secret-token'],
      ['org_b', 'a-token'],
    ]);
    expect(config.secrets).toContain('own-secret-token');
  });

  test('may be none yet', () => {
    expect(load({}).config.organizations).toEqual([]);
  });

  test('need a name that is plain text, so that problems show it as it is', () => {
    for (const name of ['a\u001b[31m.yaml', 'a\nb.yaml', '\u202ea.yaml', 'a\u200b.yaml']) {
      const [problem, ...others] = problemsOf(() => load({ [name]: 'id: org_a' }));
      expect(others).toEqual([]);
      expect(problem).toMatch(
        /^etc\/orgs\/[\x20-\x7e]+: cannot be read: its name is too long or not plain text; correct or/,
      );
    }
  });

  test('with the name of a property of every object are unknown settings', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(problemsOf(() => load({ 'a.yaml': `id: org_a\n${name}: 1` }))).toEqual([
        expect.stringMatching(/^etc\/orgs\/a\.yaml:2:1: \w+: unknown setting/),
      ]);
    }
  });

  test('with the same id are a problem of both files', () => {
    const files = { 'a.yaml': 'id: org_1', 'b.yaml': 'id: org_1' };
    expect(problemsOf(() => load(files))).toEqual([
      'etc/orgs/a.yaml:1:5: id: "org_1" is already listed as etc/orgs/b.yaml; list it once',
      'etc/orgs/b.yaml:1:5: id: "org_1" is already listed as etc/orgs/a.yaml; list it once',
    ]);
  });

  test.each([
    ['{ directory: orgs, dir: x }', 'organizations.dir: unknown setting'],
    ['{ directory: 3 }', 'organizations.directory: requires a directory'],
    ['{ directory: orgs, list: 3 }', 'organizations.list: is not valid; expected a list'],
    ['{}', 'organizations.directory: requires a directory'],
    ['{ list: [] }', 'organizations: this is not valid; expected at least one entry'],
  ])('refuses organizations: %s', (organizations, problem) => {
    const text = `platform: { token: a-token }\norganizations: ${organizations}\n`;
    expect(problemsOf(() => load({}, text)).join('\n')).toContain(problem);
  });

  test('cannot be read if the directory cannot', () => {
    const readDirectory = () => {
      throw new Error('no such directory');
    };
    expect(problemsOf(() => configOf(MAIN, { readDirectory }))).toEqual([
      'config.yaml:2:29: organizations.directory: cannot read the directory (no such directory); create it',
    ]);
    expect(problemsOf(() => configOf(MAIN)).join()).toContain('cannot name directories');
  });
});

describe('invalid organization files', () => {
  const valid = { 'a.yaml': 'id: org_a\nclusters: { defaultSpace: guides }', 'z.yaml': 'id: org_z' };
  const skip = (files: Readonly<Record<string, string | Error>>, text = MAIN) => load(files, text, true).config;

  test.each([
    ['an invalid setting', 'id: org_b\nprune: some', 'org_b', /^etc\/orgs\/b\.yaml:2:8: prune: "some" is not valid/],
    ['invalid YAML', 'id: "org_b"\nsource: [', 'org_b', /^etc\/orgs\/b\.yaml:2:\d+: is not valid YAML/],
    [
      'a missing variable',
      `id: org_b\ntoken: "\${env:NONE}"`,
      'org_b',
      /^etc\/orgs\/b\.yaml:2:8: token: .*NONE is not set/,
    ],
    ['an unknown setting', 'id: org_b\nx: 1', 'org_b', /^etc\/orgs\/b\.yaml:2:1: x: unknown setting/],
    ['no organization', '- id: org_b', null, /^etc\/orgs\/b\.yaml:1:1: is not an organization/],
    ['no read permission', new Error('permission denied'), null, /^etc\/orgs\/b\.yaml:1:1: cannot be read/],
    [
      'an id of the list',
      'id: org_0',
      'org_0',
      /^etc\/orgs\/b\.yaml:1:5: id: "org_0" is already listed as organizations\.list\[0\]; list it once$/,
    ],
  ])('are left out: %s', (_name, content, id, problem) => {
    const text = 'platform: { token: a-token }\norganizations: { directory: orgs, list: [{ id: org_0 }] }\n';
    const config = skip({ ...valid, 'b.yaml': content }, text);
    expect(config.organizations.map((each) => each.id)).toEqual(['org_0', 'org_a', 'org_z']);
    expect(config.organizations.map(({ clusters }) => clusters.defaultSpace)).toEqual([null, 'guides', null]);
    expect(config.invalidFiles).toEqual([{ file: 'etc/orgs/b.yaml', id, problems: [expect.stringMatching(problem)] }]);
    expect([...config.organizationFiles]).toEqual([
      ['org_a', 'etc/orgs/a.yaml'],
      ['org_z', 'etc/orgs/z.yaml'],
    ]);
    expect(problemsOf(() => load({ ...valid, 'b.yaml': content }, text))).toEqual([expect.stringMatching(problem)]);
  });

  test('with the same id are both left out', () => {
    const config = skip({ ...valid, 'b.yaml': 'id: org_z' });
    expect(config.organizations.map(({ id }) => id)).toEqual(['org_a']);
    expect(config.invalidFiles.map(({ file, id }) => [file, id])).toEqual([
      ['etc/orgs/b.yaml', 'org_z'],
      ['etc/orgs/z.yaml', 'org_z'],
    ]);
  });

  test('are an error if no file is valid, or the configuration file is not', () => {
    expect(problemsOf(() => skip({ 'a.yaml': 'id: [', 'b.yaml': 'id: org_b\nx: 1' }))).toHaveLength(2);
    expect(problemsOf(() => skip({ ...valid, 'b.yaml': 'id: [' }, `${MAIN}queue: 1\n`))).toEqual([
      expect.stringMatching(/^etc\/config\.yaml:3:8: queue/),
      expect.stringMatching(/^etc\/orgs\/b\.yaml:1:/),
    ]);
  });

  test.each(['id: org_b\nx: 1', 'id: ['])('do not make routes of notifications invalid: %j', (content) => {
    const text = `${MAIN}notifications:
  channels: { ops: { slack: { token: xoxb-1, channel: C1 } } }
  routes: [{ organizations: [org_b], channels: [ops] }]
`;
    const config = skip({ ...valid, 'b.yaml': content }, text);
    expect(config.invalidFiles.map(({ file }) => file)).toEqual(['etc/orgs/b.yaml']);
    expect(problemsOf(() => skip(valid, text)).join()).toContain('"org_b" is not a configured organization');
  });

  test('keep their secrets out of problems and of output', () => {
    const config = skip({ ...valid, 'b.yaml': `id: org_b\ntoken: "\${env:OWN}"\nprune: own-secret-token` });
    expect(config.secrets).toContain('own-secret-token');
    expect(config.invalidFiles[0]?.problems.join()).toContain('[secret]');
    expect(JSON.stringify(config.invalidFiles)).not.toContain('own-secret-token');
  });
});
