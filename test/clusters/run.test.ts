import { describe, expect, test } from 'vitest';
import { readMarker } from '../../src/clusters/change-request.ts';
import { readStoredClusters } from '../../src/clusters/store.ts';
import { RejectedError, TransientError } from '../../src/core/errors.ts';
import { ALL_FEATURES } from '../../src/emulator/model/features.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { openDaemon } from './run-daemon.ts';
import { ClusterPlatform, platformWith, type Seen } from './run-platform.ts';
import { DAY, NOW, settingsOf } from './samples.ts';

const HOUR = DAY / 24;
const settings = (over: object = {}) => settingsOf({ enabled: true, defaultSpace: 'guides', ...over });
const all = { maxPerRun: 100, maxOpen: 100, maxOpenPerSpace: 100, maxPerDay: 100 };

describe('a run', () => {
  test('opens one change request for a passing cluster, and reports it', async () => {
    const platform = platformWith({ id: 'c_sso', label: 'Login with SSO fails' }, { id: 'c_few', issues: 2 });
    const waited: number[] = [];
    platform.waits = (_, milliseconds) => void waited.push(milliseconds);
    const daemon = openDaemon(platform, settings());
    const end = await daemon.run();
    expect(end.error).toBeNull();
    // As coarse as the platform's timestamps may be: everything with an earlier timestamp than the draft is in the list
    // after it.
    expect(waited).toEqual([2000]);
    expect(end).toMatchObject({ outcome: 'done', read: 2, passing: 1, opened: 1, open: 1 });
    expect(platform.statuses()).toEqual(['c_sso guides open']);
    expect(platform.changeRequests[0]?.subject).toBe('Docs gap: Login with SSO fails');
    expect(readMarker(platform.changeRequests[0]?.description)).toMatchObject({ cluster: 'c_sso', superseded: false });
    expect(daemon.reported).toEqual(['opened c_sso']);
    await daemon.run();
    expect(platform.statuses()).toEqual(['c_sso guides open']);
  });

  test('reads each page of 5,000 clusters once, and makes four requests for each change request', async () => {
    const platform = new ClusterPlatform();
    for (let index = 0; index < 5000; index += 1) {
      const isGood = index % 250 === 0;
      platform.addCluster({ id: `c_${index}`, issues: isGood ? 3 : 1, age: DAY + index * 60_000 });
    }
    const daemon = openDaemon(platform, settings({ limits: all }));
    expect(await daemon.run()).toMatchObject({ read: 5000, passing: 20, opened: 20, requests: 96 });
    expect(platform.counts()).toEqual({
      // 5 pages of 1000.
      listConversationClusters: 5,
      // For the whole run: the spaces, and the change requests of each status before and after the drafts.
      listSpaces: 1,
      listOrganizationChangeRequests: 10,
      // For each of the 20: its issues, related pages, a draft, and opening it.
      listConversationIssues: 20,
      searchOrganization: 20,
      createChangeRequest: 20,
      updateChangeRequest: 20,
    });
    // Nothing new: one page, and the tracked change requests.
    platform.time += HOUR;
    expect(await daemon.run()).toMatchObject({ read: 1000, opened: 0, requests: 2 });
    expect(platform.counts()).toEqual({ listConversationClusters: 1, listOrganizationChangeRequests: 1 });
    // One more qualifies: a page, the lists, and its four.
    platform.addIssues({ id: 'c_4999' }, 2);
    expect(await daemon.run()).toMatchObject({ opened: 1, requests: 16 });
    // All of them were archived manually: nothing is new, and nothing is tracked.
    for (const { id, space } of platform.changeRequests) {
      platform.call('PATCH', `/spaces/${space}/change-requests/${id}`, { status: 'archived' });
    }
    await daemon.run();
    platform.counts();
    platform.time += HOUR;
    expect(await daemon.run()).toMatchObject({ opened: 0, requests: 1 });
    expect(platform.counts()).toEqual({ listConversationClusters: 1 });
  });

  test('a dry run writes nothing and reports what it would open in which space', async () => {
    const platform = new ClusterPlatform();
    platform.addPage('api', 'Sign in with SSO');
    platform.addCluster({ id: 'c_sso', label: 'Sign in with SSO fails' });
    platform.addCluster({ id: 'c_x', label: 'Invoices' });
    const store = openMemoryStore();
    const note = store.note('clusters');
    const daemon = openDaemon(platform, settings(), { dryRun: true, note });
    expect(await daemon.run()).toMatchObject({ outcome: 'done', opened: 2, dryRun: true });
    expect(daemon.reported).toEqual(['would open c_sso in api', 'would open c_x in guides']);
    expect(platform.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(platform.changeRequests).toEqual([]);
    expect(await note.read()).toBeNull();
  });

  test('opens the most severe clusters first, and stays within every limit', async () => {
    const platform = new ClusterPlatform();
    for (const [index, id] of ['c_1', 'c_2', 'c_3', 'c_4', 'c_5', 'c_6'].entries()) {
      platform.addCluster({ id, issues: 3 + index });
    }
    const limits = { maxPerRun: 2, maxOpen: 4, maxOpenPerSpace: 10, maxPerDay: 3 };
    const daemon = openDaemon(platform, settings({ limits }));
    expect(await daemon.run()).toMatchObject({ opened: 2, skipped: { 'limit-run': 4 } });
    expect(daemon.reported.filter((line) => line.startsWith('opened'))).toEqual(['opened c_6', 'opened c_5']);
    expect(platform.statuses()).toEqual(['c_6 guides open', 'c_5 guides open']);
    expect(await daemon.run()).toMatchObject({ opened: 1, skipped: { exists: 2, 'limit-day': 3 } });
    platform.time += DAY + HOUR;
    expect(await daemon.run()).toMatchObject({ opened: 1, skipped: { 'limit-open': 2 } });
    const { id } = platform.changeRequests[0] ?? {};
    platform.merge(id);
    expect(await daemon.run()).toMatchObject({ opened: 1, skipped: { 'limit-open': 1, merged: 1 } });
    expect(platform.statuses().filter((each) => each.endsWith('open'))).toHaveLength(4);
  });

  test('skips locked and deleted spaces, and opens nothing for a cluster without a space', async () => {
    const platform = new ClusterPlatform();
    platform.addSpace('locked', { editMode: 'locked' });
    platform.addCluster({ id: 'c_1', source: 'chat' });
    platform.addCluster({ id: 'c_2' });
    const routes = ['locked', 'gone', 'api'].map((space) => ({ source: 'chat', space }));
    const config = settings({ routes, defaultSpace: 'locked', search: { enabled: false } });
    const names = { recorded: async () => new Map([['gone', 'sp_gone']]) };
    const whys: string[] = [];
    const events = { onOpened: ({ why }: { why: string }) => whys.push(why) };
    const daemon = openDaemon(platform, config, { names, events });
    expect(await daemon.run()).toMatchObject({ opened: 1, skipped: { unrouted: 1 } });
    expect(platform.statuses()).toEqual(['c_1 api open']);
    expect(whys).toEqual(['route 3; route 1 names locked, which is locked; route 2 names gone, which is deleted']);
    // No requests until the cluster or the date has changed.
    platform.counts();
    await daemon.run();
    expect(platform.counts()).toEqual({ listConversationClusters: 1, listOrganizationChangeRequests: 1 });
  });
});

test('makes no request for a full space, and few with a token without permission', async () => {
  const platform = new ClusterPlatform();
  for (let index = 0; index < 60; index += 1) {
    platform.addCluster({ id: `c_${index}` });
  }
  const full = openDaemon(platform, settings({ search: { enabled: false }, limits: { ...all, maxOpenPerSpace: 2 } }));
  expect(await full.run()).toMatchObject({ opened: 2, skipped: { 'limit-space': 58 } });
  expect(platform.counts()).toMatchObject({ listConversationIssues: 2, searchOrganization: 2 });
  platform.addSpace('locked', { editMode: 'locked' });
  platform.store.spaces.remove('api');
  const space = platform.store.spaces.get('guides');
  // Locked only after it was checked: every creation is rejected.
  platform.step = ({ operation }, step) => {
    if (operation === 'listConversationIssues' && step === 'arrives' && space !== undefined) {
      platform.store.spaces.put({ ...space, editMode: 'locked' });
    }
  };
  const other = openDaemon(platform, settings({ limits: all }), { name: 'other' });
  expect(await other.run()).toMatchObject({ opened: 0, skipped: { exists: 2, failed: 20, 'limit-run': 38 } });
  expect(platform.counts()).toMatchObject({ listConversationIssues: 20, createChangeRequest: 20 });
});

test('evaluates all clusters again after the settings changed', async () => {
  const platform = platformWith({ id: 'c_1' });
  const note = openMemoryStore().note('clusters');
  const nowhere = openDaemon(platform, settings({ defaultSpace: null }), { note });
  expect(await nowhere.run()).toMatchObject({ opened: 0, skipped: { unrouted: 1 } });
  expect(await openDaemon(platform, settings(), { note }).run()).toMatchObject({ opened: 1 });
});

describe('a creation with a lost response', () => {
  const losing = (platform: ClusterPlatform, when: 'arrives' | 'leaves') => {
    let isLost = false;
    platform.step = ({ operation }: Seen, step) => {
      if (operation === 'createChangeRequest' && step === when && !isLost) {
        isLost = true;
        throw new TransientError('no answer', true);
      }
    };
  };

  test('is found again in the same run, and never repeated', async () => {
    const platform = platformWith({ id: 'c_1' });
    losing(platform, 'leaves');
    const daemon = openDaemon(platform, settings());
    expect(await daemon.run()).toMatchObject({ outcome: 'done', opened: 1 });
    expect(platform.statuses()).toEqual(['c_1 guides open']);
    expect(platform.counts().createChangeRequest).toBe(1);
  });

  test('that did not take effect is repeated only when that is certain', async () => {
    const platform = platformWith({ id: 'c_1' });
    losing(platform, 'arrives');
    const daemon = openDaemon(platform, settings());
    expect(await daemon.run()).toMatchObject({ opened: 0 });
    platform.time += 5 * 60_000;
    expect(await daemon.run()).toMatchObject({ opened: 0, skipped: { exists: 1 } });
    expect(platform.changeRequests).toEqual([]);
    platform.time += 6 * 60_000;
    expect(await daemon.run()).toMatchObject({ opened: 1 });
    expect(platform.statuses()).toEqual(['c_1 guides open']);
  });
});

test('opens nothing from an outdated list, and decides in the next run', async () => {
  const platform = platformWith({ id: 'c_1' });
  let lists = 0;
  platform.step = ({ operation }, step) => {
    if (operation === 'listOrganizationChangeRequests' && step === 'leaves') {
      lists += 1;
      platform.time += lists === 6 ? 11 * 60_000 : 0;
    }
  };
  const daemon = openDaemon(platform, settings());
  expect(await daemon.run()).toMatchObject({ outcome: 'done', opened: 0 });
  expect(platform.statuses()).toEqual(['c_1 guides draft']);
  platform.counts();
  expect(await daemon.run()).toMatchObject({ opened: 1 });
  expect(platform.statuses()).toEqual(['c_1 guides open']);
  expect(platform.counts().createChangeRequest).toBeUndefined();
});

test('supersedes a draft whose cluster was muted in the meantime', async () => {
  const platform = platformWith({ id: 'c_1' });
  const note = openMemoryStore().note('clusters');
  platform.fail('updateChangeRequest', 'arrives');
  await openDaemon(platform, settings(), { note }).run();
  platform.step = () => undefined;
  platform.call('PATCH', '/orgs/org_acme/conversations-clusters/c_1', { muted: true });
  const daemon = openDaemon(platform, settings(), { note });
  expect(await daemon.run()).toMatchObject({ opened: 0, superseded: 1 });
  expect(daemon.reported).toContain('yielded c_1: the cluster was muted');
  platform.call('PATCH', '/orgs/org_acme/conversations-clusters/c_1', { muted: false });
  expect(await daemon.run()).toMatchObject({ opened: 1 });
  expect(platform.statuses()).toEqual(['c_1 guides archived', 'c_1 guides open']);
});

test('unmutes a cluster when the time for which a person muted it has ended, and opens its change request', async () => {
  const platform = platformWith({ id: 'c_1' }, { id: 'c_2' });
  const note = openMemoryStore().note('clusters');
  const daemon = openDaemon(platform, settings(), { note });
  const mute = { subcommand: 'mute', muted: true, reason: 'a rewrite is planned', dryRun: false } as const;
  await daemon.ask({ ...mute, cluster: 'c_1', until: platform.time + DAY });
  await daemon.ask({ ...mute, cluster: 'c_2' });
  const { mutes } = await readStoredClusters(note);
  expect(mutes.get('c_1')).toEqual({ reason: 'a rewrite is planned', until: platform.time + DAY });
  expect(await daemon.run()).toMatchObject({ opened: 0 });
  platform.time += DAY + HOUR;
  // Another daemon continues from what is stored.
  const next = openDaemon(platform, settings(), { note });
  expect(await next.run()).toMatchObject({ opened: 1 });
  expect(next.reported).toEqual(['unmuted c_1', 'opened c_1']);
  expect([...(await readStoredClusters(note)).mutes.keys()]).toEqual(['c_2']);
  await next.ask({ subcommand: 'mute', cluster: 'c_2', muted: false, dryRun: false });
  expect((await readStoredClusters(note)).mutes.size).toBe(0);
});

describe('other platform versions', () => {
  test('is not blocked by a person’s later draft if links and descriptions are not kept', async () => {
    const platform = new ClusterPlatform();
    platform.features = { ...ALL_FEATURES, changeRequestLinks: false };
    platform.addCluster({ id: 'c_1' });
    platform.addCluster({ id: 'c_2', impact: 'low' });
    platform.step = ({ operation }, step) => {
      if (operation === 'createChangeRequest' && step === 'done') {
        const made = platform.call('POST', '/spaces/api/change-requests', { subject: 'By hand' });
        const record = platform.store.changeRequests.get(made.id);
        // The platform's own pages link to created change requests.
        platform.store.changeRequests.put({ ...record, conversationsIssuesCluster: 'c_2' } as never);
      }
    };
    expect(await openDaemon(platform, settings()).run()).toMatchObject({ opened: 1 });
  });

  test('is not blocked by a draft of another cluster whose description is refused', async () => {
    const platform = new ClusterPlatform();
    platform.features = { ...ALL_FEATURES, changeRequestLinks: false };
    platform.addCluster({ id: 'c_1' });
    let refused = '';
    platform.step = ({ operation, path }, step) => {
      if (operation === 'updateChangeRequest' && step === 'arrives') {
        refused ||= path;
        if (path === refused) {
          throw new RejectedError('not this one', 403);
        }
      }
    };
    const daemon = openDaemon(platform, settings());
    expect(await daemon.run()).toMatchObject({ outcome: 'done', opened: 0 });
    platform.addCluster({ id: 'c_2' });
    expect(await daemon.run()).toMatchObject({ outcome: 'done', opened: 1 });
    expect(platform.changeRequests.map(({ status }) => status)).toEqual(['draft', 'open']);
  });

  test.each([
    ['accepts one status', {}, { listOrganizationChangeRequests: 10 }],
    // Once the list of one status and the list of all, which is empty at first; then the lists of both spaces.
    [
      'accepts no status and contains all change requests',
      { changeRequestStatus: false, changeRequestDrafts: true },
      { listOrganizationChangeRequests: 2, listSpaceChangeRequests: 10 + 10 },
    ],
    [
      'accepts no status and contains open ones only',
      { changeRequestStatus: false },
      { listOrganizationChangeRequests: 2, listSpaceChangeRequests: 10 + 10 },
    ],
  ])(
    'finds change requests that a person handled before it creates any, if the organization’s list %s',
    async (_, features, counts) => {
      const platform = new ClusterPlatform();
      platform.features = { ...ALL_FEATURES, ...features };
      platform.addCluster({ id: 'c_1' });
      const daemon = openDaemon(platform, settings());
      expect(await daemon.run()).toMatchObject({ opened: 1 });
      expect(platform.counts()).toMatchObject(counts);
      // Nothing new: a page of clusters, and the open change requests, whatever the version and the number of spaces.
      platform.time += HOUR;
      expect(await daemon.run()).toMatchObject({ requests: 2 });
      const { id } = platform.changeRequests[0] ?? {};
      platform.call('PATCH', `/spaces/guides/change-requests/${id}`, { status: 'archived' });
      // Another daemon does not know it: only the lists show that it was archived.
      const other = openDaemon(platform, settings(), { name: 'other' });
      const list = { subcommand: 'list' } as const;
      expect(await other.ask(list)).toMatchObject({
        clusters: [{ id: 'c_1', wouldOpen: false }],
      });
      expect(await openDaemon(platform, settings(), { name: 'dry', dryRun: true }).run()).toMatchObject({ opened: 0 });
      expect(await other.run()).toMatchObject({ opened: 0, skipped: { archived: 1 } });
      expect(platform.changeRequests).toHaveLength(1);
    },
  );
});

describe('two daemons', () => {
  test('running concurrently open one change request, and archive the later draft with a reason', async () => {
    const platform = platformWith({ id: 'c_1' });
    const daemons = ['one', 'two'].map((name) => openDaemon(platform, settings(), { name }));
    // Both have read the lists before either has created a draft.
    let arrived = 0;
    const gate = Promise.withResolvers<void>();
    platform.step = async ({ operation }, step) => {
      if (operation === 'createChangeRequest' && step === 'arrives') {
        arrived += 1;
        if (arrived === 2) {
          gate.resolve();
        }
        await gate.promise;
      }
    };
    await Promise.all(daemons.map((daemon) => daemon.run()));
    expect(platform.statuses()).toEqual(['c_1 guides open', 'c_1 guides archived']);
    const [open, gone] = platform.changeRequests;
    expect(gone?.subject).toBe('Given up: Docs gap: About c_1');
    expect(readMarker(gone?.description)).toMatchObject({ cluster: 'c_1', superseded: true });
    expect(JSON.stringify(gone?.description)).toContain(String(open?.id));
    expect(daemons.flatMap(({ reported }) => reported)).toContainEqual(expect.stringContaining('yielded c_1'));
  });
});

describe('an existing change request', () => {
  const opened = async (over: object = {}) => {
    const platform = platformWith({ id: 'c_1', issues: 4 });
    const daemon = openDaemon(platform, settings(over));
    await daemon.run();
    daemon.reported.length = 0;
    const { id } = platform.changeRequests[0] ?? {};
    const path = `/spaces/guides/change-requests/${id}`;
    return { platform, daemon, path };
  };

  test('that was manually archived blocks others until it is unarchived', async () => {
    const { platform, daemon, path } = await opened();
    platform.call('PATCH', path, { status: 'archived' });
    platform.addIssues({ id: 'c_1' }, 20);
    platform.time += DAY;
    expect(await daemon.run()).toMatchObject({ opened: 0, skipped: { archived: 1 } });
    await daemon.run();
    platform.call('PATCH', path, { status: 'open' });
    platform.time += DAY;
    await daemon.run();
    const reported = daemon.reported.filter((each) => !each.startsWith('skipped'));
    expect(reported).toEqual(['archived c_1', 'reopened c_1', 'commented c_1']);
    expect(platform.changeRequests).toHaveLength(1);
  });

  test('that was merged is reopened after the configured growth, or mutes the cluster if configured', async () => {
    const { platform, daemon, path } = await opened({ afterMerge: { reopenGrowth: 2, mute: false } });
    platform.merge(path.split('/').at(-1));
    const mergedAt = platform.time;
    expect(await daemon.run()).toMatchObject({ opened: 0, skipped: { merged: 1 } });
    const { changeRequests } = await daemon.stored();
    expect(Math.abs((changeRequests[0]?.mergedAt ?? 0) - mergedAt)).toBeLessThan(HOUR);
    platform.addIssues({ id: 'c_1' }, 3);
    expect(await daemon.run()).toMatchObject({ opened: 0 });
    platform.addIssues({ id: 'c_1' }, 1);
    expect(await daemon.run()).toMatchObject({ opened: 1 });
    expect(platform.statuses()).toEqual(['c_1 guides merged', 'c_1 guides open']);
    const muting = await opened({ afterMerge: { mute: true } });
    muting.platform.merge(muting.path.split('/').at(-1));
    await muting.daemon.run();
    expect(muting.platform.store.issuesClusters.get('c_1')?.muted).toBe(true);
    expect(muting.daemon.reported).toContain('muted c_1');
    await muting.daemon.run();
    expect(muting.daemon.reported.filter((each) => each === 'muted c_1')).toHaveLength(1);
  });

  test('gets at most one progress comment a day, and no duplicate after a lost response', async () => {
    const { platform, daemon } = await opened();
    platform.addIssues({ id: 'c_1' }, 2);
    await daemon.run();
    expect([...platform.store.comments.all()]).toEqual([]);
    platform.time += DAY;
    platform.fail('postChangeRequestComment', 'leaves', new TransientError('no answer', true));
    await daemon.run();
    platform.step = () => undefined;
    await daemon.run();
    platform.time += 2 * DAY;
    expect(await daemon.run()).toMatchObject({ commented: 0 });
    expect([...platform.store.comments.all()].map(({ body }) => body)).toEqual([
      { markdown: 'Since 2026-11-21: 2 more issues (6 now), 2 more conversations (6 now).' },
    ]);
    platform.addIssues({ id: 'c_1' }, 1);
    expect(await daemon.run()).toMatchObject({ commented: 1 });
    const quiet = await opened({ progressComments: false });
    quiet.platform.addIssues({ id: 'c_1' }, 2);
    quiet.platform.time += 2 * DAY;
    expect(await quiet.daemon.run()).toMatchObject({ commented: 0 });
  });

  test('in a deleted space blocks others as long as the space can be restored', async () => {
    const { platform, daemon } = await opened({ defaultSpace: 'api', routes: [{ label: 'About', space: 'guides' }] });
    platform.call('DELETE', '/spaces/guides');
    expect(await daemon.run()).toMatchObject({ opened: 0, skipped: { exists: 1 } });
    platform.time += 6 * DAY;
    expect(await daemon.run()).toMatchObject({ opened: 0, skipped: { exists: 1 } });
    platform.time += 2 * DAY;
    await daemon.run();
    expect(await daemon.run()).toMatchObject({ opened: 0 });
    expect(platform.statuses().at(-1)).toBe('c_1 api open');
  });
});

describe('requested reviewers', () => {
  test('are requested once by email and team, and an unsupported platform is reported', async () => {
    const platform = platformWith({ id: 'c_1' });
    const team = platform.call('PUT', '/orgs/org_acme/teams', { title: 'Writers' });
    platform.call('PUT', `/orgs/org_acme/teams/${team.id}/members`, { add: ['bo@acme.example'] });
    const reviewers = ['cy@acme.example', 'team/writers', 'nobody@acme.example'];
    const names = {
      recorded: async (kind: string) => new Map(kind === 'team' ? [['writers', String(team.id)]] : []),
    };
    const daemon = openDaemon(platform, settings({ changeRequest: { reviewers } }), { names });
    await daemon.run();
    const emails = platform.changeRequests[0]?.requestedReviewers.map(
      ({ user }) => platform.store.users.get(user)?.email,
    );
    expect(emails).toEqual(['cy@acme.example', 'bo@acme.example']);
    expect(daemon.reported).toContain('trouble null: nobody@acme.example is not a possible reviewer');
    platform.counts();
    await daemon.run();
    expect(platform.counts()).toEqual({ listConversationClusters: 1, listOrganizationChangeRequests: 1 });
    platform.features = { ...ALL_FEATURES, requestedReviewers: false };
    platform.addCluster({ id: 'c_2' });
    expect(await daemon.run()).toMatchObject({ outcome: 'done', opened: 1 });
    expect(daemon.reported).toContainEqual(expect.stringMatching(/^trouble c_2: cannot request reviews: .*404/));
  });

  test('are requested by the next run after a crash, and nobody twice', async () => {
    const platform = platformWith({ id: 'c_1' });
    const note = openMemoryStore().note('clusters');
    const config = settings({ changeRequest: { reviewers: ['cy@acme.example', 'bo@acme.example'] } });
    platform.fail('requestReviewers', 'arrives');
    expect((await openDaemon(platform, config, { note }).run()).outcome).toBe('failed');
    platform.step = () => undefined;
    const { id, requestedReviewers } = platform.changeRequests[0] ?? {};
    expect(requestedReviewers).toEqual([]);
    const cy = [...platform.store.users.all()].find(({ email }) => email === 'cy@acme.example');
    platform.call('POST', `/spaces/guides/change-requests/${id}/requested-reviewers`, { users: [cy?.id] });
    await openDaemon(platform, config, { note }).run();
    const asked = platform.requests.filter(({ operation }) => operation === 'requestReviewers');
    const bo = [...platform.store.users.all()].find(({ email }) => email === 'bo@acme.example');
    expect(asked.map(({ body }) => JSON.parse(body).users)).toEqual([[bo?.id]]);
    expect(platform.changeRequests[0]?.requestedReviewers).toHaveLength(2);
  });
});

describe('a control request', () => {
  test('opens one change request in the requested space, regardless of rule and limits', async () => {
    const platform = platformWith({ id: 'c_1', issues: 1, impact: 'low' }, { id: 'c_2', issues: 9 });
    const daemon = openDaemon(platform, settings({ limits: { ...all, maxOpen: 1 } }));
    await daemon.run();
    const open = (space: string | null, dryRun = false) =>
      daemon.ask({ subcommand: 'open', cluster: 'c_1', space, dryRun });
    expect(await open('api', true)).toMatchObject({ outcome: 'would-open', space: { id: 'api' } });
    expect(platform.changeRequests).toHaveLength(1);
    expect(await open('api')).toMatchObject({ outcome: 'opened', space: { id: 'api' } });
    expect(platform.statuses()).toEqual(['c_2 guides open', 'c_1 api open']);
    expect(await open(null)).toMatchObject({ outcome: 'exists', status: 'open' });
    const [, { id } = { id: '' }] = platform.changeRequests;
    platform.call('PATCH', `/spaces/api/change-requests/${id}`, { status: 'archived' });
    await expect(open(null)).rejects.toThrow('unarchive it on the platform');
    await expect(open('nowhere')).rejects.toThrow();
    platform.addCluster({ id: 'c_3' });
    const misspelt = { subcommand: 'open', cluster: 'c_3', space: 'guidse', dryRun: true } as const;
    await expect(daemon.ask(misspelt)).rejects.toThrow(
      '"guidse" is neither the key of a space’s manifest nor the id of a space; did you mean "guides"?',
    );
    expect(platform.changeRequests).toHaveLength(2);
  });
});

test('ignores a damaged note and one of an older version', async () => {
  const platform = platformWith({ id: 'c_1' });
  const note = openMemoryStore().note('clusters');
  await note.write({ format: 0, entries: 'none' });
  const daemon = openDaemon(platform, settings(), { note });
  expect(await daemon.run()).toMatchObject({ opened: 1 });
  expect(await note.read()).toMatchObject({ format: 1, entries: [{ cluster: 'c_1', state: 'open', at: NOW }] });
});
