import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runGit } from '../git/repository.ts';
import { eventually, OctavoProcess } from '../support/octavo-process.ts';

const cwd = mkdtempSync(join(tmpdir(), 'octavo-demo-test-'));

/** Width of output that is not a terminal. */
const COLUMNS = 100;

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

function demo(...flags: string[]): OctavoProcess {
  return new OctavoProcess(['demo', ...flags], { cwd, env: { TMPDIR: cwd } });
}

/** Files that a demo left behind, except for the compile cache of Node. */
function left(): readonly string[] {
  return readdirSync(cwd).filter((name) => name.startsWith('octavo-'));
}

test('runs all steps with --once, and deletes its files', async () => {
  const { code, stdout, stderr } = await demo('--once').ended;
  expect(stderr).toBe('');
  const steps = [
    '1. A commit declares the organization',
    '  + team/writers',
    '✓ 30 changes applied',
    '2. A commit renames a team, moves a section and adds a translation',
    '"Writers" → "Docs writers"',
    '→ section/help/changelog',
    '+ translation/guides-de',
    '3. Someone renames the team on the platform',
    'The platform was changed outside of the repository (1 change)',
    '"Renamed manually" → "Docs writers"',
    '4. A mailbox and a helpdesk export are ingested',
    '✓ 8 conversations taken in',
    'skipped   bulk 2',
    'redacted  person ',
    '✓ 8 conversations sent',
    '✓ 11 conversations taken in',
    'skipped   open 1',
    '✓ 11 conversations sent',
    '✓ No email address of the files is on the platform',
    'Ask [PERSON_1]; it takes password=[SECRET_1] from [IP_1].',
    'impact  issues  conversations  cluster',
    'high         5              5  SSO login loop',
    'medium       4              4  Export to PDF',
    'low          5              5  Which secret',
    '5. The clusters with the highest impact become change requests',
    '✓ A second run opened no further change requests',
    'open  API reference   Docs gap: Export to PDF is stuck',
    'open  Onboarding      Docs gap: SSO login loop',
    '**SSO login loop',
    '**Impact: high** (fully or nearly blocking',
    'Issues: 5; conversations: 5',
    '- First sign-in in Onboarding',
    'Opened by Octavo for issue cluster',
    'The demonstration is complete.',
  ];
  let from = 0;
  for (const step of steps) {
    const at = stdout.indexOf(step, from);
    expect(at, `${step}\n\n${stdout}`).toBeGreaterThanOrEqual(from);
    from = at;
  }
  expect(stdout).not.toMatch(/\n\n\n| \n|\p{Cc}\[/u);
  // The demo does not choose the path of temporary files, so lines with it may be longer.
  const lines = stdout.split('\n').filter((line) => !line.includes(cwd));
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(COLUMNS);
  expect(code).toBe(0);
  expect(left()).toEqual([]);
});

test('keeps applying commits and ingesting files of the user, and deletes its files when stopped', async () => {
  const running = demo();
  await eventually('its turn', () => running.stdout.includes('Your turn') && running.stdout.includes('Ctrl-C'), 60);
  const [, repository = ''] = /^ {2}repository {3}(.*)$/m.exec(running.stdout) ?? [];
  const [, health = ''] = /^ {2}health +(\S+)/m.exec(running.stdout) ?? [];
  expect((await fetch(health)).status).toBe(200);
  // The command that the plan shows approves the deletion.
  const [, checksum = '', config = ''] = /^ +octavo approve ([0-9a-f]{8}) --config (\S+)$/m.exec(running.stdout) ?? [];
  const approved = await new OctavoProcess(['approve', checksum, '--config', config], { cwd }).ended;
  expect(approved.stdout + approved.stderr).toMatch(
    /^Approved for org_acme, .*: Deletes the space Playground\n {2}sha256:/,
  );
  runGit(repository, ['mv', 'teams.yaml', 'people.yaml']);
  runGit(repository, ['rm', '--quiet', 'translations.yaml', 'openapi.yaml']);
  runGit(repository, ['commit', '--quiet', '-am', 'A mistake: a site still shows the translation']);
  await eventually('the mistake to be reported', () => running.stdout.includes('The manifests are invalid'), 30);
  const [, box = ''] = /^ {2}drop folder +(\S+)/m.exec(running.stdout) ?? [];
  writeFileSync(join(box, '.one.part'), '{"id":"1","parts":[{"type":"message","role":"user","body":"a@b.example"}]}\n');
  renameSync(join(box, '.one.part'), join(box, 'one.ndjson'));
  await eventually('the file to be taken', () => running.stdout.includes('✓ 1 conversation sent'), 30);
  expect(running.stdout).toMatch(/ {2}✓ 1 conversation taken in\n {6}redacted {2}email 1\n/);
  const { code } = await running.stop('SIGINT');
  expect(code).toBe(0);
  expect(existsSync(repository)).toBe(false);
  expect(left()).toEqual([]);
});

test('deletes its files when it is stopped during a step', async () => {
  const running = demo();
  await eventually('the first plan', () => running.stdout.includes('+ team/writers'), 30);
  const { code } = await running.stop('SIGTERM');
  expect(code).toBe(0);
  expect(left()).toEqual([]);
});
