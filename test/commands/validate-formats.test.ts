import { expect, test } from 'vitest';
import { z } from 'zod';
import { readXml } from '../report/strict-xml.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { openWorkspace } from '../support/workspace.ts';

const GOOD = 'teams:\n  one: { title: One }\n';
const BAD = 'teams:\n  two: { tilte: Two }\nspaces:\n  api: { title: API, collection: none }\n';

const sarifLog = z.object({
  runs: z.tuple([
    z.object({
      tool: z.object({ driver: z.object({ rules: z.array(z.object({ id: z.string() })) }) }),
      results: z.array(
        z.object({
          ruleId: z.string(),
          locations: z.tuple([
            z.object({
              physicalLocation: z.object({
                artifactLocation: z.object({ uri: z.string() }),
                region: z.object({ startLine: z.int(), startColumn: z.int() }),
              }),
            }),
          ]),
        }),
      ),
    }),
  ]),
});

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

test('sarif: lists every rule, and a result for each problem', async () => {
  await using work = await openWorkspace();
  work.repository.write('docs/bad.yaml', BAD);
  const { code, stdout } = await work.inside(['validate', 'docs', '--format', 'sarif']);
  const [run] = sarifLog.parse(JSON.parse(stdout)).runs;
  expect(run.tool.driver.rules.map(({ id }) => id)).toEqual(expect.arrayContaining(['manifest', 'team', 'site-space']));
  const places = run.results.map(({ ruleId, locations: [{ physicalLocation: at }] }) => [
    ruleId,
    at.artifactLocation.uri,
    at.region.startLine,
    at.region.startColumn,
  ]);
  expect(places).toEqual([
    ['team', 'docs/bad.yaml', 2, 10],
    ['space', 'docs/bad.yaml', 4, 34],
  ]);
  expect(code).toBe(3);
});

test('junit: has a test case for each manifest', async () => {
  await using work = await openWorkspace();
  work.repository.write('good.yaml', GOOD);
  work.repository.write('bad.yaml', BAD);
  const { code, stdout } = await work.inside(['validate', '--format', 'junit']);
  const cases = readXml(stdout).children[0]?.children.map((each) => [each.attributes.name, each.children.length]);
  expect(cases).toEqual([
    ['bad.yaml', 1],
    ['good.yaml', 0],
  ]);
  expect(code).toBe(3);
});

test.each(['github', 'sarif', 'junit'])(
  '%s: prints a report without problems and exits 0 for valid manifests',
  async (format) => {
    await using work = await openWorkspace();
    work.repository.write('good.yaml', GOOD);
    const { code, stdout, stderr } = await work.inside(['validate', '--format', format]);
    expect(stdout).not.toContain('failure ');
    expect(stdout).not.toContain('::error');
    expect([code, stderr]).toEqual([0, 'Valid: 1 manifest\n']);
  },
);

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
