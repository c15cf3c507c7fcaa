/** Issue clusters of a daemon: its schedule, a single round, and what it needs from platform and source. */
import { expect, test } from 'vitest';
import { withCluster } from '../support/cluster-tickets.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { readMetrics, startDaemon, teams } from './daemon-process.ts';

/** Every second, so that runs happen soon. */
const ALWAYS = '* * * * * *';

async function open(features = {}): Promise<Workspace> {
  const work = await openWorkspace({ features, processing: { openapi: 0, translation: 0, conversations: 0 } });
  work.repository.commit('One', { 'teams.yaml': teams('A') });
  return work;
}

const withClusters = (clusters: object) => ({ organization: { clusters: { enabled: true, ...clusters } } });
const statuses = (work: Workspace) => (work.emulator.state().changeRequests ?? []).map(({ status }) => status);

test('opens one change request on its schedule, and reports it in metrics and log', async () => {
  await using work = await open();
  const { cluster, space } = await withCluster(work);
  const settings = withClusters({ schedule: ALWAYS, defaultSpace: space });
  const daemon = await startDaemon(work, settings);
  const line = await daemon.run.waitForLog('change request opened');
  expect(line).toMatchObject({ organization: 'org_acme', cluster, space });
  const own = '{organization="org_acme"}';
  await daemon.untilMetric(`octavo_clusters_open_change_requests${own}`, 1);
  expect(await daemon.metric(`octavo_clusters_opened_total${own}`)).toBe(1);
  expect(await daemon.metric(`octavo_clusters_supported${own}`)).toBe(1);
  // The next run, a second later, opens no other one.
  await daemon.untilMetric('octavo_clusters_last_run_skipped{organization="org_acme",reason="exists"}', 1);
  expect(await readMetrics(daemon.address)).not.toContain('Invoice');
  // A person asks the daemon, which is the only one to send requests.
  const config = work.configure(settings);
  const asked = await work.inside(['clusters', 'open', cluster, '--config', config]);
  expect(asked.stdout).toContain('already has a change request (open)');
  const { id } = work.emulator.state().changeRequests?.[0] ?? {};
  work.emulator.writeContent(space, { pages: [{ title: 'Invoice export' }] }, { changeRequest: id });
  const merge = `${work.emulator.url}/v1/spaces/${space}/change-requests/${id}/merge`;
  await fetch(merge, { method: 'POST', headers: { Authorization: `Bearer ${work.emulator.token}` } });
  await daemon.run.waitForLog('change request merged');
  await daemon.untilMetric(`octavo_clusters_merged_total${own}`, 1);
  expect(statuses(work)).toEqual(['merged']);
  await daemon.run.stop();
  // After a kill or a stop, it continues from its state.
  const again = await startDaemon(work, settings);
  await again.untilMetric('octavo_clusters_last_run_skipped{organization="org_acme",reason="merged"}', 1);
  expect(statuses(work)).toEqual(['merged']);
});

test('run --once processes clusters once, and a dry run only reports what it would open', async () => {
  await using work = await open();
  const { space } = await withCluster(work);
  const config = work.configure(withClusters({ defaultSpace: space }));
  const writes = work.writes();
  const dry = await work.inside(['run', '--once', '--dry-run', '--config', config]);
  expect(dry.code).toBe(0);
  expect(dry.stderr).toMatch(/Docs gap: .*Invoice export.*would be opened/);
  expect(work.writes()).toBe(writes);
  expect((await work.inside(['run', '--once', '--config', config])).code).toBe(0);
  expect(statuses(work)).toEqual(['open']);
  expect((await work.inside(['run', '--once', '--config', config])).code).toBe(0);
  expect(statuses(work)).toEqual(['open']);
});

test('refuses an unknown space at startup with its position, and accepts a declared key', async () => {
  await using work = await open();
  await withCluster(work);
  const config = work.configure(withClusters({ defaultSpace: 'guidez' }));
  const refused = await work.inside(['run', '--config', config]);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toMatch(
    /config\.yaml:1:\d+: organizations\[0\]\.clusters\.defaultSpace: "guidez" is neither the key of a space’s manifest nor the id of a space/,
  );
  expect(work.teams()).toEqual([]);
  // A declared space is known even though this very pass creates it.
  work.repository.commit('Two', { 'spaces.yaml': 'spaces: { guidez: { title: Guides } }\n' });
  expect((await work.inside(['run', '--once', '--config', config])).code).toBe(0);
  expect(statuses(work)).toEqual(['open']);
});

test('logs one line on a platform without issue clusters, and keeps reconciling', async () => {
  await using work = await open({ conversations: false });
  const daemon = await startDaemon(work, withClusters({ schedule: ALWAYS }));
  const line = await daemon.run.waitForLog('issue clusters are not supported');
  expect(line).toMatchObject({ level: 40, reason: expect.stringContaining('this platform has no issue clusters') });
  await work.untilTeams('A');
  await daemon.untilMetric('octavo_clusters_supported{organization="org_acme"}', 0);
  await daemon.pass();
  expect(daemon.run.logged('issue clusters are not supported')).toHaveLength(1);
  expect(work.emulator.requests.byOperation.listConversationClusters ?? 0).toBeLessThanOrEqual(1);
});

test('waits for spaces that an unreadable source may declare, and opens other change requests', async () => {
  await using work = await open();
  const { space } = await withCluster(work);
  const source = { git: { url: `${work.repository.directory}-gone`, pollInterval: '1h' } };
  const routed = (label: string) => ({
    organization: {
      source,
      clusters: { enabled: true, schedule: ALWAYS, routes: [{ label, space: 'guides' }], defaultSpace: space },
    },
  });
  const waiting = await startDaemon(work, routed('invoice'));
  const line = await waiting.run.waitForLog('cluster skipped');
  expect(line.why).toContain('route 1 names guides, which is unknown because the manifests cannot be read');
  await waiting.run.stop();
  expect(statuses(work)).toEqual([]);
  const daemon = await startDaemon(work, routed('something else'));
  await daemon.run.waitForLog('change request opened');
  expect(statuses(work)).toEqual(['open']);
});
