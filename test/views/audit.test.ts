/** View of the audit. */
import { expect, test } from 'vitest';
import { auditView } from '../../src/web/pages/audit.ts';
import { NOW, someOrganization } from './some-backend.ts';

const entry = (at: number, subject: string) => ({
  at,
  actor: { name: 'ana', method: 'token' } as const,
  ...{ action: 'approve', subject, reason: '', outcome: 'done' as const, detail: '' },
});

test('merges the entries of organizations by time, and pages without losing or repeating one', async () => {
  const states = [someOrganization('a'), someOrganization('b'), someOrganization('c')];
  const expected: string[] = [];
  for (let index = 0; index < 130; index += 1) {
    // Three entries in the same millisecond, also across organizations.
    const at = NOW + Math.floor(index / 3);
    await states[index % 2]?.history.addAudit(entry(at, String(index)));
    expected.push(String(index));
  }
  const seen: string[] = [];
  const times: string[] = [];
  for (let before: string | null = ''; before !== null; ) {
    const view: Awaited<ReturnType<typeof auditView>> = await auditView(states, null, before || null);
    expect(view.entries.length).toBeLessThanOrEqual(50);
    seen.push(...view.entries.map(({ subject }) => subject));
    times.push(...view.entries.map(({ at }) => at));
    before = view.next;
  }
  expect(seen.toSorted()).toEqual(expected.toSorted());
  expect(times).toEqual(times.toSorted().reverse());
});

test('pages through entries of many organizations in the same millisecond', async () => {
  const states = Array.from({ length: 120 }, (_, index) => someOrganization(`org_${String(index).padStart(3, '0')}`));
  for (const { id, history } of states) {
    await history.addAudit(entry(NOW, id));
    await history.addAudit(entry(NOW - 1, `${id} before`));
  }
  const seen: string[] = [];
  for (let before: string | null = ''; before !== null; ) {
    const view: Awaited<ReturnType<typeof auditView>> = await auditView(states, null, before || null);
    seen.push(...view.entries.map(({ subject }) => subject));
    before = view.next;
  }
  expect(seen).toEqual([...states.map(({ id }) => id), ...states.map(({ id }) => `${id} before`)]);
});

test('an unreadable position shows the first page', async () => {
  const state = someOrganization('a');
  await state.history.addAudit(entry(NOW, 'x'));
  expect((await auditView([state], 'a', 'nonsense')).entries).toMatchObject([{ subject: 'x', organization: 'a' }]);
});
