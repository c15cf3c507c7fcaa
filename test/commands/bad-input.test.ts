import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { serveLocally } from '../support/local-server.ts';
import { openWorkspace } from '../support/workspace.ts';

/** Invalid manifests, and what every line of the output contains. */
const MANIFESTS: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[]])[] = [
  ['broken YAML', { 'a.yaml': 'teams:\n  one: { title: One\n' }, ['a.yaml:3:1: ']],
  ['nothing', {}, ['no manifests found below ', 'create one with a section (']],
  ['only JSON', { 'a.json': '{}' }, ['no manifests found below ', '"a.json" is not read: rename it to .yaml']],
];

test.each(MANIFESTS)('reports %s with its position', async (_what, files, words) => {
  await using work = await openWorkspace();
  for (const [name, text] of Object.entries(files)) {
    work.repository.write(name, text);
  }
  const { code, stdout, stderr } = await work.inside(['plan']);
  for (const word of words) {
    expect(stderr).toContain(word);
  }
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(work.emulator.requests.total).toBe(0);
});

test('reports every problem of every file in one run, as text and as JSON', async () => {
  await using work = await openWorkspace();
  work.repository.write('a.yaml', 'teams:\n  one: { tilte: One }\n  two: { title: 7 }\n');
  work.repository.write('b.yaml', 'spaces:\n  api: { title: API, collection: none }\n');
  work.repository.write('c.yaml', 'members: [\n');
  const text = await work.inside(['validate']);
  const files = text.stderr.split('\n').flatMap((line) => /^(\w\.yaml):\d+:\d+: \S/.exec(line)?.[1] ?? []);
  expect(new Set(files)).toEqual(new Set(['a.yaml', 'b.yaml', 'c.yaml']));
  expect(text.stderr).toContain(`${files.length} problems`);
  const json = await work.inside(['validate', '--format', 'json']);
  const answer = JSON.parse(json.stdout) as { problems: { file: string; line: number }[] };
  expect(answer).toMatchObject({ format: 'octavo.validation/1', valid: false });
  expect(answer.problems.map(({ file }) => file)).toEqual(files);
  expect([text.code, json.code]).toEqual([3, 3]);
});

const ALIKE = `collections: { docs: { title: Docs } }
spaces:
  one: { title: Guides, collection: docs }
  two: { title: Guides, collection: docs }
  three: { title: Guides }
  four: { title: Guides, collection: docs, id: spc_1 }
`;

test('refuses two new resources that nothing could tell apart, offline and in a plan', async () => {
  await using work = await openWorkspace();
  work.repository.write('a.yaml', ALIKE);
  const problem =
    'a.yaml:4:3: space/two: has the same title as space/one (a.yaml:3), so no later plan could tell them apart; ' +
    'change one, or apply one first and set its id\n\n1 problem\n';
  expect(await work.inside(['validate'])).toMatchObject({ code: 3, stderr: problem });
  work.repository.write('a.yaml', ALIKE.replace(/^ {2}four.*\n/m, ''));
  expect(await work.inside(['plan'])).toMatchObject({ code: 3, stderr: problem });
});

test('warns of placeholders and of JSON that is not read, in every format', async () => {
  await using work = await openWorkspace();
  work.repository.write('a.yaml', `teams:\n  one:\n    title: One \${env:TEAM}\n`);
  work.repository.write('b.yaml', 'openapi:\n  pets: { source: { file: pets.json } }\n');
  work.repository.write('pets.json', `{"openapi":"3.1.0","info":{"title":"\${env:X}","version":"1"},"paths":{}}`);
  work.repository.write('package.json', '{"name":"docs"}');
  work.repository.write('spaces.json', '{"spaces":{}}');
  work.repository.commit('Add manifests');
  const placeholder = `title: manifests do not expand \${env:TEAM}; it is applied as written`;
  const misnamed = 'has the section spaces, but only .yaml and .yml files are read; rename it to .yaml';
  const text = await work.inside(['validate']);
  expect(text.stderr.split('\n')).toEqual([
    expect.stringContaining(`spaces.json:1:1: ${misnamed}`),
    expect.stringContaining(`a.yaml:2:3: team/one: ${placeholder}`),
    '',
  ]);
  expect(text).toMatchObject({ code: 0, stdout: 'Valid: 2 resources in 2 manifests\n' });
  const json = await work.inside(['validate', '--format', 'json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ valid: true, problems: [], warnings: [{ line: 1 }, { line: 2 }] });
  const github = await work.inside(['validate', '--format', 'github']);
  expect(github.stdout).toMatch(/^::warning file=spaces\.json.*\n::warning file=a\.yaml.*\n$/);
  const plan = await work.inside(['plan']);
  expect(plan.stdout.replaceAll(/\s+/g, ' ')).toContain(`team/one: ${placeholder}`);
  expect(plan.stderr).toContain(misnamed);
});

test('breaks the lines of errors on a terminal, and nowhere else: programs look for the place at their start', async () => {
  await using work = await openWorkspace();
  work.repository.write('a.yaml', `teams:\n  writers: { titel: Writers, ${'member: {}, '.repeat(12)} }\n`);
  const [piped, shown] = [{}, { isErrTerminal: true, columns: 80 }];
  const lines = async (terminal: object) =>
    stripVTControlCharacters((await work.inside(['plan'], {}, '.', terminal)).stderr).split('\n');
  expect((await lines(piped)).filter((line) => line.startsWith('a.yaml:2:14: team/writers: '))).toHaveLength(1);
  const broken = await lines(shown);
  expect(broken.filter((line) => line.length > 80)).toEqual([]);
  expect(broken.find((line) => line.startsWith('a.yaml:2:14: team/writers: '))).toBeDefined();
  expect(broken.join(' ').replaceAll(/\s+/g, ' ')).toContain('did you mean "title"?');
});

test('asks for an id and writes nothing when a key matches two resources', async () => {
  await using work = await openWorkspace();
  await work.call('PUT', '/teams', { title: 'Writers' });
  await work.call('PUT', '/teams', { title: 'Writers' });
  const before = work.writes();
  work.repository.write('a.yaml', 'teams:\n  writers: { title: Writers }\n');
  const { code, stderr } = await work.inside(['apply', '--yes']);
  expect(stderr).toContain('team/writers');
  expect(stderr).toMatch(/\bid\b/);
  expect(code).toBe(3);
  expect(work.writes()).toBe(before);
});

test('exits 1 with the reason for a refused token, a missing permission and another organization', async () => {
  await using work = await openWorkspace({
    tokens: { 'no-rights-token': { user: 'bo@acme.example', permission: 'none' } },
  });
  work.repository.write('a.yaml', 'teams:\n  one: { title: One }\n');
  const refused = await work.inside(['plan'], { OCTAVO_TOKEN: 'another-token' });
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('the platform does not accept the token from OCTAVO_TOKEN (401)');
  const forbidden = await work.inside(['plan'], { OCTAVO_TOKEN: 'no-rights-token' });
  expect(forbidden).toMatchObject({ code: 1, stdout: '' });
  expect(forbidden.stderr).toContain('the token has no permission for');
  const wrong = await work.inside(['plan', '--format', 'json'], { OCTAVO_ORGANIZATION: 'org_other' });
  expect(wrong.code).toBe(1);
  expect(JSON.parse(wrong.stdout)).toMatchObject({ format: 'octavo.error/1', error: { code: 'rejected' } });
  expect(wrong.stderr).toContain('(404): Organization "org_other" not found');
  for (const { stderr } of [refused, forbidden]) {
    expect(stderr).not.toMatch(/another-token|no-rights-token/);
  }
});

test('exits 1 soon when the platform does not respond or returns HTML', async () => {
  await using work = await openWorkspace();
  work.repository.write('a.yaml', 'teams:\n  one: { title: One }\n');
  const page = await serveLocally((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Sign in</title>');
  });
  const origin = page.url;
  const html = await work.inside(['plan'], { OCTAVO_BASE_URL: origin });
  await page.stop();
  expect(html.stderr).toContain(`${origin} answered with HTML, not JSON (200); check the base URL`);
  const gone = await work.inside(['plan'], { OCTAVO_BASE_URL: origin });
  expect(gone.stderr).toContain(`cannot reach ${origin}: connection refused`);
  expect([html.code, gone.code]).toEqual([1, 1]);
});

test('prints every problem of a configuration with its position', async () => {
  await using work = await openWorkspace();
  work.repository.write('octavo-config.yaml', 'platform: { baseUrl: nowhere, token: x }\norganizations: []\n');
  const { code, stdout, stderr } = await work.inside(['run', '--config', 'octavo-config.yaml']);
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toMatch(
    /^octavo-config\.yaml:1:22: platform\.baseUrl: .*\noctavo-config\.yaml:2:16: organizations: .*\n$/,
  );
});

test('names an organization that is not configured', async () => {
  await using work = await openWorkspace();
  work.repository.write('a.yaml', 'teams: { a: { title: A } }\n');
  for (const command of [['plan'], ['doctor'], ['snapshot'], ['import']]) {
    const { code, stdout: lines, stderr } = await work.inside(command, { OCTAVO_ORGANIZATION: 'org_nowhere' });
    const stdout = lines.replaceAll(/\n +/g, ' ');
    expect(code).toBe(1);
    expect(stdout + stderr).toContain('(404)');
    expect(stdout + stderr).toContain('does the organization "org_nowhere" exist, and may the token see it?');
  }
});

test('reports a base URL that ends with the API version', async () => {
  await using work = await openWorkspace();
  work.repository.write('a.yaml', 'teams: { a: { title: A } }\n');
  for (const command of [['plan'], ['doctor'], ['api', 'listTeams']]) {
    const ended = await work.inside(command, { OCTAVO_BASE_URL: `${work.emulator.url}/v1` });
    expect(ended.code).toBe(1);
    expect((ended.stdout + ended.stderr).replaceAll(/\n +/g, ' ')).toContain(
      `ends in /v1, which Octavo adds itself; write ${work.emulator.url}`,
    );
  }
});

test('prints one line for each file that is not a manifest', async () => {
  await using work = await openWorkspace();
  const files: Readonly<Record<string, string>> = {
    'compose.yaml': 'version: "3"\nservices: {}\nvolumes: {}\nnetworks: {}\n',
    'k8s.yaml':
      'apiVersion: v1\nkind: Service\nmetadata: {}\n---\napiVersion: v1\nkind: Pod\n---\n- a\n---\nkind: x\nkind: y\n',
    'helm.yaml': '{{- if .Values.a }}\na: {{ .Values.b }}\nb: [\n{{- end }}\n',
    'list.yaml': '- one\n---\n- two\n',
    'slip.yaml': 'teems: { a: {} }\nmember: {}\n',
    'teams.yaml': 'teams: { a: { title: A } }\n',
  };
  for (const [path, text] of Object.entries(files)) {
    work.repository.write(path, text);
  }
  const { code, stderr } = await work.inside(['validate']);
  expect(code).toBe(3);
  const lines = stderr.split('\n').filter((line) => /^\w+\.yaml:/.test(line));
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    'compose.yaml',
    'helm.yaml',
    'k8s.yaml',
    'list.yaml',
    'slip.yaml',
  ]);
  expect(lines[0]).toMatch(
    /^compose\.yaml:1:1: none of its 4 sections is valid; unknown section "version"; valid sections: .*\.octavoignore/,
  );
  expect(lines[4]).toContain('did you mean "teams"?');
});
