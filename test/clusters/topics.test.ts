import { describe, expect, test } from 'vitest';
import { readMarker } from '../../src/clusters/change-request.ts';
import { type FindingAnswer, findingToIssue, type TopicAnswer, topicToCluster } from '../../src/clusters/sources.ts';
import type { PlatformVersion } from '../../src/emulator/emulator.ts';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { openDaemon } from './run-daemon.ts';
import { ClusterPlatform } from './run-platform.ts';
import { DAY, NOW, settingsOf } from './samples.ts';

/* Platforms without issue clusters: the topics of a site are used instead. */

const HOUR = DAY / 24;
const settings = (over: object = {}) => settingsOf({ enabled: true, defaultSpace: 'guides', ...over });

function platformOf(version: PlatformVersion): ClusterPlatform {
  const platform = new ClusterPlatform();
  platform.be(version);
  platform.requests.length = 0;
  return platform;
}

/** The cluster in the marker of each change request, its space, and its status. */
const statuses = (platform: ClusterPlatform) =>
  platform.changeRequests.map(
    ({ description, siteTopic, space, status }) =>
      `${readMarker(description)?.cluster ?? siteTopic?.topic} ${space} ${status}`,
  );

describe('a topic as a cluster', () => {
  const topic: TopicAnswer = { id: 't', label: 'PDF', records: 6, usageSettings: { changeRequests: true } };
  const finding = (over: Partial<FindingAnswer>): FindingAnswer => ({ id: 'f', topic: 't', ...over });

  test('counts open findings as issues and records as conversations', () => {
    const at = (days: number) => new Date(NOW - days * DAY).toISOString();
    const findings = [
      finding({ severity: 'low', createdAt: at(1) }),
      finding({ severity: 'medium', createdAt: at(2) }),
      finding({ createdAt: at(8) }),
      finding({ createdAt: at(1000) }),
      finding({ createdAt: 'never' }),
    ];
    const cluster = topicToCluster({ ...topic, createdAt: at(9), updatedAt: at(1), icon: 'gear' }, findings, NOW);
    expect(cluster).toMatchObject({
      id: 't',
      label: 'PDF',
      impact: 'medium',
      muted: false,
      issues: 5,
      conversations: 6,
    });
    expect(cluster.weeklyPulse).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
    expect(cluster).toMatchObject({ createdAt: NOW - 9 * DAY, updatedAt: NOW - DAY, icon: 'gear', sources: {} });
  });

  test.each([
    ['severity', [{ severity: 'low' }, { severity: 'high' }, { severity: 'medium' }], 'high'],
    ['priority', [{ priority: 'low' }, { priority: 'medium' }], 'medium'],
    ['an unknown value', [{ severity: 'dire' }], 'dire'],
    ['a known value before an unknown one', [{ severity: 'dire' }, { severity: 'low' }], 'low'],
    ['none', [{}], null],
    ['nothing without findings', [], null],
  ] as const)('has the highest impact of its findings by %s', (_, findings, impact) => {
    expect(topicToCluster(topic, findings.map(finding), NOW).impact).toBe(impact);
  });

  test('uses its own count without a list of findings, and zero without a count', () => {
    expect(topicToCluster({ ...topic, findings: { open: 4 } }, null, NOW).issues).toBe(4);
    expect(topicToCluster({ id: 't' }, null, NOW)).toMatchObject({
      label: '',
      issues: 0,
      conversations: 0,
      muted: false,
    });
    expect(topicToCluster({ ...topic, usageSettings: { changeRequests: false } }, [], NOW).muted).toBe(true);
  });

  test('converts a finding to an issue', () => {
    const description = { object: 'document', data: {}, nodes: [] };
    expect(findingToIssue({ id: 'f', title: 'Empty PDF', priority: 'high', description })).toEqual({
      ...{ id: 'f', title: 'Empty PDF', impact: 'high', createdAt: null, details: description, conversation: null },
    });
  });
});

describe.each(['0.167', '0.181', '0.201'] as const)('a platform of %s', (version) => {
  test('opens one change request for each passing topic, and none for muted ones', async () => {
    const platform = platformOf(version);
    platform.addCluster({ id: 't_sso', label: 'Login with SSO fails' });
    platform.addCluster({ id: 't_few', issues: 2 });
    platform.addCluster({ id: 't_low', impact: 'low' });
    platform.addCluster({ id: 't_muted', muted: true });
    const daemon = openDaemon(platform, settings());
    expect(await daemon.run()).toMatchObject({ outcome: 'done', read: 4, passing: 1, opened: 1, open: 1 });
    expect(statuses(platform)).toEqual(['t_sso guides open']);
    expect(platform.changeRequests[0]?.subject).toBe('Docs gap: Login with SSO fails');
    expect(JSON.stringify(platform.changeRequests[0]?.description)).toContain('Login with SSO fails (high');
    platform.time += HOUR;
    expect(await daemon.run()).toMatchObject({ outcome: 'done', opened: 0, open: 1 });
    // Another daemon, without any state.
    expect(await openDaemon(platform, settings(), { name: 'two' }).run()).toMatchObject({ opened: 0 });
    expect(statuses(platform)).toEqual(['t_sso guides open']);
  });

  test('respects manually archived change requests, and mutes merged topics if configured', async () => {
    const platform = platformOf(version);
    platform.addCluster({ id: 't_no' });
    platform.addCluster({ id: 't_yes' });
    const daemon = openDaemon(platform, settings({ afterMerge: { mute: true } }));
    await daemon.run();
    const [no, yes] = ['t_no', 't_yes'].map((id) =>
      platform.changeRequests.find(({ description }) => readMarker(description)?.cluster === id),
    );
    platform.call('PATCH', `/spaces/guides/change-requests/${no?.id}`, { status: 'archived' });
    platform.merge(yes?.id);
    platform.time += HOUR;
    await daemon.run();
    expect(daemon.reported).toEqual(expect.arrayContaining(['archived t_no', 'merged t_yes', 'muted t_yes']));
    const { usageSettings } = platform.call('GET', `/orgs/org_acme/sites/${platform.site}/topics/t_yes`);
    expect(usageSettings).toEqual({ changeRequests: false });
    platform.time += DAY;
    await daemon.run();
    expect(platform.changeRequests).toHaveLength(2);
  });

  test('lists, mutes, unmutes and opens topics on request', async () => {
    const platform = platformOf(version);
    platform.addCluster({ id: 't_1', label: 'PDF is empty' });
    const { ask } = openDaemon(platform, settings());
    const mute = (muted: boolean) => ask({ subcommand: 'mute', cluster: 't_1', muted, dryRun: false });
    const open = () => ask({ subcommand: 'open', cluster: 't_1', space: null, dryRun: false });
    expect(await mute(true)).toMatchObject({ label: 'PDF is empty', muted: true, changed: true });
    await expect(open()).rejects.toThrow('t_1 is muted');
    expect(await mute(true)).toMatchObject({ muted: true, changed: false });
    expect(await mute(false)).toMatchObject({ muted: false, changed: true });
    expect(await ask({ subcommand: 'list' })).toMatchObject({
      clusters: [{ id: 't_1', impact: 'high', issues: 3, conversations: 3, wouldOpen: true }],
    });
    expect(await open()).toMatchObject({ outcome: 'opened', space: { id: 'guides' } });
    expect(await open()).toMatchObject({ outcome: 'exists', status: 'open' });
    await expect(ask({ subcommand: 'mute', cluster: 't_9', muted: true, dryRun: false })).rejects.toThrow(
      'issue cluster "t_9" not found',
    );
    expect(statuses(platform)).toEqual(['t_1 guides open']);
  });
});

test('topics that the platform drafts itself get no second change request, take no extra requests and delay no others', async () => {
  const platform = platformOf('0.181');
  platform.call('POST', `/orgs/org_acme/sites/${platform.site}/site-spaces`, { spaceId: 'api' });
  const topics = Array.from({ length: 21 }, (_, index) => `t_${index}`);
  for (const id of topics) {
    platform.addCluster({ id, issues: 4 });
    const finding = platform.store.conversationIssues.one('cluster', id)?.id;
    platform.call('POST', `/orgs/org_acme/sites/${platform.site}/findings/${finding}/change-requests`);
  }
  platform.addCluster({ id: 't_last' });
  const limits = { maxPerRun: 100, maxOpen: 100, maxOpenPerSpace: 100, maxPerDay: 100 };
  const daemon = openDaemon(platform, settings({ limits }));
  expect(await daemon.run()).toMatchObject({ passing: 22, opened: 1, skipped: { exists: 21 } });
  expect(platform.counts()).toMatchObject({ listOrganizationChangeRequests: 3, createChangeRequest: 1 });
  const open = { subcommand: 'open', cluster: 't_0', space: null, dryRun: false } as const;
  expect(await daemon.ask(open)).toMatchObject({ outcome: 'exists', status: 'open' });
  expect(statuses(platform)).toEqual([...topics.map((id) => `${id} api open`), 't_last guides open']);
});

test('reopens a topic by its findings before the merge, even if the merge resolved them', async () => {
  const platform = platformOf('0.181');
  platform.addCluster({ id: 't_1', issues: 5 });
  const daemon = openDaemon(platform, settings({ afterMerge: { reopenGrowth: 2 } }));
  await daemon.run();
  const [request] = platform.changeRequests;
  for (const { id } of platform.call('GET', `/orgs/org_acme/sites/${platform.site}/findings`).items) {
    platform.call('PATCH', `/orgs/org_acme/sites/${platform.site}/findings/${id}`, { status: 'done' });
  }
  platform.merge(request?.id);
  platform.time += HOUR;
  await daemon.run();
  platform.addIssues({ id: 't_1' }, 9);
  platform.time += HOUR;
  expect(await daemon.run()).toMatchObject({ passing: 1, opened: 0, skipped: { merged: 1 } });
  platform.addIssues({ id: 't_1' }, 1);
  platform.time += HOUR;
  expect(await daemon.run()).toMatchObject({ opened: 1 });
});

describe('requests', () => {
  test('makes one probe, one list request and five requests for each of 20 passing topics of 1,000', async () => {
    const platform = platformOf('0.167');
    for (let index = 0; index < 1000; index += 1) {
      platform.addCluster({ id: `t_${index}`, issues: index % 50 === 0 ? 3 : 1 });
    }
    const daemon = openDaemon(
      platform,
      settings({ limits: { maxPerRun: 100, maxOpen: 100, maxOpenPerSpace: 100, maxPerDay: 100 } }),
    );
    expect(await daemon.run()).toMatchObject({ read: 1000, passing: 20, opened: 20 });
    expect(platform.counts()).toEqual({
      // There are no clusters, and no findings yet: one request each.
      listConversationClusters: 1,
      listSiteFindings: 1,
      listSiteTopics: 1,
      // Two pages of 1000, and the details of each of the 20.
      listSiteIssues: 2 + 20,
      listSpaces: 1,
      // Before and after the drafts, and the platform's own text for each of the 20.
      listOrganizationChangeRequests: 2 + 20,
      searchOrganization: 20,
      createChangeRequest: 20,
      updateChangeRequest: 20,
    });
    // Nothing new.
    platform.time += HOUR;
    expect(await daemon.run()).toMatchObject({ read: 1000, opened: 0 });
    expect(platform.counts()).toEqual({ listSiteTopics: 1, listSiteIssues: 2, listOrganizationChangeRequests: 1 });
  });

  test('makes one request per run for a site without topics, after the probe', async () => {
    const platform = platformOf('0.181');
    const daemon = openDaemon(platform, settings());
    expect(await daemon.run()).toMatchObject({ outcome: 'done', read: 0, requests: 2 });
    expect(await daemon.run()).toMatchObject({ outcome: 'done', read: 0, requests: 1 });
  });
});

describe('detection of clusters and topics', () => {
  test.each([
    ['no site is named', null, DAY, /from 0\.167 on, a site has topics instead: name it in conversations\.site/],
    [
      'there is no such site',
      'site_none',
      HOUR,
      /neither issue clusters nor topics of the site that conversations\.site names/,
    ],
  ] as const)('%s: is disabled, reported once, and checked again later', async (_, site, later, message) => {
    const platform = platformOf('0.167');
    const ends: unknown[] = [];
    const events = {
      onRunEnd: ({ outcome, error }: { outcome: string; error: Error | null }) => ends.push([outcome, error?.message]),
    };
    const daemon = openDaemon(platform, settings(), { site, events });
    await daemon.run();
    platform.time += later / 2;
    await daemon.run();
    expect(ends).toEqual([['unsupported', expect.stringMatching(message)]]);
    await expect(daemon.ask({ subcommand: 'list' })).rejects.toThrow(message);
    // The platform has clusters again.
    platform.features = getFeatures('0.146');
    platform.site = undefined;
    platform.addCluster({ id: 'c_1' });
    platform.time += later;
    expect(await daemon.run()).toMatchObject({ outcome: 'done', opened: 1 });
  });

  test('follows an upgrade and a downgrade of the platform while the daemon runs', async () => {
    const platform = platformOf('0.181');
    const { site } = platform;
    platform.features = getFeatures('0.146');
    platform.site = undefined;
    platform.addCluster({ id: 'c_1' });
    const daemon = openDaemon(platform, settings(), { site: site ?? '' });
    expect(await daemon.run()).toMatchObject({ opened: 1 });
    platform.features = getFeatures('0.181');
    platform.site = site;
    platform.addCluster({ id: 't_1' });
    platform.time += HOUR;
    expect(await daemon.run()).toMatchObject({ outcome: 'done', opened: 1, open: 2 });
    platform.features = getFeatures('0.146');
    platform.site = undefined;
    platform.addCluster({ id: 'c_2' });
    platform.time += HOUR;
    expect(await daemon.run()).toMatchObject({ outcome: 'done', opened: 1, open: 3 });
    expect(platform.changeRequests).toHaveLength(3);
  });

  test('reads all clusters after a switch from topics', async () => {
    const platform = platformOf('0.181');
    platform.addCluster({ id: 't_1', updated: 0, issues: 1 });
    const daemon = openDaemon(platform, settings());
    expect(await daemon.run()).toMatchObject({ read: 1, opened: 0 });
    platform.features = getFeatures('0.146');
    platform.site = undefined;
    for (let index = 0; index < 1000; index += 1) {
      platform.addCluster({ id: `c_${index}`, issues: 0 });
    }
    platform.addCluster({ id: 'c_last', age: 2 * DAY });
    platform.time += HOUR;
    expect(await daemon.run()).toMatchObject({ read: 1001, opened: 1 });
  });

  test('topics keep passing when an upgrade turns issues into findings', async () => {
    const platform = platformOf('0.167');
    platform.addCluster({ id: 't_1' });
    const daemon = openDaemon(platform, settings());
    expect(await daemon.run()).toMatchObject({ passing: 1, opened: 1 });
    platform.features = getFeatures('0.181');
    platform.addCluster({ id: 't_2' });
    platform.time += HOUR;
    expect(await daemon.run()).toMatchObject({ passing: 2, opened: 1, open: 2 });
  });

  test('answers the second request after an upgrade of the platform', async () => {
    const platform = platformOf('0.181');
    const { site } = platform;
    platform.features = getFeatures('0.146');
    platform.site = undefined;
    platform.addCluster({ id: 'c_1' });
    const { ask } = openDaemon(platform, settings(), { site: site ?? '' });
    const list = () => ask({ subcommand: 'list' });
    expect(await list()).toMatchObject({ clusters: [{ id: 'c_1' }] });
    platform.features = getFeatures('0.181');
    platform.site = site;
    platform.addCluster({ id: 't_1' });
    await expect(list()).rejects.toThrow('no issue clusters');
    expect(await list()).toMatchObject({ clusters: [{ id: 't_1' }] });
  });

  test('fails the run and records no result if the platform cannot be reached', async () => {
    const platform = platformOf('0.181');
    platform.addCluster({ id: 't_1' });
    let isDown = true;
    platform.step = (_, step) => {
      if (isDown && step === 'arrives') {
        throw new Error('down');
      }
    };
    const daemon = openDaemon(platform, settings());
    expect(await daemon.run()).toMatchObject({ outcome: 'failed', opened: 0 });
    isDown = false;
    expect(await daemon.run()).toMatchObject({ outcome: 'done', opened: 1 });
  });
});
