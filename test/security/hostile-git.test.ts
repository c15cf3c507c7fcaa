import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pickCases } from '../support/campaign.ts';
import { execFileSync } from '../support/programs.ts';
import { Target } from './commands.ts';
import { gitAttacks } from './git-attacks.ts';
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

// Concurrent: most of the time of a command is spent waiting for git.
describe.concurrent('runs no command and reveals no secret for a hostile git repository', () => {
  test.each(pickCases([...gitAttacks, ...treeAttacks], 6, 24).map((attack) => [attack.name, attack] as const))(
    '%s',
    async (_name, attack) => {
      await target.checkAttack(attack);
    },
  );
});
