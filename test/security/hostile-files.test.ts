import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pickCases } from '../support/campaign.ts';
import { Target } from './commands.ts';
import { fileAttacks } from './file-attacks.ts';
import { gitAttacks } from './git-attacks.ts';
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

test('at least 60 different attacks are tried', () => {
  const names = [...gitAttacks, ...treeAttacks, ...fileAttacks, ...textAttacks].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(60);
});

// Concurrent: most of the time of a command is spent waiting for git.
describe.concurrent('runs no command and reveals no secret for hostile files', () => {
  test.each(pickCases(fileAttacks, 10).map((attack) => [attack.name, attack] as const))('%s', async (_name, attack) => {
    await target.checkAttack(attack);
  });

  test.each(pickCases(textAttacks, 10).map((attack) => [attack.name, attack] as const))('%s', async (_name, attack) => {
    await target.checkAttack(attack, { isOnlyText: true });
  });
});
