import { expect, test } from 'vitest';
import { newChange } from '../../src/plan/changes.ts';
import { heldChecksum, planChecksum } from '../../src/plan/guard.ts';

const changes = [newChange({ action: 'delete', address: 'team/a', kind: 'team', fields: [], id: 't1' })];

test('the same changes have another checksum in another organization, in another scope, and as the held part', () => {
  const checksums = ['org_1', 'org_2'].flatMap((organization) =>
    ['.', 'docs', 'other'].flatMap((scope) => [
      planChecksum(organization, scope, changes),
      heldChecksum(organization, scope, changes),
    ]),
  );
  expect(new Set(checksums).size).toBe(12);
  expect(planChecksum('org_1', 'docs', changes)).toBe(planChecksum('org_1', 'docs', [...changes]));
});
