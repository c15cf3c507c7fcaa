import { describe, expect, test } from 'vitest';
import { createState, emptyOrganization } from '../../src/emulator/emulator.ts';
import type { CommitAuthors } from '../../src/git/commits.ts';
import { openReader, openWriter } from '../../src/platform/client.ts';
import { approvedChecksums, authorsNotice, checkApprover } from '../../src/reconcile/approvals.ts';
import { OrganizationReconciler } from '../../src/reconcile/organization.ts';
import type { Actor } from '../../src/store/history.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { PlanDecision } from '../../src/store/record.ts';
import { organizationConfig } from '../soak/organization-config.ts';
import { VirtualPlatform } from '../support/virtual-platform.ts';
import { reconcilerOptions, sourceOf } from './reconciler-options.ts';

const by = (name: string, method: Actor['method'] = 'oidc'): Actor => ({ name, method });
const decision = (actor: Actor, verdict: PlanDecision['verdict'] = 'approved'): PlanDecision => ({
  ...{ checksum: 'sha256:1', verdict, by: actor, reason: '', at: 1 },
});
const authors = (...emails: readonly string[]): CommitAuthors => ({ emails: new Set(emails), isComplete: true });

describe('approvedChecksums', () => {
  test.each([
    ['one of one', 1, [decision(by('ana@acme.example'))], true],
    ['one of two', 2, [decision(by('ana@acme.example'))], false],
    ['two people', 2, [decision(by('ana@acme.example')), decision(by('bo@acme.example'))], true],
    ['one person twice', 2, [decision(by('ana@acme.example')), decision(by('ANA@acme.example', 'token'))], false],
    [
      'one person in two Unicode forms',
      2,
      [decision(by('zo\u00eb@acme.example')), decision(by('zoe\u0308@acme.example'))],
      false,
    ],
    ['two names on the control socket', 2, [decision(by('ana', 'socket')), decision(by('bo', 'socket'))], false],
    ['the control socket and a person', 2, [decision(by('ana', 'socket')), decision(by('bo@acme.example'))], true],
    ['a comment', 1, [decision(by('github:ana', 'comment'))], true],
    ['two accounts', 2, [decision(by('github:ana', 'comment')), decision(by('github:bo', 'comment'))], true],
    ['a comment and a person', 2, [decision(by('github:ana', 'comment')), decision(by('ana@acme.example'))], false],
    ['a rejection', 1, [decision(by('ana@acme.example')), decision(by('bo@acme.example'), 'rejected')], false],
    ['nobody', 1, [], false],
  ])('counts %s', (_what, count, decisions, isApproved) => {
    expect(approvedChecksums(decisions, { count, notAuthor: false }, null)).toEqual(isApproved ? ['sha256:1'] : []);
  });
});

describe('with approvals.notAuthor', () => {
  const rules = { count: 1, notAuthor: true };
  const wrote = authors('ana@acme.example', 'é@acme.example');

  test.each<[string, Actor, CommitAuthors | null, string | null]>([
    ['another person', by('bo@acme.example'), wrote, null],
    ['another user of the proxy', by('bo@acme.example', 'proxy'), wrote, null],
    ['a token with another email', by('bo@acme.example', 'token'), wrote, null],
    ['the author', by('ana@acme.example'), wrote, 'wrote a commit'],
    ['the author in other letters', by(' Ana@ACME.example'), wrote, 'wrote a commit'],
    ['the author in another Unicode form', by('e\u0301@acme.example'), wrote, 'wrote a commit'],
    ['the author as a user of the proxy', by('ana@acme.example', 'proxy'), wrote, 'wrote a commit'],
    ['a token with the email of the author', by('ana@acme.example', 'token'), wrote, 'wrote a commit'],
    ['an account whose email is not verified', by('248289761001'), wrote, 'the email of "248289761001" is not known'],
    ['a user of the proxy without an email', by('ana', 'proxy'), wrote, 'the email of "ana" is not known'],
    ['a token without an email', by('ci', 'token'), wrote, 'the email of "ci" is not known'],
    ['a user of the control socket', by('root', 'socket'), wrote, 'is not known'],
    ['an email that the control socket sent', by('bo@acme.example', 'socket'), wrote, 'is not known'],
    ['an account that commented', by('github:bo', 'comment'), wrote, 'the email of "github:bo" is not known'],
    ['nobody', by('', 'none'), wrote, 'the email of the approver is not known'],
    ['anybody if the authors are not known', by('bo@acme.example'), null, 'use a complete clone'],
  ])('%s', (_who, actor, known, refusal) => {
    const check = () => checkApprover(actor, known, rules);
    if (refusal === null) {
      expect(check).not.toThrow();
    } else {
      expect(check).toThrow(refusal);
    }
    expect(() => checkApprover(actor, known, { ...rules, notAuthor: false })).not.toThrow();
  });

  test('people learn if there are more commits than were checked', () => {
    expect(authorsNotice({ ...wrote, isComplete: false }, rules)).toContain('More than 1000 commits');
    expect(authorsNotice(wrote, rules)).toBe('');
    expect(authorsNotice({ ...wrote, isComplete: false }, { ...rules, notAuthor: false })).toBe('');
  });
});

test('a rejection removes the approvals of a plan, which can be approved again', async () => {
  const organization = 'org_1';
  const members = [{ email: 'ana@acme.example', role: 'admin' as const }];
  const platform = new VirtualPlatform({
    state: createState({ organizations: [emptyOrganization({ id: organization, title: 'Acme', members })] }),
  });
  const connection = platform.connect();
  let manifest = 'spaces: { guides: { title: Guides }, api: { title: API } }';
  const reconciler = new OrganizationReconciler({
    ...reconcilerOptions(organization, openMemoryStore(), new AbortController().signal),
    config: organizationConfig(organization, true),
    source: sourceOf(() => manifest),
    clock: platform.clock,
    openReader: (priority) => openReader(connection, { organization, priority }),
    openWriter: (priority) => openWriter(connection, { organization, priority }),
    parallel: 4,
    events: {},
  });
  const pass = async () => {
    await platform.clock.run(reconciler.trigger('manual'));
    return reconciler.lastEnd?.outcome;
  };
  await pass();
  manifest = 'spaces: { api: { title: API } }';
  expect(await pass()).toBe('held');
  const checksum = reconciler.lastPlan?.checksum ?? '';
  await reconciler.approve(checksum, by('ana@acme.example'), '');
  await reconciler.reject(checksum, by('bo@acme.example'), 'still in use');
  expect(await pass()).toBe('held');
  await reconciler.approve(checksum, by('bo@acme.example'), 'moved');
  expect(await pass()).toBe('done');
});
