import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openWorkspace } from '../support/workspace.ts';

test('run --once says what it did, for each organization', async () => {
  await using work = await openWorkspace();
  const { directory } = work.repository;
  writeFileSync(join(directory, 'teams.yaml'), 'teams:\n  t0: { title: Team }\n');
  const config = work.configure({ organization: { source: { directory } } });
  const run = async () => (await work.inside(['run', '--once', '--config', config])).stdout;
  expect(await run()).toBe('org_acme: done: 1 applied\n');
  expect(await run()).toMatch(/^org_acme: done: No changes, 1 unchanged.*\n$/);
  writeFileSync(join(directory, 'teams.yaml'), 'teams: 1\n');
  expect(await run()).toMatch(/^org_acme: failed: .*teams\.yaml:1:8.*\n$/);
});
