import { expect, test } from 'vitest';
import { createState, emptyOrganization, type FaultRule } from '../../src/emulator/emulator.ts';
import { readMetrics, startDaemon } from '../daemon/daemon-process.ts';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace } from '../support/workspace.ts';

/* One poisoned resource, one failing organization, one stuck class of requests: none of them stops anything else. */

const ANA = { email: 'ana@acme.example', role: 'admin' as const };
const two = () =>
  createState({
    organizations: ['org_acme', 'org_other'].map((id) => emptyOrganization({ id, title: id, members: [ANA] })),
  });
const TEAMS = ['A', 'B', 'C', 'D', 'E', 'F'];
const MANIFEST = [
  'teams:',
  ...TEAMS.map((title) => `  ${title.toLowerCase()}: { title: ${title}, members: { ana@acme.example: owner } }`),
  'collections: { shelf: { title: Shelf } }',
  'spaces: { guides: { title: Guides, collection: shelf }, api: { title: API } }',
].join('\n');

const metricOf = (kind: string, action: string, status: string) =>
  `octavo_changes_total{organization="org_acme",kind="${kind}",action="${action}",status="${status}"}`;

test.each([400, 500])('a resource whose writes all return %i does not affect others', async (status) => {
  await using work = await openWorkspace();
  work.repository.commit('All', { 'all.yaml': MANIFEST });
  const poisoned: FaultRule[] = [
    { match: { operation: 'createCollection' }, fault: { kind: 'status', status, message: 'Poisoned' } },
  ];
  work.emulator.setFaults(poisoned);
  const daemon = await startDaemon(work);
  await work.untilTeams(...TEAMS);
  // The rest exists, dependent resources are skipped, and both are named.
  await daemon.untilMetric('octavo_changes_pending{organization="org_acme",status="failed"}', 1);
  expect(await daemon.metric(metricOf('collection', 'create', 'failed'))).toBeGreaterThan(0);
  expect(await daemon.metric(metricOf('team', 'create', 'applied'))).toBe(TEAMS.length);
  expect(await daemon.metric(metricOf('space', 'create', 'applied'))).toBe(1);
  const failing = 'octavo_change_failing{organization="org_acme",kind="collection",address="collection/shelf"}';
  expect(await daemon.metric(failing)).toBe(1);
  expect(await daemon.metric('octavo_organization_failing{organization="org_acme",reason="changes"}')).toBe(1);
  expect(daemon.run.logged('change failed')[0]).toMatchObject({ address: 'collection/shelf' });
  expect(daemon.run.logged('change skipped')[0]).toMatchObject({
    address: 'space/guides',
    reason: expect.stringContaining('collection/shelf'),
  });
  // A commit is followed all the same, and the resource is applied as soon as possible.
  work.repository.commit('More', { 'more.yaml': 'teams: { g: { title: G } }' });
  await work.untilTeams(...TEAMS, 'G');
  work.emulator.setFaults([]);
  await daemon.pass();
  expect((work.emulator.state().collections ?? []).map(({ title }) => title)).toEqual(['Shelf']);
  await daemon.untilMetric('octavo_changes_pending{organization="org_acme",status="failed"}', 0);
  expect(await daemon.metric(failing)).toBe(null);
});

test.each([
  ['the same token', {}],
  ['a separate token', { token: 'of-org_other' }],
])('an organization that fails does not affect another one with %s', async (_, other) => {
  const tokens = { 'of-org_other': { user: ANA.email, permission: 'admin' } } as const;
  await using work = await openWorkspace({ seed: two(), tokens });
  work.repository.commit('All', { 'all.yaml': MANIFEST });
  work.emulator.setFaults([{ match: { path: '/orgs/org_other' }, fault: { kind: 'status', status: 403 } }]);
  const source = { git: { url: work.repository.directory, pollInterval: '100ms' } };
  const daemon = await startDaemon(work, { others: [{ id: 'org_other', source, ...other }] });
  await work.untilTeams(...TEAMS);
  await eventually('the other to fail', async () => {
    const failed = await daemon.metric('octavo_reconcile_passes_total{organization="org_other",outcome="failed"}');
    return failed !== null && failed > 0;
  });
  await daemon.untilMetric('octavo_reconcile_passes_total{organization="org_acme",outcome="done"}', 1);
  expect(await daemon.metric('octavo_reconcile_passes_total{organization="org_acme",outcome="failed"}')).toBe(null);
  expect(daemon.run.logged('pass failed')[0]).toMatchObject({ organization: 'org_other' });
  expect(await daemon.metric('octavo_organization_failing{organization="org_other",reason="unauthorized"}')).toBe(1);
});

test('an operation that is always rate limited does not delay others', async () => {
  await using work = await openWorkspace();
  work.repository.commit('All', { 'all.yaml': MANIFEST });
  work.emulator.setFaults([{ match: { operation: 'createCollection' }, fault: { kind: '429', retryAfter: 2 } }]);
  const daemon = await startDaemon(work);
  await work.untilTeams(...TEAMS);
  await eventually('the space beside it', () =>
    (work.emulator.state().spaces ?? []).some(({ title }) => title === 'API'),
  );
  await eventually('the metrics to name the class', async () => {
    const text = await readMetrics(daemon.address);
    return /^octavo_rate_limited_total\{class="[a-z]+"\} [1-9]/m.test(text);
  });
  expect(work.emulator.state().collections ?? []).toEqual([]);
  work.emulator.setFaults([]);
  await eventually('the rest', () => (work.emulator.state().spaces ?? []).length === 2, 60);
});
