/** Operations whose repetition, limits or lenient answers other code relies on. The contract tests call them all. */
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
  expect([operations.searchOrganization.class, operations.searchSpace.class]).toEqual(['search', 'search']);
});

/** Source: docs/platform-notes.md#issue-clusters */
test.each([
  ['of another version', { id: 'k', label: 'L', summary: 'text', stats: { issues: 1, tasksTotal: 4 }, urls: null }],
  ['with details instead of a summary', { id: 'k', details: 'text', icon: { light: 'a' }, stats: null }],
  ['with unknown values', { id: 'k', impact: 'catastrophic', sources: { 'integration:x:y': 1, '': null } }],
  ['with an id alone', { id: 'k' }],
])('a cluster %s is returned unchanged', (_, answer) => {
  expect(operations.getConversationCluster.answer.parse(answer)).toEqual(answer);
});

test('a change request of an unknown status is returned unchanged', () => {
  const at = '2026-01-02T03:04:05.000Z';
  const odd = { id: 'c', space: 's', status: 'parked', createdAt: at, updatedAt: at, description: {} };
  expect(operations.getChangeRequest.answer.parse(odd)).toEqual(odd);
});

test('a change request becomes merged only by merging, and a review needs a reviewer', () => {
  expect(operations.updateChangeRequest.body.safeParse({ status: 'merged' }).success).toBe(false);
  expect(operations.requestReviewers.body.safeParse({ users: [] }).success).toBe(false);
});
