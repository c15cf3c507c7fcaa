import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Target } from './commands.ts';
import { gitTricks } from './git-tricks.ts';
import { treeTricks } from './tree-tricks.ts';

let target: Target;
beforeAll(async () => {
  target = await Target.open();
});
afterAll(() => target[Symbol.asyncDispose]());

test('the traps are real: git itself runs the commands', () => {
  const [clean, , monitor] = gitTricks;
  for (const trick of [clean, monitor]) {
    if (trick !== undefined) {
      const root = target.scene.make(trick, `real-${trick.name.length}`);
      execFileSync('git', ['status'], { cwd: join(root, 'manifests'), stdio: 'ignore' });
      expect(target.scene.ran()).toHaveLength(1);
      target.scene.forget();
    }
  }
});

describe('git: no command runs, and no secret is read, sent or printed', () => {
  test.each([...gitTricks, ...treeTricks].map((trick) => [trick.name, trick] as const))('%s', async (_name, trick) => {
    await target.withstand(trick);
  });
});
