import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, octavo } from '../support/octavo-process.ts';
import { spawn } from '../support/programs.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const BIN = fileURLToPath(new URL('../../bin/octavo.js', import.meta.url));

describe('octavo api as a process', () => {
  let space: Workspace;
  let site: string;
  const run = (args: readonly string[], shell?: string) =>
    octavo(['api', ...args], { cwd: space.folder, env: space.env, ...(shell === undefined ? {} : { shell }) });

  beforeAll(async () => {
    space = await openWorkspace();
    for (let team = 0; team < 40; team += 1) {
      await space.call('PUT', '/teams', { title: `Team ${team} ${'x'.repeat(40)}` });
    }
    site = (await space.call('POST', '/sites', { title: 'Help' })).id as string;
  });
  afterAll(() => space[Symbol.asyncDispose]());

  test('requests pages as they are read, and ends silently when its output is closed', async () => {
    space.emulator.requests.reset();
    const child = spawn(process.execPath, [BIN, 'api', 'listTeams', '--paginate', '-f', 'limit=1'], {
      cwd: space.folder,
      env: { PATH: process.env.PATH, HOME: space.folder, ...space.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const closed = once(child, 'close');
    const early = closed.then(() => Promise.reject(new Error(`it ended without a line: ${output}`)));
    const [first] = (await Promise.race([once(child.stdout, 'data'), early])) as [Buffer];
    early.catch(() => undefined);
    child.stdout.destroy();
    const [code] = await closed;
    expect({ code, output }).toEqual({ code: 0, output: '' });
    expect(first.toString()).toMatch(/^\{"object":"team".*\}\n/);
    expect(space.emulator.requests.count('listTeams')).toBeLessThan(40);
  });

  test('prints whole lines, the reason and how to continue on Ctrl-C between pages', async () => {
    space.emulator.requests.reset();
    const child = space.begin('api', 'listTeams', '--paginate', '-f', 'limit=1');
    await eventually('the first line', () => child.stdout.includes('\n'));
    const { code, stdout, stderr } = await child.stop('SIGINT');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { title: string });
    expect(stdout.endsWith('\n')).toBe(true);
    expect(lines.map(({ title }) => title.split(' ')[1])).toEqual(lines.map((_line, index) => String(index)));
    // It may have finished before the signal.
    const ended =
      lines.length === 40 ? '' : /^Stopped after \d+ items; continue with -f page=\S+\noctavo: interrupted\n$/;
    expect({ code, stderr }).toEqual({ code: lines.length === 40 ? 0 : 130, stderr: expect.stringMatching(ended) });
  });

  test('stops an endless jq program on Ctrl-C', async () => {
    space.emulator.requests.reset();
    const child = space.begin('api', 'listTeams', '--jq', 'last(repeat(1))');
    await eventually('the answer', () => space.emulator.requests.entries[0]?.status === 200);
    const { code, stdout, stderr } = await child.stop('SIGINT');
    expect({ code, stdout, stderr }).toEqual({
      code: 130,
      stdout: '',
      stderr: 'octavo: interrupted\n',
    });
  });

  test('reads a body from a pipe, and writes filtered output to a pipe', async () => {
    writeFileSync(join(space.folder, 'team.json'), '{"title":"Piped"}');
    const { code, stdout, stderr } = await run(
      ['createTeam', '-d', '-', '--yes', '--jq', '.title'],
      'exec < team.json',
    );
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'Piped\n', stderr: '' });
  });

  test('prints a streamed response with one line per event', async () => {
    const { code, stdout } = await run([
      'askSite',
      site,
      '-f',
      'question=How?',
      '-f',
      'scope[mode]=default',
      '-f',
      'format=markdown',
    ]);
    const pieces = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).answer.answer?.markdown as string | undefined);
    expect(code).toBe(0);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every((piece) => (pieces.at(-1) ?? '').startsWith(piece ?? ''))).toBe(true);
  });

  test('prints one error line for a refused stream', async () => {
    const { code, stderr } = await run(['askSite', 'none', '-f', 'question=How?', '-f', 'scope[mode]=default']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^octavo: askSite: the platform refused it \(404\).*\n$/),
    });
  });
});
