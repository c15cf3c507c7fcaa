import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pathArgument, shellCommand, shellWord } from '../../src/core/text/shell.ts';
import { FORGES, jobAt } from '../forge/samples.ts';
import { codePoint } from '../support/code-points.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { eventually } from '../support/octavo-process.ts';
import { spawn, spawnSync } from '../support/programs.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const BIN = fileURLToPath(new URL('../../bin/octavo.js', import.meta.url));

describe('a quoted shell argument', () => {
  /** Arguments that a program receives from words on a command line. */
  function received(shell: string, words: readonly string[]): readonly string[] {
    const script = `printf '%s\\0' ${words.map(shellWord).join(' ')}`;
    const { stdout, status } = spawnSync(shell, ['-c', script], { encoding: 'utf8' });
    expect(status).toBe(0);
    return stdout.split('\0').slice(0, -1);
  }
  const word = fc
    .oneof(
      fc.string({ unit: codePoint, minLength: 1 }),
      fc.string({ unit: fc.constantFrom(...'$`"\'\\!*?[]{}()<>|&;#~=%^- \t\n\r\u202e\u00a0\u200bé'), minLength: 1 }),
      fc.constantFrom(...HOSTILE_TEXTS),
    )
    // Arguments cannot contain NUL, and a command substitution drops a line feed at the end.
    .map((text) => text.toWellFormed().replaceAll('\0', '').replace(/\n+$/, ''))
    .filter((text) => text !== '');

  test.each(['sh', 'bash'])('is read back by %s, and stays on one line of printable text', (shell) => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 60 }), (words) => {
        expect(shellCommand(words)).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u);
        expect(received(shell, words)).toEqual(words);
      }),
      { numRuns: 60 },
    );
  });

  test('is not quoted where that is not needed', () => {
    expect(shellCommand(['octavo', 'plan', 'docs/manifests', '--base', 'main'])).toBe(
      'octavo plan docs/manifests --base main',
    );
    expect(shellWord("Ana's $HOME")).toBe(`'Ana'\\''s $HOME'`);
    expect(pathArgument('-rf')).toBe('./-rf');
  });
});

const FOLDER = "Ana's $(touch pwned) `docs`";
const CONFIG = '../the "operator\'s" $HOME & config.yaml';

/** Two teams, applied; the next commit removes one, and deletions of teams require approval. */
async function openHeld() {
  const work = await openWorkspace();
  const settings = {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: syntax of a variable in the configuration
    platform: { baseUrl: work.emulator.url, token: '${env:OCTAVO_TOKEN}' },
    organizations: ['org_other', 'org_acme'].map((id) => ({
      id,
      source: { directory: '.' },
      requireApproval: ['team'],
    })),
  };
  writeFileSync(join(work.repository.directory, CONFIG), JSON.stringify(settings));
  work.repository.write(
    `${FOLDER}/teams.yaml`,
    'teams:\n  writers: { title: Writers }\n  editors: { title: Editors }\n',
  );
  work.repository.commit('Two teams');
  const where = ['--config', CONFIG, '--organization', 'org_acme'];
  expect(await work.inside(['apply', FOLDER, '--yes', '--record', ...where])).toMatchObject({ code: 0 });
  work.repository.write(`${FOLDER}/teams.yaml`, 'teams:\n  writers: { title: Writers }\n');
  work.repository.commit('One team');
  return { work, where };
}

/** Runs a line in a shell in this directory, as a user would. */
async function paste(line: string, work: Workspace, cwd = work.repository.directory, shell = 'sh') {
  const commands = join(work.folder, 'commands');
  mkdirSync(commands, { recursive: true });
  writeFileSync(join(commands, 'octavo'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  chmodSync(join(commands, 'octavo'), 0o755);
  const env = { ...work.env, PATH: `${commands}:${process.env.PATH}`, HOME: work.folder, GIT_CONFIG_NOSYSTEM: '1' };
  const child = spawn(shell, ['-c', line], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  child.stderr.on('data', (text) => {
    output += text;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, output };
}

function commandIn(text: string): string {
  return (
    /^ *(octavo apply (?:.*\\\n)*.*--approve [0-9a-f]{8}\b.*(?:(?<=\\)\n.*)*)$/m.exec(text)?.[1] ??
    `no command in ${text}`
  );
}

describe('the printed approve command runs unchanged', () => {
  const plans: readonly (readonly [what: string, args: readonly string[], columns: number])[] = [
    ['a plan', ['plan', FOLDER, '--base', 'HEAD~1'], 100],
    ['a plan on a narrow terminal', ['plan', FOLDER, '--base', 'HEAD~1'], 20],
    ['a plan as Markdown', ['plan', FOLDER, '--base', 'applied', '--format', 'markdown'], 100],
    ['an apply', ['apply', FOLDER, '--base', 'applied', '--yes', '--record'], 100],
    ['a plan file', ['plan', FOLDER, '--base', 'HEAD~1', '--out', "../plan of Ana's $HOME"], 100],
  ];
  test.each(plans)('after %s', async (_what, args, columns) => {
    const { work, where } = await openHeld();
    await using _ = work;
    const shown = await work.inside([...args, ...where], {}, '.', { columns });
    expect(work.teams()).toEqual(['Editors', 'Writers']);
    const pasted = await paste(commandIn(shown.stdout + shown.stderr), work);
    expect(pasted).toMatchObject({ code: 0, output: expect.stringContaining('1 applied') });
    expect(work.teams()).toEqual(['Writers']);
  });

  test('after an apply of a plan file', async () => {
    const { work, where } = await openHeld();
    await using _ = work;
    const file = "../Ana's plan";
    await work.inside(['plan', FOLDER, '--base', 'HEAD~1', '--out', file, ...where]);
    const held = await work.inside(['apply', file, ...where]);
    expect(held.code).toBe(4);
    expect(await paste(commandIn(held.stderr), work, undefined, 'bash')).toMatchObject({ code: 0 });
    expect(work.teams()).toEqual(['Writers']);
  });

  test('from a comment, after the pull request is merged', async () => {
    await using fake = await (FORGES[0] as (typeof FORGES)[number]).open();
    const { work, where } = await openHeld();
    await using _ = work;
    const [base = '', head = ''] = ['HEAD~1', 'HEAD'].map((ref) => work.repository.git('rev-parse', ref));
    const job = jobAt(fake, 'github', { base, head, event: join(work.folder, 'event.json') });
    const ended = await work.inside(['plan', FOLDER, '--comment', ...where], job);
    expect(ended.code).toBe(0);
    const body = String(fake.own[0]?.body);
    expect(body).toMatch(/^Once merged, approve on the web page, or with `octavo approve [0-9a-f]{8}` where .*\.$/m);
    expect(commandIn(body).replaceAll(' \\\n ', '')).toContain(' --base applied --record --approve ');
    expect(await paste(commandIn(body), work)).toMatchObject({ code: 0 });
    expect(work.teams()).toEqual(['Writers']);
    expect(work.repository.git('for-each-ref', '--format=%(objectname) %(parent)', 'refs/octavo')).toContain(head);
  });

  test('from the log of a daemon, in another directory', async () => {
    await using work = await openWorkspace();
    const TEAMS = 'teams:\n  writers: { title: Writers }\n  editors: { title: Editors }\n';
    work.repository.commit('Two teams', { 'teams.yaml': TEAMS });
    const name = "the daemon's $config.yaml";
    work.configure({ organization: { requireApproval: ['team'] }, name });
    const daemon = work.begin('run', '--config', name);
    await work.untilTeams('Editors', 'Writers');
    work.repository.commit('One team', { 'teams.yaml': 'teams:\n  writers: { title: Writers }\n' });
    const { approve } = await daemon.waitForLog('changes held');
    expect(await paste(String(approve), work, '/')).toMatchObject({ code: 0 });
    await eventually('the deletion', () => work.teams().join() === 'Writers');
  });
});

test('the commands that init, plan --out and snapshot suggest run unchanged', async () => {
  const { work, where } = await openHeld();
  await using _ = work;
  const init = await work.inside(['init', FOLDER, '--forge', 'none', ...where]);
  const next = /Next: (.*)\n$/.exec(init.stderr)?.[1] ?? '';
  expect(await paste(next, work)).toMatchObject({ code: 0 });
  await work.inside(['plan', FOLDER, '--out', "../Ana's plan", ...where]);
  const plan = await work.inside(['plan', FOLDER, '--base', 'none', '--out', '../$plan', ...where]);
  const apply = /apply it with:\n {2}(.*)\n/.exec(plan.stderr)?.[1] ?? '';
  expect(await paste(apply, work)).toMatchObject({ code: 0 });
  const snapshot = await work.inside(['snapshot', '--out', "../Ana's snapshot", ...where]);
  const over = /plan from it with:\n {2}(.*)\n/.exec(snapshot.stderr)?.[1] ?? '';
  expect(
    await paste(
      over.replace(/(?<=--snapshot '?)\.\.\//, '../../').replace(/(?<=--config '?)\.\.\//, '../../'),
      work,
      join(work.repository.directory, FOLDER),
    ),
  ).toMatchObject({ code: 0 });
});
