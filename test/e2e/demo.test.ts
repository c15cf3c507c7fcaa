import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runGit } from '../git/repository.ts';
import { eventually, OctavoProcess } from '../support/octavo-process.ts';

const cwd = mkdtempSync(join(tmpdir(), 'octavo-demo-test-'));

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

function demo(...flags: string[]): OctavoProcess {
  return new OctavoProcess(['demo', ...flags], { cwd, env: { TMPDIR: cwd } });
}

/** What a demo left behind; what Node compiled is its own. */
function left(): readonly string[] {
  return readdirSync(cwd).filter((name) => name.startsWith('octavo-'));
}

test('plays the whole story once, and cleans up', async () => {
  const { code, stdout, stderr } = await demo('--once').ended;
  expect(stderr).toBe('');
  const steps = [
    '1. A commit declares the organization',
    '  + team/writers',
    '✓ 30 changes applied',
    '2. A commit renames a team, moves a section and adds a translation',
    '"Writers" → "Docs writers"',
    '+ translation/guides-de',
    '→ section/help/changelog',
    '3. Somebody renames the team by hand',
    'The platform was changed behind the repository’s back (1 change)',
    '"Renamed by hand" → "Docs writers"',
    'All of it happened.',
  ];
  let from = 0;
  for (const step of steps) {
    const at = stdout.indexOf(step, from);
    expect(at, `${step}\n\n${stdout}`).toBeGreaterThanOrEqual(from);
    from = at;
  }
  expect(code).toBe(0);
  expect(left()).toEqual([]);
});

test('stays up, follows a commit of the user, and ends without a trace', async () => {
  const running = demo();
  await eventually(
    'its turn',
    () => running.stdout.includes('Now it is your turn') && running.stdout.includes('Ctrl-C'),
    60,
  );
  const [, repository = ''] = /^ {2}repository {3}(.*)$/m.exec(running.stdout) ?? [];
  const [, health = ''] = /^ {2}health +(\S+)/m.exec(running.stdout) ?? [];
  expect((await fetch(health)).status).toBe(200);
  runGit(repository, ['mv', 'teams.yaml', 'people.yaml']);
  runGit(repository, ['rm', '--quiet', 'translations.yaml', 'openapi.yaml']);
  runGit(repository, ['commit', '--quiet', '-am', 'A mistake: a site still shows the translation']);
  await eventually('the mistake to be told', () => running.stdout.includes('The manifests are wrong'), 30);
  const { code } = await running.stop('SIGINT');
  expect(code).toBe(0);
  expect(existsSync(repository)).toBe(false);
  expect(left()).toEqual([]);
});

test('ends in the middle of the story, and cleans up', async () => {
  const running = demo();
  await eventually('the first plan', () => running.stdout.includes('+ team/writers'), 30);
  const { code } = await running.stop('SIGTERM');
  expect(code).toBe(0);
  expect(left()).toEqual([]);
});
