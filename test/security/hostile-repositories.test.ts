/** Commands on hostile repositories and files: they run nothing, reveal nothing and do not hang. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pickCases } from '../support/campaign.ts';
import { makeFifo } from '../support/fifo.ts';
import { octavo } from '../support/octavo-process.ts';
import { execFileSync } from '../support/programs.ts';
import { openWorkspace } from '../support/workspace.ts';
import { Target } from './commands.ts';
import { fileAttacks } from './file-attacks.ts';
import { gitAttacks } from './git-attacks.ts';
import type { Attack } from './scene.ts';
import { textAttacks } from './text-attacks.ts';
import { treeAttacks } from './tree-attacks.ts';

let target: Target;
beforeAll(async () => {
  target = await Target.open();
});
afterAll(async () => {
  target.mustBeUnharmed();
  await target[Symbol.asyncDispose]();
});

test('plain git runs the planted commands, so the traps work', () => {
  const [clean, , monitor] = gitAttacks;
  for (const attack of [clean, monitor]) {
    if (attack !== undefined) {
      const name = `real-${attack.name.length}`;
      const root = target.scene.make(attack, name);
      execFileSync('git', ['status'], { cwd: join(root, 'manifests'), stdio: 'ignore' });
      expect(target.scene.ran()).toEqual([name]);
      target.scene.forget(name);
    }
  }
});

const named = (attacks: readonly Attack[], count: number, ci?: number) =>
  pickCases(attacks, count, ci).map((attack) => [attack.name, attack] as const);

// Concurrent: most of the time of a command is spent waiting for git.
describe.concurrent('runs no command and reveals no secret for', () => {
  test.each([...named([...gitAttacks, ...treeAttacks], 6, 24), ...named(fileAttacks, 10)])(
    '%s',
    async (_name, attack) => {
      await target.checkAttack(attack);
    },
  );

  test.each(named(textAttacks, 10))('%s', async (_name, attack) => {
    await target.checkAttack(attack, { isOnlyText: true });
  });
});

test('a process refuses a FIFO as configuration, snapshot, plan file or seed at once', async () => {
  await using work = await openWorkspace();
  const fifo = join(work.folder, 'fifo');
  makeFifo(fifo);
  work.repository.write('teams.yaml', 'teams: {}\n');
  for (const args of [
    ['plan', '.', '--config', fifo],
    ['plan', '.', '--snapshot', fifo],
    ['apply', fifo],
    ['emulate', '--seed', fifo],
    ['redact', fifo],
    ['api', 'put', '/orgs/x/teams', '--data', `@${fifo}`],
  ]) {
    const { code, stderr } = await octavo(args, { cwd: work.repository.directory, env: work.env });
    expect([args[0], code, stderr]).toEqual([args[0], 3, expect.stringMatching(/FIFO|not a regular file/)]);
  }
});
