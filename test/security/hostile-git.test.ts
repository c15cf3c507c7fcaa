import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pickCases } from '../support/campaign.ts';
import { Target } from './commands.ts';
import { gitTricks } from './git-tricks.ts';
import { treeTricks } from './tree-tricks.ts';

let target: Target;
beforeAll(async () => {
  target = await Target.open();
});
afterAll(async () => {
  target.mustBeUnharmed();
  await target[Symbol.asyncDispose]();
});

test('plain git runs the planted commands, so the traps work', () => {
  const [clean, , monitor] = gitTricks;
  for (const trick of [clean, monitor]) {
    if (trick !== undefined) {
      const name = `real-${trick.name.length}`;
      const root = target.scene.make(trick, name);
      execFileSync('git', ['status'], { cwd: join(root, 'manifests'), stdio: 'ignore' });
      expect(target.scene.ran()).toEqual([name]);
      target.scene.forget(name);
    }
  }
});

// Concurrent: most of the time of a command is spent waiting for git.
describe.concurrent('runs no command and reveals no secret for a hostile git repository', () => {
  test.each(pickCases([...gitTricks, ...treeTricks], 12).map((trick) => [trick.name, trick] as const))(
    '%s',
    async (_name, trick) => {
      await target.withstand(trick);
    },
  );
});
