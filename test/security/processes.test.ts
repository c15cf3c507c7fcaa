import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeFifo } from '../support/fifo.ts';
import { octavo } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { mustHaveNoCanary } from './commands.ts';
import { fileAttacks } from './file-attacks.ts';
import { gitAttacks } from './git-attacks.ts';
import { type Attack, CANARIES, Scene } from './scene.ts';

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
      ...gitAttacks.filter(({ name }) => name.startsWith('embedded')).slice(0, 2),
      ...fileAttacks.filter(({ name }) => name.includes('FIFO')),
    ].map((attack, index): [string, Attack, number] => [attack.name, attack, index]),
  )('%s', async (_name, attack, index) => {
    const root = scene.make(attack, `p${index}`);
    expect((await run(root, 'validate', 'manifests')).code).toBe(attack.validate ?? 0);
    expect((await run(root, 'plan', 'manifests', '--base', 'HEAD~1')).code).toBe(attack.validate ?? 0);
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
