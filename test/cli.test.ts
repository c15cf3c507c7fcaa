import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, expect, test } from 'vitest';
import type { CommandContext } from '../src/commands/cli/context.ts';
import { table } from '../src/commands/cli/table.ts';
import { createProgram } from '../src/commands/program.ts';
import { OctavoInside, octavoInside } from './support/octavo-inside.ts';
import { eventually, OctavoProcess, type OctavoRun, octavo } from './support/octavo-process.ts';

const cwd = mkdtempSync(join(tmpdir(), 'octavo-cli-'));

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

test.concurrent.each([
  [['plna'], "unknown command 'plna'", 'Did you mean plan?'],
  [['plan', '--bsae', 'HEAD'], "unknown option '--bsae'", 'Did you mean --base?'],
  [['plan', '--format', 'xml'], "argument 'xml' is invalid", 'text, markdown, json'],
  [['apply', '--allow-deletes', 'many'], "argument 'many' is invalid", 'a whole number'],
  [['emulate', '--port', '70000'], "argument '70000' is invalid", 'at most 65535'],
  [['approve'], "missing required argument 'checksum'", '--help'],
  [['plan', 'a', 'b'], 'too many arguments', '--help'],
])('%j is invalid input', async (args, wrong, hint) => {
  const { code, stdout, stderr } = await octavoInside(args, { cwd });
  expect(stderr).toContain(wrong);
  expect(stderr).toContain(hint);
  expect(stdout).toBe('');
  expect(code).toBe(3);
});

test.concurrent.each([
  ['plan', ['OCTAVO_TOKEN, OCTAVO_ORGANIZATION are not set', '--config FILE']],
  ['doctor', ['are not set']],
  ['run', ['are not set']],
  ['approve sha256:x', ['are not set']],
  ['plan --config nowhere.yaml', ['cannot read nowhere.yaml: no such file']],
  ['validate nowhere', ['nowhere is not a directory']],
])('octavo %s reports a missing setting', async (line, words) => {
  const { code, stdout, stderr } = await octavoInside(line.split(' '), { cwd });
  for (const word of words) {
    expect(stderr).toContain(word);
  }
  expect(stdout).toBe('');
  expect(code).toBe(3);
});

test.concurrent('prints help and version to standard output', async () => {
  const help = await octavo(['--help'], { cwd });
  expect(help).toMatchObject({ code: 0, stderr: '' });
  for (const command of ['validate', 'plan', 'apply', 'run', 'approve', 'doctor', 'schema', 'emulate', 'demo']) {
    expect(help.stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
  }
  expect(help.stdout).toContain('Exit codes:\n  0  success\n  1  failure\n  2');
  const version = await octavo(['--version'], { cwd });
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test.concurrent('every help fits into 80 columns', async () => {
  const terminal = { columns: 80, isOutTerminal: true };
  const program = createProgram({ terminal, version: '1.2.3' } as CommandContext, () => undefined);
  const wide = (command: Command): string[] => {
    const help: string[] = [];
    command.configureOutput({ writeOut: (text) => help.push(text), getOutHelpWidth: () => 80 });
    command.outputHelp();
    const long = help
      .join('')
      .split('\n')
      .filter((line) => line.length > 80);
    return [...long.map((line) => `${command.name()}: ${line}`), ...command.commands.flatMap(wide)];
  };
  expect(wide(program)).toEqual([]);
  expect(program.commands.length).toBeGreaterThan(25);
});

test.concurrent('prints a valid JSON Schema with schema', async () => {
  const { code, stdout, stderr } = await octavoInside(['schema'], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({ type: 'object', properties: { teams: {}, sites: {}, spaces: {} } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test.concurrent('succeeds when its output is closed early', async () => {
  const reading = new OctavoProcess(['schema'], { cwd });
  reading.child.stdout?.destroy();
  const { code, stderr } = await reading.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test.concurrent('prints errors as JSON with --format json', async () => {
  const { code, stdout } = await octavoInside(['plan', '--format=json'], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({ format: 'octavo.error/1', error: { code: 'invalid-config' } });
  expect(code).toBe(3);
});

/** Returns the variables that `emulate` prints, once it is ready. */
async function exportsOf(running: OctavoRun): Promise<Readonly<Record<string, string>>> {
  await eventually('the emulator', () => running.stderr !== '');
  const lines = running.stdout.matchAll(/^export (\w+)=(.*)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}

test.concurrent('emulate prints variables to export, and ends when stopped', async () => {
  const running = new OctavoProcess(['emulate', '--token', 'given-token'], { cwd });
  const exported = await exportsOf(running);
  expect(exported).toMatchObject({ OCTAVO_TOKEN: 'given-token', OCTAVO_ORGANIZATION: 'org_acme' });
  const port = new URL(String(exported.OCTAVO_BASE_URL)).port;
  const second = await octavoInside(['emulate', '--port', port], { cwd });
  expect(second.stderr).toContain(`port ${port} is in use`);
  expect(second.code).toBe(3);
  const doctor = await octavoInside(['doctor'], { cwd, env: exported });
  expect(doctor.stdout).toMatch(/ok +Token +accepted, for Acme/);
  expect(doctor.code).toBe(0);
  expect((await running.stop('SIGINT')).code).toBe(0);
});

test.concurrent('emulate behaves like the version of --platform, except for features disabled with --without', async () => {
  const without = ['--without', 'conversations', 'publish', '--without', 'site-findings'];
  const running = new OctavoInside(['emulate', '--platform', '0.181', ...without], { cwd });
  const { OCTAVO_TOKEN, OCTAVO_BASE_URL, OCTAVO_ORGANIZATION } = await exportsOf(running);
  const headers = { authorization: `Bearer ${OCTAVO_TOKEN}`, 'content-type': 'application/json' };
  const organization = `${OCTAVO_BASE_URL}/v1/orgs/${OCTAVO_ORGANIZATION}`;
  const created = await fetch(`${organization}/sites`, { method: 'POST', headers, body: '{"title":"Docs"}' });
  const { id } = (await created.json()) as { id: string };
  const site = `sites/${id}`;
  const paths = ['spaces', 'conversations-clusters', `${site}/topics`, `${site}/findings`, `${site}/issues`];
  const statuses = paths.map(async (path) => (await fetch(`${organization}/${path}`, { headers })).status);
  expect(await Promise.all(statuses)).toEqual([200, 404, 200, 404, 404]);
  expect((await running.stop()).code).toBe(0);
});

test.concurrent.each([
  [['emulate', '--platform', '0.200'], 'Allowed choices are 0.146, 0.167, 0.181, 0.201, 0.202'],
  [['emulate', '--without', 'spaces'], 'Allowed choices are change-request-drafts, change-request-links'],
  [['emulate', '--limit', 'fast'], 'use a form such as 60/2s'],
  [['emulate', '--seed', 'nowhere.json'], 'cannot read --seed nowhere.json'],
  [['emulate', '--seed', '/dev/null'], 'cannot read --seed /dev/null'],
])('refuses to start with %j', async (args, words) => {
  const { code, stderr } = await octavoInside(args, { cwd });
  expect(stderr).toContain(words);
  expect(code).toBe(3);
});

test.each([
  ['a long last column', ['ID', 'MEANING'], ['acme', 'a sentence that goes on '.repeat(8).trim()]],
  ['many columns', ['A', 'B', 'C', 'D'], ['a'.repeat(30), 'b'.repeat(30), 'c'.repeat(30), 'words '.repeat(20).trim()]],
])('a table with %s fits into a terminal, and is one line a row elsewhere', (_what, headings, row) => {
  const lines = (isOutTerminal: boolean) => table(headings, [row, row], { isOutTerminal, columns: 80 });
  const shown = lines(true).join('\n').split('\n');
  expect(Math.max(...shown.map(({ length }) => length))).toBeLessThanOrEqual(80);
  const words = (text: readonly string[]) => text.join(' ').split(/\s+/);
  expect(words(shown)).toEqual(words(lines(false)));
  expect(lines(false)).toHaveLength(3);
  expect(lines(false).join('\n').split('\n')).toHaveLength(3);
});
