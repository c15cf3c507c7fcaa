import { describe, expect, test } from 'vitest';
import { markOf } from '../../src/clusters/mark.ts';

import { ClusterPlatform, openDaemon } from './run-platform.ts';
import { settingsOf } from './samples.ts';

const settings = (over: object = {}) => settingsOf({ enabled: true, default: 'guides', ...over });

describe('a run', () => {
  test('opens what passes, once, with the cluster in it, and says so', async () => {
    const platform = new ClusterPlatform();
    platform.addCluster({ id: 'c_sso', label: 'Login with SSO fails' });
    platform.addCluster({ id: 'c_few', issues: 2 });
    const daemon = openDaemon(platform, settings());
    const end = await daemon.run();
    expect(end.error).toBeNull();
    expect(end).toMatchObject({ outcome: 'done', read: 2, passing: 1, opened: 1, open: 1 });
    expect(platform.statuses()).toEqual(['c_sso guides open']);
    expect(platform.changeRequests[0]?.subject).toBe('Docs gap: Login with SSO fails');
    expect(markOf(platform.changeRequests[0]?.description)).toMatchObject({ cluster: 'c_sso', gaveWay: false });
    expect(daemon.told).toEqual(['opened c_sso']);
    await daemon.run();
    expect(platform.statuses()).toEqual(['c_sso guides open']);
  });
});
