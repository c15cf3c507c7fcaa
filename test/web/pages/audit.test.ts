/** View of the audit. */
import { expect, test } from 'vitest';
import { describeRequest } from '../../../src/daemon/actions.ts';
import type { OrganizationState } from '../../../src/web/model/page.ts';
import { type AuditView, auditPage, organizationAuditPage } from '../../../src/web/pages/audit.ts';
import { allPages, NOW, render, someBackend, someOrganization, someRequest, viewOf } from '../some-backend.ts';

const entry = (at: number, subject: string) => ({
  at,
  actor: { name: 'ana', method: 'token' } as const,
  ...{ action: 'approve', subject, reason: '', outcome: 'done' as const, detail: '' },
});

/** Returns the entries of all pages. */
function audit(states: readonly OrganizationState[]) {
  const load = (before: string) => viewOf<AuditView>(auditPage, someBackend(states), someRequest({}, { before }));
  return allPages(load, ({ entries }) => {
    expect(entries.length).toBeLessThanOrEqual(50);
    return entries;
  });
}

test('entries are sorted by time and paged, also those of many organizations in the same millisecond', async () => {
  const states = Array.from({ length: 120 }, (_, index) => someOrganization(`org_${String(index).padStart(3, '0')}`));
  for (const { id, history } of states) {
    await history.addAudit(entry(NOW, id));
    await history.addAudit(entry(NOW - 1, `${id} before`));
    await history.addAudit(entry(NOW - 1, `${id} before`));
  }
  const seen = (await audit(states)).map(({ subject }) => subject);
  const before = states.flatMap(({ id }) => [`${id} before`, `${id} before`]);
  expect(seen).toEqual([...states.map(({ id }) => id), ...before]);
});

test('an unreadable position shows the first page', async () => {
  const state = someOrganization('a');
  await state.history.addAudit(entry(NOW, 'x'));
  const request = someRequest({ organization: 'a' }, { before: 'nonsense' });
  const { entries } = await viewOf<AuditView>(organizationAuditPage, someBackend([state]), request);
  expect(entries).toMatchObject([{ subject: 'x', organization: 'a' }]);
});

test('each entry is a sentence that links to the plan or the resource', async () => {
  const checksum = `sha256:${'ab'.repeat(32)}`;
  const state = someOrganization('acme');
  for (const given of [
    { subject: checksum, reason: 'checked with <b>Bo</b>' },
    { action: 'pause', subject: 'team/writers', outcome: 'refused' as const, detail: 'it is paused' },
    { action: 'reconcile', subject: '' },
    describeRequest('conversations', { subcommand: 'dead drop', key: 'zendesk/help/1' }),
    describeRequest('clusters', { subcommand: 'mute', cluster: 'c 1', muted: true, reason: 'a rewrite' }),
    describeRequest('clusters', { subcommand: 'mute', cluster: 'c 1', muted: false }),
    { action: 'x\u202e', subject: '//evil.example/a' },
    ...['https://github.com/acme/docs/pull/12#issuecomment-7', 'javascript:alert(1)'].map((reason) => {
      return { actor: { name: 'github:boss', method: 'comment' } as const, subject: checksum, reason };
    }),
  ]) {
    await state.history.addAudit({ ...entry(NOW, ''), ...given });
  }
  const shown = await render(organizationAuditPage, someBackend([state]), someRequest({ organization: 'acme' }));
  const sentences = [...shown.matchAll(/<li>(.*?)<\/li>/gs)].map(([, each = '']) => {
    return each
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
  });
  expect(sentences).toEqual([
    expect.stringMatching(/^done github:boss \(comment\) approved the plan abababa in a comment/),
    expect.stringMatching(/^done github:boss \(comment\) approved the plan abababa in a comment/),
    expect.stringContaining('ana (token) x\\u202e //evil.example/a'),
    expect.stringContaining('ana (token) unmuted the question c 1'),
    expect.stringContaining('ana (token) muted the question c 1 : “a rewrite”'),
    expect.stringContaining('ana (token) discarded refused conversations zendesk/help/1'),
    expect.stringContaining('ana (token) asked for a check'),
    expect.stringMatching(/^refused ana \(token\) paused team\/writers refused it is paused/),
    expect.stringContaining('ana (token) approved the plan abababa : “checked with &lt;b&gt;Bo&lt;/b&gt;”'),
  ]);
  expect(shown).toContain(`href="/o/acme/plans/${encodeURIComponent(checksum)}"`);
  expect(shown).toContain('href="/o/acme/r/team/writers"');
  expect(shown).toContain('<a href="https://github.com/acme/docs/pull/12#issuecomment-7">a comment</a>');
  expect(shown).not.toMatch(/href="\/\/|javascript/);
  expect(shown).toContain('href="/o/acme/questions/c%201"');
});
