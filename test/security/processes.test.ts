import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeFifo } from '../support/fifo.ts';
import { octavo } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { mustHaveNoCanary } from './commands.ts';
import { fileTricks } from './file-tricks.ts';
import { gitTricks } from './git-tricks.ts';
import { CANARIES, Scene, type Trick } from './scene.ts';

let work: Workspace;
let scene: Scene;
beforeAll(async () => {
  work = await openWorkspace();
  scene = new Scene();
});
afterAll(async () => {
  await work[Symbol.asyncDispose]();
  scene.remove();
});

const run = async (cwd: string, ...args: string[]) => {
  const ended = await octavo(args, { cwd, env: { ...work.env, CANARY: CANARIES.environment } });
  mustHaveNoCanary(ended.stdout + ended.stderr);
  return ended;
};

describe('octavo as a process', () => {
  test.each(
    [
      ...gitTricks.filter(({ name }) => name.startsWith('embedded')).slice(0, 2),
      ...fileTricks.filter(({ name }) => name.includes('FIFO')),
    ].map((trick, index): [string, Trick, number] => [trick.name, trick, index]),
  )('%s', async (_name, trick, index) => {
    const root = scene.make(trick, `p${index}`);
    expect((await run(root, 'validate', 'manifests')).code).toBe(trick.validate ?? 0);
    expect((await run(root, 'plan', 'manifests', '--base', 'HEAD~1')).code).toBe(trick.validate ?? 0);
    expect(scene.ran()).toEqual([]);
  });

  test('refuses a FIFO as configuration, snapshot, plan file or seed at once', async () => {
    const fifo = join(work.folder, 'fifo');
    makeFifo(fifo);
    const { directory } = work.repository;
    work.repository.write('teams.yaml', 'teams: {}\n');
    for (const args of [
      ['plan', '.', '--config', fifo],
      ['plan', '.', '--snapshot', fifo],
      ['apply', fifo],
      ['emulate', '--seed', fifo],
      ['redact', fifo],
      ['api', 'put', '/orgs/x/teams', '--data', `@${fifo}`],
    ]) {
      const { code, stderr } = await run(directory, ...args);
      expect([args[0], code, stderr]).toEqual([args[0], 3, expect.stringMatching(/FIFO|not a regular file/)]);
    }
  });
});
