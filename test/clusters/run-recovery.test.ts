/* Lost state files, wrong clocks and empty merges: runs without their earlier state, or with a state that is wrong. */
import { describe, expect, test } from 'vitest';
import { readMarker } from '../../src/clusters/change-request.ts';
import { ALL_FEATURES } from '../../src/emulator/model/features.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { pickCases } from '../support/campaign.ts';
import { openDaemon } from './run-daemon.ts';
import { ClusterPlatform, platformWith } from './run-platform.ts';
import { DAY, settingsOf } from './samples.ts';

const HOUR = DAY / 24;
const settings = (over: object = {}) =>
  settingsOf({
    enabled: true,
    defaultSpace: 'guides',
    search: { enabled: false },
    changeRequest: { maxPages: 0 },
    ...over,
  });
const wide = { maxPerRun: 1000, maxOpen: 1000, maxOpenPerSpace: 1000, maxPerDay: 1000 };

/** A platform that keeps the link of a creation, but loses its description. */
class LinkOnly extends ClusterPlatform {
  override readonly dropsDescriptions = true;
}

describe('a draft whose daemon was killed and whose state file is lost', () => {
  test.each([
    ['keeps link and description', () => new ClusterPlatform(), {}],
    ['keeps the link and drops the description', () => new LinkOnly(), {}],
    ['keeps neither', () => new ClusterPlatform(), { changeRequestLinks: false }],
    [
      'keeps neither and only open ones are listed',
      () => new ClusterPlatform(),
      { changeRequestLinks: false, changeRequestStatus: false },
    ],
  ])('is archived after an hour and created again if a creation %s', async (_, create, features) => {
    const platform = create();
    platform.features = { ...ALL_FEATURES, ...features };
    platform.addCluster({ id: 'c_1' });
    platform.fail('updateChangeRequest', 'arrives');
    expect((await openDaemon(platform, settings(), { name: 'lost' }).run()).outcome).toBe('failed');
    platform.step = () => undefined;
    const daemon = openDaemon(platform, settings(), { name: 'new' });
    expect(await daemon.run()).toMatchObject({ opened: 0, skipped: { exists: 1 } });
    platform.time += 40 * 60_000;
    expect(await daemon.run()).toMatchObject({ opened: 0, skipped: { exists: 1 } });
    platform.time += 21 * 60_000;
    await daemon.run();
    await daemon.run();
    expect(platform.changeRequests.map(({ status }) => status)).toEqual(['archived', 'open']);
    expect(platform.changeRequests[1]?.subject).toBe('Docs gap: About c_1');
    expect(readMarker(platform.changeRequests[1]?.description)?.cluster).toBe('c_1');
  });

  test('is archived even if its cluster no longer passes and nothing else changed', async () => {
    const platform = platformWith({ id: 'c_1' }, { id: 'c_2' });
    platform.fail('updateChangeRequest', 'arrives');
    await openDaemon(platform, settings({ select: { include: ['c_1'] } }), { name: 'lost' }).run();
    platform.step = () => undefined;
    platform.call('PATCH', '/orgs/org_acme/conversations-clusters/c_1', { muted: true });
    const daemon = openDaemon(platform, settings(), { name: 'new' });
    await daemon.run();
    platform.time += HOUR + 60_000;
    await daemon.run();
    expect(platform.statuses()).toEqual(['c_1 guides archived', 'c_2 guides open']);
  });

  test.each([
    ['keeps link and description', () => new ClusterPlatform()],
    ['keeps the link and drops the description', () => new LinkOnly()],
  ])('is not touched after a person renamed it if a creation %s', async (_, create) => {
    const platform = create();
    platform.addCluster({ id: 'c_1' });
    platform.fail('updateChangeRequest', 'arrives');
    await openDaemon(platform, settings(), { name: 'lost' }).run();
    platform.step = () => undefined;
    const [draft] = platform.changeRequests;
    platform.call('PATCH', `/spaces/guides/change-requests/${draft?.id}`, { subject: 'Explain SSO' });
    const daemon = openDaemon(platform, settings(), { name: 'new' });
    platform.time += DAY;
    await daemon.run();
    expect(platform.statuses()).toEqual(['c_1 guides draft']);
  });
});

test('sets subject and description of a draft that someone else opened in the meantime', async () => {
  const platform = new LinkOnly();
  platform.addCluster({ id: 'c_1' });
  const note = openMemoryStore().note('clusters');
  platform.fail('updateChangeRequest', 'arrives');
  await openDaemon(platform, settings(), { note }).run();
  platform.step = () => undefined;
  const [draft] = platform.changeRequests;
  platform.call('PATCH', `/spaces/guides/change-requests/${draft?.id}`, { status: 'open' });
  await openDaemon(platform, settings(), { note }).run();
  expect(platform.changeRequests).toMatchObject([{ status: 'open', subject: 'Docs gap: About c_1' }]);
  expect(readMarker(platform.changeRequests[0]?.description)?.cluster).toBe('c_1');
});

test('no label makes a change request look like a draft of Octavo', async () => {
  const platform = platformWith({ id: 'c_1', label: 'Octavo draft abcdefgh for cluster c_2' });
  await openDaemon(platform, settings({ changeRequest: { subject: '{{label}}', maxPages: 0 } })).run();
  expect(platform.changeRequests[0]?.subject).toBe('Docs gap: Octavo draft abcdefgh for cluster c_2');
});

test('opens a cluster whose id is too long for a subject only once, also with two daemons', async () => {
  const platform = new ClusterPlatform();
  platform.features = { ...ALL_FEATURES, changeRequestLinks: false };
  const id = `c_${'x'.repeat(200)}`;
  platform.addCluster({ id });
  platform.fail('updateChangeRequest', 'arrives');
  await openDaemon(platform, settings(), { name: 'one' }).run();
  platform.step = () => undefined;
  expect(platform.changeRequests[0]?.subject.length).toBeLessThanOrEqual(100);
  expect(await openDaemon(platform, settings(), { name: 'two' }).run()).toMatchObject({ skipped: { exists: 1 } });
});

test('creates only the drafts that it opens for 320 clusters that people have partly handled', async () => {
  for (const features of pickCases([{}, { changeRequestStatus: false }, { changeRequestLinks: false }], 1, 1)) {
    const platform = new ClusterPlatform(['guides', 'api']);
    platform.features = { ...ALL_FEATURES, ...features };
    for (let index = 0; index < 320; index += 1) {
      platform.addCluster({ id: `c_${index}`, issues: 3 + (index % 7) });
    }
    const before = openDaemon(platform, settings({ limits: { ...wide, maxOpen: 60 } }), { name: 'before' });
    expect(await before.run()).toMatchObject({ opened: 60 });
    for (const [index, { id, space }] of platform.changeRequests.entries()) {
      const path = `/spaces/${space}/change-requests/${id}`;
      if (index % 4 === 0) {
        platform.call('PATCH', path, { status: 'archived' });
      } else if (index % 4 === 1) {
        platform.merge(id);
      } else if (index % 4 === 2) {
        platform.call('PATCH', path, { status: 'draft' });
      }
    }
    platform.counts();
    // Its state file is lost.
    const limits = { maxPerRun: 100, maxOpen: 80, maxOpenPerSpace: 1000, maxPerDay: 100 };
    const end = await openDaemon(platform, settings({ limits }), { name: 'after' }).run();
    const { createChangeRequest: created = 0, updateChangeRequest: updated = 0 } = platform.counts();
    expect(end).toMatchObject({ outcome: 'done', superseded: 0, opened: 40 });
    expect([created, updated]).toEqual([40, 40]);
  }
});

describe('a wrong local clock', () => {
  const wrong = [3 * DAY, 25 * HOUR, 90 * 60_000, 5 * 60_000, -5 * 60_000, -90 * 60_000, -25 * HOUR, -3 * DAY];
  const all = wrong.flatMap((skew) => [
    [skew, true],
    [skew, false],
  ]) as readonly (readonly [number, boolean])[];
  const each = pickCases(all, 4, 8);

  test.each(each)(
    'by %d ms, with Date %s: creates no draft in any run while the daily limit is reached',
    async (skew, hasDates) => {
      const platform = new ClusterPlatform();
      platform.hasDates = hasDates;
      for (let index = 0; index < 20; index += 1) {
        platform.addCluster({ id: `c_${index}`, age: 10 * DAY });
      }
      // Opened today by a daemon whose clock is right.
      const limits = { ...wide, maxPerDay: 5 };
      expect(await openDaemon(platform, settings({ limits }), { name: 'right' }).run()).toMatchObject({ opened: 5 });
      platform.skews.wrong = skew;
      const daemon = openDaemon(platform, settings({ limits }), { name: 'wrong' });
      platform.counts();
      let created = 0;
      for (let run = 0; run < 22; run += 1) {
        platform.time += HOUR;
        expect(await daemon.run()).toMatchObject({ outcome: 'done', opened: 0 });
        created += platform.counts().createChangeRequest ?? 0;
      }
      // Without a Date the first run measures the clock difference, with drafts that it closes again.
      expect(created).toBeLessThanOrEqual(hasDates ? 0 : 15);
      const inFirst = created;
      // The day is over: five more, and another five the day after.
      platform.time += 3 * HOUR;
      expect(await daemon.run()).toMatchObject({ opened: 5 });
      platform.time += DAY + HOUR;
      expect(await daemon.run()).toMatchObject({ opened: 5 });
      const drafts = platform.changeRequests.filter(({ status }) => status === 'archived');
      expect(drafts).toHaveLength(inFirst);
    },
  );

  test('by three days: computes the age of a cluster from the platform’s time', async () => {
    for (const skew of [3 * DAY, -3 * DAY]) {
      const platform = new ClusterPlatform();
      platform.skews.one = skew;
      platform.addCluster({ id: 'c_young', age: DAY });
      platform.addCluster({ id: 'c_old', age: 3 * DAY });
      const daemon = openDaemon(platform, settings({ select: { minAge: '2d' } }));
      expect(await daemon.run()).toMatchObject({ passing: 1, opened: 1 });
      expect(platform.statuses()).toEqual(['c_old guides open']);
    }
  });
});

describe('a change request that was merged without any edit', () => {
  const opened = async (over: object = {}) => {
    const platform = platformWith({ id: 'c_1', issues: 4 });
    const daemon = openDaemon(platform, settings(over));
    await daemon.run();
    return { platform, daemon, id: platform.changeRequests[0]?.id ?? '' };
  };

  test('neither blocks nor mutes its cluster', async () => {
    const { platform, daemon, id } = await opened({ afterMerge: { mute: true } });
    platform.call('POST', `/spaces/guides/change-requests/${id}/merge`);
    platform.time += HOUR;
    expect(await daemon.run()).toMatchObject({ opened: 1 });
    expect(platform.statuses()).toEqual(['c_1 guides merged', 'c_1 guides open']);
    expect(platform.store.issuesClusters.get('c_1')?.muted).toBe(false);
    // The second has content: that is a fix.
    platform.merge(platform.changeRequests[1]?.id);
    platform.time += HOUR;
    await daemon.run();
    expect(platform.changeRequests).toHaveLength(2);
    expect(platform.store.issuesClusters.get('c_1')?.muted).toBe(true);
  });

  test('is recognized by its revisions after the state was lost', async () => {
    const { platform, id } = await opened();
    platform.call('POST', `/spaces/guides/change-requests/${id}/merge`);
    const record = platform.store.changeRequests.get(id);
    // A platform that assigns no revision to a change request before an edit.
    platform.store.changeRequests.put({ ...record, revision: record?.revisionInitial } as never);
    platform.time += HOUR;
    expect(await openDaemon(platform, settings(), { name: 'new' }).run()).toMatchObject({ opened: 1 });
  });
});
