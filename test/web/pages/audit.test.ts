/** View of the audit. */
import { expect, test } from 'vitest';
import type { OrganizationState } from '../../../src/web/model/backend.ts';
import { type AuditView, auditPage, organizationAuditPage } from '../../../src/web/pages/audit.ts';
import { allPages, NOW, someBackend, someOrganization, someRequest, viewOf } from '../some-backend.ts';

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

test('merges the entries of organizations by time, and pages without losing or repeating one', async () => {
  const states = [someOrganization('a'), someOrganization('b'), someOrganization('c')];
  for (let index = 0; index < 130; index += 1) {
    // Three entries in the same millisecond, also across organizations.
    await states[index % 2]?.history.addAudit(entry(NOW + Math.floor(index / 3), String(index)));
  }
  const seen = await audit(states);
  expect(new Set(seen.map(({ subject }) => subject)).size).toBe(130);
  const times = seen.map(({ at }) => at);
  expect(times).toHaveLength(130);
  expect(times).toEqual(times.toSorted().reverse());
});

test('pages through entries of many organizations in the same millisecond', async () => {
  const states = Array.from({ length: 120 }, (_, index) => someOrganization(`org_${String(index).padStart(3, '0')}`));
  for (const { id, history } of states) {
    await history.addAudit(entry(NOW, id));
    await history.addAudit(entry(NOW - 1, `${id} before`));
  }
  const seen = (await audit(states)).map(({ subject }) => subject);
  expect(seen).toEqual([...states.map(({ id }) => id), ...states.map(({ id }) => `${id} before`)]);
});

test('an unreadable position shows the first page', async () => {
  const state = someOrganization('a');
  await state.history.addAudit(entry(NOW, 'x'));
  const request = someRequest({ organization: 'a' }, { before: 'nonsense' });
  const { entries } = await viewOf<AuditView>(organizationAuditPage, someBackend([state]), request);
  expect(entries).toMatchObject([{ subject: 'x', organization: 'a' }]);
});
