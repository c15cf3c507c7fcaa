/** A single round of a daemon. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openWorkspace } from '../support/workspace.ts';

test('run --once says what it did, for each organization, and exits by it', async () => {
  await using work = await openWorkspace();
  const { directory } = work.repository;
  const declare = (manifests: string) => writeFileSync(join(directory, 'all.yaml'), manifests);
  const config = work.configure({ organization: { source: { directory } } });
  const run = () => work.inside(['run', '--once', '--config', config]);
  declare('collections: { a: { title: A }, b: { title: B } }\n');
  expect(await run()).toMatchObject({ code: 0, stdout: 'org_acme: done: 2 applied\n' });
  expect((await run()).stdout).toMatch(/^org_acme: done: No changes, 2 unchanged.*\n$/);
  declare('collections: { a: { title: A } }\n');
  expect((await run()).code).toBe(4);
  declare('collections: 1\n');
  expect(await run()).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^org_acme: failed: .*all\.yaml:1:14.*\n$/),
  });
});
