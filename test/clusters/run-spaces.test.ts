/** Spaces of issue clusters: named in the settings, declared in manifests, or on the platform. */
import { describe, expect, test } from 'vitest';
import { RejectedError, TransientError } from '../../src/core/errors.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { openDaemon } from './run-daemon.ts';
import { ClusterPlatform, platformWith } from './run-platform.ts';
import { settingsOf } from './samples.ts';

const settings = (over: object = {}) => settingsOf({ enabled: true, defaultSpace: 'guides', ...over });

describe('spaces in the settings', () => {
  const place = { file: 'config.yaml', line: 12, column: 18, address: 'organizations[0].clusters.defaultSpace' };
  const named = { ...settings({ defaultSpace: 'guide' }), spaceNames: [{ name: 'guide', place }] };
  const unknown =
    'config.yaml:12:18: organizations[0].clusters.defaultSpace: "guide" is neither the key of a space’s manifest nor the id of a space; did you mean "guides"?';

  test('are refused with a suggestion, also of a space that is only declared', async () => {
    const names = { declared: async () => new Map([['onboarding', { id: null, title: null }]]) };
    const meant = { ...settings({ defaultSpace: 'onbording' }), spaceNames: [{ name: 'onbording', place }] };
    const daemon = openDaemon(new ClusterPlatform([]), meant, { names });
    await expect(daemon.automation.checkSpaces()).rejects.toThrow('did you mean "onboarding"?');
  });

  test('are accepted at startup if they cannot be checked, and fail the first run that can check them', async () => {
    const platform = platformWith({ id: 'c_1' });
    const unread = openDaemon(platform, named, { names: { declared: async () => null } });
    await unread.automation.checkSpaces();
    expect(await unread.run()).toMatchObject({ outcome: 'done', opened: 0, skipped: { waiting: 1 } });
    let isDown = true;
    platform.store.issuesClusters.remove('c_1');
    platform.step = () => {
      if (isDown) {
        throw new TransientError('down', true);
      }
    };
    const daemon = openDaemon(platform, named);
    await daemon.automation.checkSpaces();
    isDown = false;
    const end = await daemon.run();
    expect(end.outcome).toBe('failed');
    expect(end.error?.message).toBe(unknown);
  });
});

describe('a declared space', () => {
  const declares = (key: string, id: string | null = null, title: string | null = null) => ({
    declared: async () => new Map([[key, { id, title }]]),
  });
  const routed = settings({
    routes: [{ label: 'About', space: 'manual' }],
    defaultSpace: 'api',
    search: { enabled: true },
  });

  test.each([
    ['by the id in its manifest', declares('manual', 'guides'), {}],
    ['by the last plan', { ...declares('manual'), observed: () => new Map([['manual', 'guides']]) }, {}],
    ['by its title if it is unique', declares('manual', null, 'The guides'), {}],
    ['by its id if the platform cannot list spaces', declares('manual', 'guides'), { unlisted: true }],
  ])('is found without a record %s', async (_, names, { unlisted = false }: { unlisted?: boolean }) => {
    const platform = new ClusterPlatform();
    platform.step = ({ operation }, step) => {
      if (unlisted && operation === 'listSpaces' && step === 'arrives') {
        throw new RejectedError('there is no such operation', 404);
      }
    };
    platform.addCluster({ id: 'c_1' });
    const daemon = openDaemon(platform, routed, { names });
    const { clusters } = (await daemon.ask({ subcommand: 'list' })) as {
      clusters: object[];
    };
    expect(clusters).toMatchObject([{ wouldOpen: true, space: { id: 'guides', key: 'manual' } }]);
    expect(await daemon.run()).toMatchObject({ opened: 1 });
    expect(platform.statuses()).toEqual(['c_1 guides open']);
  });

  test.each([
    ['does not exist yet', declares('manual', null, 'Manual'), 'declared but not created yet'],
    ['has an id that does not exist', declares('manual', 'sp_none', 'The guides'), 'declared but not created yet'],
    ['matches two spaces', declares('manual', null, 'Twice'), 'declared but not created yet'],
    ['is unknown', { declared: async () => null }, 'unknown because the manifests cannot be read'],
  ])('that %s makes its clusters wait instead of using the default', async (_, names, why) => {
    const platform = new ClusterPlatform(['api', 'guides', 'one', 'two']);
    for (const id of ['one', 'two']) {
      platform.call('PATCH', `/spaces/${id}`, { title: 'Twice' });
    }
    platform.addCluster({ id: 'c_1' });
    const note = openMemoryStore().note('clusters');
    const daemon = openDaemon(platform, routed, { names, note });
    expect(await daemon.run()).toMatchObject({ outcome: 'done', opened: 0, skipped: { waiting: 1 } });
    const { clusters } = (await daemon.ask({ subcommand: 'list' })) as {
      clusters: object[];
    };
    expect(clusters).toMatchObject([{ wouldOpen: false, reason: `waiting: route 1 names manual, which is ${why}` }]);
    expect(platform.changeRequests).toEqual([]);
    // The space is created and recorded: the next run opens change requests there.
    platform.addSpace('sp_manual');
    const recorded = { ...names, recorded: async () => new Map([['manual', 'sp_manual']]) };
    expect(await openDaemon(platform, routed, { names: recorded, note }).run()).toMatchObject({ opened: 1 });
    expect(platform.statuses()).toEqual(['c_1 sp_manual open']);
  });

  test('that does not exist yet also makes the search and the default wait', async () => {
    const platform = platformWith({ id: 'c_1' });
    const names = declares('manual', null, 'Manual');
    for (const over of [{ search: { spaces: ['manual', 'api'] }, defaultSpace: 'api' }, { defaultSpace: 'manual' }]) {
      const daemon = openDaemon(platform, settings(over), { names });
      expect(await daemon.run()).toMatchObject({ opened: 0, skipped: { waiting: 1 } });
    }
  });

  test('can be passed as --space even if no setting names it', async () => {
    const platform = platformWith({ id: 'c_1' });
    const daemon = openDaemon(platform, settings(), { names: declares('manual', null, 'The api') });
    const open = { subcommand: 'open', cluster: 'c_1', space: 'manual', dryRun: false } as const;
    expect(await daemon.ask(open)).toMatchObject({
      outcome: 'opened',
      space: { id: 'api' },
    });
    const later = openDaemon(platform, settings(), { names: declares('later', null, 'Later') });
    platform.addCluster({ id: 'c_2' });
    await expect(later.ask({ ...open, cluster: 'c_2', space: 'later' })).rejects.toThrow(
      'later cannot be used: declared but not created yet',
    );
  });
});
