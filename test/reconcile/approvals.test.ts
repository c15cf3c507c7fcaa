import { describe, expect, test } from 'vitest';
import { approvedChecksums, checkApprover } from '../../src/reconcile/daemon/approvals.ts';
import type { Actor } from '../../src/store/history.ts';
import type { PlanDecision } from '../../src/store/store.ts';

const by = (name: string, method: Actor['method'] = 'oidc'): Actor => ({ name, method });
const decision = (actor: Actor, verdict: PlanDecision['verdict'] = 'approved'): PlanDecision => ({
  ...{ checksum: 'sha256:1', verdict, by: actor, reason: '', at: 1 },
});

describe('approvedChecksums', () => {
  test.each([
    ['one of one', 1, [decision(by('ana@acme.example'))], true],
    ['one of two', 2, [decision(by('ana@acme.example'))], false],
    ['two people', 2, [decision(by('ana@acme.example')), decision(by('bo@acme.example'))], true],
    ['one person twice', 2, [decision(by('ana@acme.example')), decision(by('ANA@acme.example', 'token'))], false],
    ['two names on the control socket', 2, [decision(by('ana', 'socket')), decision(by('bo', 'socket'))], false],
    ['the control socket and a person', 2, [decision(by('ana', 'socket')), decision(by('bo@acme.example'))], true],
    ['a rejection', 1, [decision(by('ana@acme.example')), decision(by('bo@acme.example'), 'rejected')], false],
    ['nobody', 1, [], false],
  ])('counts %s', (_what, count, decisions, isApproved) => {
    expect(approvedChecksums(decisions, { count, notAuthor: false })).toEqual(isApproved ? ['sha256:1'] : []);
  });
});

describe('checkApprover', () => {
  const rules = { count: 1, notAuthor: true };
  const authors = ['ana@acme.example'];

  test('refuses the author in any case of letters, and people without an email', () => {
    expect(() => checkApprover(by('Ana@ACME.example'), authors, rules)).toThrow('wrote the commit');
    expect(() => checkApprover(by('root', 'socket'), authors, rules)).toThrow('is not known');
  });

  test('accepts others, and everybody without the setting', () => {
    expect(() => checkApprover(by('bo@acme.example'), authors, rules)).not.toThrow();
    expect(() => checkApprover(by('ana@acme.example'), authors, { ...rules, notAuthor: false })).not.toThrow();
  });
});
