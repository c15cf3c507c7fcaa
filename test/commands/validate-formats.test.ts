import { expect, test } from 'vitest';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { openWorkspace } from '../support/workspace.ts';

const GOOD = 'teams:\n  one: { title: One }\n';
const BAD = 'teams:\n  two: { tilte: Two }\nspaces:\n  api: { title: API, collection: none }\n';

test('github: file names are relative to the repository root, also in a subdirectory', async () => {
  await using work = await openWorkspace();
  work.repository.write('docs/good.yaml', GOOD);
  work.repository.write('docs/bad.yaml', BAD);
  const { code, stdout, stderr } = await work.inside(['validate', 'docs', '--format', 'github']);
  expect(stdout.split('\n')).toEqual([
    expect.stringMatching(/^::error file=docs\/bad\.yaml,line=2,col=10,title=team\/two::team\/two: .*"title"/),
    expect.stringMatching(
      /^::error file=docs\/bad\.yaml,line=4,col=34,title=space\/api::space\/api: no collection "none"/,
    ),
    '',
  ]);
  expect([code, stderr]).toEqual([3, '2 problems in 2 manifests\n']);
  const below = await work.inside(['validate', '.', '--format', 'github'], {}, 'docs');
  expect(below.stdout).toBe(stdout);
});

test.each([
  ['github', '', '::error file=docs/bad.yaml,line=2,col=10'],
  ['sarif', '"results": []', '"uri": "docs/bad.yaml"'],
  ['junit', 'name="docs/good.yaml"', '<testcase name="docs/bad.yaml" classname="manifests"'],
])('%s: exits 0 for valid manifests, and 3 with a report of their problems', async (format, valid, invalid) => {
  await using work = await openWorkspace();
  work.repository.write('docs/good.yaml', GOOD);
  const good = await work.inside(['validate', 'docs', '--format', format]);
  expect(good.stdout).not.toMatch(/<failure |::error/);
  expect(good.stdout).toContain(valid);
  expect([good.code, good.stderr]).toEqual([0, 'Valid: 1 manifest\n']);
  work.repository.write('docs/bad.yaml', BAD);
  const bad = await work.inside(['validate', 'docs', '--format', format]);
  expect([bad.code, bad.stdout]).toEqual([3, expect.stringContaining(invalid)]);
});

test('text: shows the line of each problem with a caret, and not in other formats', async () => {
  await using work = await openWorkspace();
  work.repository.write('bad.yaml', `${BAD}sites: { s: { titel: "https://ana:hunter2@x.example", token: hunter2 } }\n`);
  const { code, stdout, stderr } = await work.inside(['validate']);
  expect([code, stdout]).toEqual([3, '']);
  expect(stderr).toContain('\n  2 |   two: { tilte: Two }\n    |          ^\n');
  expect(stderr).toMatch(/\n {2}5 \| sites: .*https:\/\/\[secret\]@x\.example.*\n {4}\| {15}\^\n/);
  expect(stderr).not.toContain('hunter2');
  expect((await work.inside(['plan'])).stderr).toBe(stderr);
  for (const format of ['json', 'github', 'sarif', 'junit']) {
    const other = await work.inside(['validate', '--format', format]);
    expect(other.stdout).toContain('tilte');
    expect(other.stdout + other.stderr).not.toMatch(/tilte: Two|hunter2/);
  }
});

test('reports a folder without manifests as a problem', async () => {
  await using work = await openWorkspace();
  const { code, stdout } = await work.inside(['validate', '--format', 'github']);
  expect(stdout).toMatch(/^::error file=\.,line=1,col=1::no manifests found below /);
  expect(code).toBe(3);
});

test('escapes hostile keys and file names for terminals and CI runners in every format', async () => {
  await using work = await openWorkspace();
  for (const [index, text] of HOSTILE_TEXTS.entries()) {
    const name = text.replace(/[/\0]|\p{Cs}/gu, '_').slice(0, 60);
    work.repository.write(`${name} ${index}.yaml`, JSON.stringify({ teams: { [text]: { title: text, [text]: 1 } } }));
  }
  for (const format of ['text', 'github', 'sarif', 'junit']) {
    const { code, stdout, stderr } = await work.inside(['validate', '--format', format]);
    const shown = stdout.replaceAll(/^::error file=/gm, '') + stderr;
    expect(shown).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]|##\w*\[|^\s*::/mu);
    expect(code).toBe(3);
  }
});
