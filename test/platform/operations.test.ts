/** Operations whose repetition or limits other code relies on. The contract tests call them all. */
import { describe, expect, test } from 'vitest';
import { operations } from '../../src/platform/operations/index.ts';

describe('after a lost response', () => {
  test.each(['createChangeRequest', 'postChangeRequestComment', 'createTeam'] as const)(
    '%s is not repeated',
    (name) => {
      expect(operations[name].repeat).toBe('never');
    },
  );

  test.each(['updateChangeRequest', 'updateConversationCluster', 'updateOrganization'] as const)(
    '%s is repeated',
    (name) => {
      expect(operations[name].repeat).not.toBe('never');
    },
  );
});

test('searches have a rate limit of their own', () => {
  expect(operations.searchOrganization.class).toBe('search');
});
