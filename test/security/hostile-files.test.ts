import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pickCases } from '../support/campaign.ts';
import { Target } from './commands.ts';
import { fileTricks } from './file-tricks.ts';
import { gitTricks } from './git-tricks.ts';
import { textTricks } from './text-tricks.ts';
import { treeTricks } from './tree-tricks.ts';

let target: Target;
beforeAll(async () => {
  target = await Target.open();
});
afterAll(async () => {
  target.mustBeUnharmed();
  await target[Symbol.asyncDispose]();
});

test('at least 60 different attacks are tried', () => {
  const names = [...gitTricks, ...treeTricks, ...fileTricks, ...textTricks].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(60);
});

// Concurrent: most of the time of a command is spent waiting for git.
describe.concurrent('runs no command and reveals no secret for hostile files', () => {
  test.each(pickCases(fileTricks, 10).map((trick) => [trick.name, trick] as const))('%s', async (_name, trick) => {
    await target.withstand(trick);
  });

  test.each(pickCases(textTricks, 10).map((trick) => [trick.name, trick] as const))('%s', async (_name, trick) => {
    await target.withstand(trick, { isOnlyText: true });
  });
});
