/** Reports of replicas: every replica shows invalid configurations and organizations without an owner that others know. */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { ConfigError } from '../../../src/core/errors.ts';
import { EventBus } from '../../../src/core/event-bus.ts';
import type { ConfigurationFiles } from '../../../src/daemon/fleet/configuration.ts';
import { FleetReports } from '../../../src/daemon/fleet/fleet-reports.ts';
import type { DaemonEvents } from '../../../src/daemon/organization/feature.ts';
import { describeFleet } from '../../../src/daemon/read-model.ts';
import type { FleetStore } from '../../../src/store/leases.ts';
import { openMemoryStore } from '../../../src/store/memory.ts';
import { hasPostgres } from '../../support/postgres.ts';
import { shareCluster } from '../../support/shared-cluster.ts';
import { openWorkspace } from '../../support/workspace.ts';
import type { PageDaemon } from '../../web/page-daemon.ts';
import { startReplica } from './replica.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const PROBLEM = 'organizations/org_b.yaml:3:8: prune: "some" is not valid; expected owned, never or all';

const cluster = shareCluster();

/** Files of a configuration that become invalid when a test says so. */
class FakeFiles implements ConfigurationFiles {
  error: ConfigError | null = null;

  async read(): Promise<never> {
    throw this.error ?? new ConfigError('not used');
  }

  async watch(): Promise<void> {}

  async close(): Promise<void> {}
}

const textOf = async (page: PageDaemon, path: string) =>
  (await (await page.get(path)).text()).replaceAll(/<[^>]*>/g, '').replaceAll('&quot;', '"');

describe.skipIf(!hasPostgres)('the other replicas show, until a replica ends,', () => {
  test('that its configuration is invalid, on every page', async () => {
    await using work = await openWorkspace();
    work.repository.commit('One', { 'a.yaml': 'collections:\n  a: { title: A }\n' });
    const store = await cluster().createDatabase();
    const files = new FakeFiles();
    await using first = await startReplica(work, 'one', store, 8, { configuration: new FakeFiles() });
    const second = await startReplica(work, 'two', store, 8, { configuration: files });
    const pages = ['/', '/o/org_acme', '/alerts', '/replicas', '/log'];
    for (const path of pages) {
      expect(await textOf(first, path)).not.toContain('cannot be used');
    }

    files.error = new ConfigError(`${PROBLEM}\norganizations/org_b.yaml:4:1: x: this setting is not known`);
    await second.daemon.reload();
    const banner = new RegExp(
      `The new configuration of .* ${process.pid} cannot be used \\(since .*\\): ${PROBLEM.replaceAll('.', '\\.')}, and 1 more problem\\. Still running with the configuration of `,
    );
    for (const page of [second, first]) {
      for (const path of pages) {
        await expect.poll(() => textOf(page, path), WAIT).toMatch(banner);
      }
    }
    const status = await work.inside(['fleet', 'status', '--config', `${work.folder}/one.yaml`]);
    expect(status.code).toBe(1);
    expect(status.stdout).toMatch(
      /cannot be used since 20.*Z: organizations\/org_b\.yaml:3:8: .*; still running with the/,
    );
    // The replica that sends notifications has other files.
    await expect
      .poll(() => textOf(first, '/alerts'), WAIT)
      .toMatch(/The new configuration of .* cannot be used, so the earlier one stays in use/);

    await second.daemon.stop();
    await expect.poll(() => textOf(first, '/'), WAIT).not.toContain('cannot be used');
  });

  test('an organization without an owner that only it has configured, on pages and in conditions and status', async () => {
    await using work = await openWorkspace();
    work.repository.commit('One', { 'a.yaml': 'collections:\n  a: { title: A }\n' });
    const store = await cluster().createDatabase();
    await using first = await startReplica(work, 'one', store, 8, { configuration: new FakeFiles() });
    const source = { git: { url: work.repository.directory } };
    // The first replica has the token, so this one cannot claim its second organization.
    const second = await startReplica(work, 'two', store, 8, {
      configuration: new FakeFiles(),
      others: [{ id: 'org_b', source }],
    });
    const status = () => work.inside(['fleet', 'status', '--config', `${work.folder}/one.yaml`]);
    expect(await textOf(first, '/replicas')).toContain('every organization has an owner');
    expect((await status()).code).toBe(0);

    for (const replica of [first, second]) {
      await expect.poll(() => textOf(replica, '/replicas'), WAIT).toContain('No replica has 1 organization');
    }
    await expect.poll(() => textOf(first, '/alerts'), WAIT).toMatch(/org_b/);
    const { code, stdout } = await status();
    expect(code).toBe(1);
    expect(stdout).toMatch(/org_b: no replica for \d+ seconds/);

    await second.daemon.stop();
    await expect.poll(() => textOf(first, '/replicas'), WAIT).toContain('every organization has an owner');
    expect((await status()).code).toBe(0);
  });
});

const LEASE = 60_000;
const replicaOf = (id: string) => ({ id, address: `host-${id} 7`, left: 1000 });

/** Reports of a replica whose store and leases are fakes. */
function openReports(
  id: string,
  store: ReturnType<typeof openMemoryStore>,
  leases: { replicas: readonly object[]; unowned?: readonly { name: string; age: number }[] },
  onStored: () => void = () => undefined,
): FleetReports {
  const update: FleetStore['update'] = async (topic, change) => {
    await store.note(topic).write(change(await store.note(topic).read()));
  };
  const events = new EventBus<DaemonEvents>();
  events.subscribe({ onReportsStored: onStored });
  const context = {
    store: { note: (topic: string) => store.note(topic), fleet: () => ({ update }) },
    ...{ clock: systemClock, log: { debug: () => undefined }, config: { fleet: { lease: LEASE } }, events },
  };
  return new FleetReports(
    context as never,
    { replica: id, status: () => ({ unowned: [], ...leases }) as never },
    () => null,
  );
}

test('a replica reports organizations that had no owner for a lease period, and no other leases', async () => {
  const store = openMemoryStore();
  const replicas = [replicaOf('a'), replicaOf('b')];
  const unowned = [
    { name: 'organization/waits', age: LEASE + 1 },
    { name: 'organization/new', age: LEASE },
    { name: 'token/x', age: 2 * LEASE },
    { name: 'fleet', age: 2 * LEASE },
  ];
  let stored = 0;
  const first = openReports('a', store, { replicas, unowned }, () => {
    stored += 1;
  });
  const second = openReports('b', store, { replicas });
  await first.publish();
  await first.publish();
  expect(stored).toBe(1);
  await second.refresh();
  expect([...second.unowned()]).toEqual(['waits']);

  unowned.splice(0, 1);
  await first.publish();
  expect(stored).toBe(2);
  await second.refresh();
  expect([...second.unowned()]).toEqual(['waits']);
  second.markChanged();
  await second.refresh();
  expect([...second.unowned()]).toEqual([]);
});

test('a replica reports at most 100 organizations, those that have waited longest', async () => {
  const store = openMemoryStore();
  const replicas = [replicaOf('a'), replicaOf('b')];
  const unowned = Array.from({ length: 150 }, (_, index) => ({
    name: `organization/o${index}`,
    age: LEASE + 1 + index,
  }));
  await openReports('a', store, { replicas, unowned }).publish();
  const second = openReports('b', store, { replicas });
  await second.refresh();
  expect([...second.unowned()].sort()).toEqual(Array.from({ length: 100 }, (_, index) => `o${index + 50}`).sort());
});

test('reports of replicas that are gone are ignored, and removed by the next report', async () => {
  const store = openMemoryStore();
  const replicas = [replicaOf('a'), replicaOf('b')];
  const unowned = [{ name: 'organization/waits', age: 2 * LEASE }];
  await openReports('a', store, { replicas, unowned }).publish();
  const second = openReports('b', store, { replicas: [{ ...replicaOf('a'), left: 0 }, replicaOf('b')], unowned });
  await second.refresh();
  unowned.splice(0, 1, { name: 'organization/other', age: 2 * LEASE });
  expect([...second.unowned()]).toEqual(['other']);
  await second.publish();
  expect(await store.note('fleet/unowned').read()).toEqual({ b: ['other'] });
});

test('a reported organization is shown only while its lease has no owner', () => {
  const owner = replicaOf('a');
  const holders: Readonly<Record<string, object>> = {
    'organization/own': { replica: null, age: 7 },
    'organization/waits': { replica: null, age: 5 },
    'organization/claimed': { replica: owner, age: 5 },
    // Its lease was removed.
    'organization/gone': { replica: null, age: null },
  };
  const fleet = describeFleet(
    {
      ...{ replica: 'a', holder: (name) => (holders[name] ?? { replica: owner, age: 0 }) as never },
      status: () => ({ replicas: [owner], left: 1, failure: null }) as never,
    },
    [{ id: 'own' }],
    { unowned: () => new Set(['own', 'waits', 'claimed', 'gone']) },
    null,
  );
  expect(fleet?.unowned).toEqual([
    { organization: 'own', age: 7, isConfigured: true },
    { organization: 'waits', age: 5, isConfigured: false },
  ]);
  expect(fleet?.replicas).toEqual([{ ...owner, organizations: 0 }]);
});

/** Reports of another replica by their topics: as they are stored, and as they are shown. */
const REPORTS = {
  'configuration/problems': {
    stored: { other: { reason: 'x', since: 1, usedSince: 0 } },
    shown: { reason: 'x', since: 1, usedSince: 0, isPartial: false, replica: 'host-other 7' },
  },
  'fleet/unowned': { stored: { other: ['waits'] }, shown: 'waits' },
};

test.each<[string, keyof typeof REPORTS, unknown]>([
  ['a time that no date can show', 'configuration/problems', { other: { reason: 'x', since: 1e300, usedSince: 0 } }],
  ['a time that is a text', 'configuration/problems', { other: { reason: 'x', since: 'x', usedSince: 0 } }],
  ['a list', 'configuration/problems', []],
  ['an id that is a number', 'fleet/unowned', { other: [1] }],
  ['too many ids', 'fleet/unowned', { other: Array.from({ length: 101 }, String) }],
  ['a text', 'fleet/unowned', 'other'],
])('reports that another program has stored are ignored: %s', async (_what, topic, value) => {
  const store = openMemoryStore();
  const reports = openReports('own', store, { replicas: [replicaOf('other')] });
  const shown = async () => {
    reports.markChanged();
    await reports.refresh();
    return [...reports.configurationProblems(), ...reports.unowned()];
  };
  await store.note(topic).write(REPORTS[topic].stored);
  expect(await shown()).toEqual([REPORTS[topic].shown]);
  await store.note(topic).write(value as never);
  expect(await shown()).toEqual([]);
});

test('a report of another version, which this one cannot read, hides no other and stays', async () => {
  const store = openMemoryStore();
  const replicas = ['old', 'new', 'own'].map(replicaOf);
  await store.note('fleet/unowned').write({ old: ['waits'], new: { organizations: ['waits'] } });
  const reports = openReports('own', store, { replicas, unowned: [{ name: 'organization/other', age: 2 * LEASE }] });
  await reports.refresh();
  expect([...reports.unowned()].toSorted()).toEqual(['other', 'waits']);
  await reports.publish();
  expect(await store.note('fleet/unowned').read()).toEqual({
    ...{ old: ['waits'], new: { organizations: ['waits'] } },
    own: ['other'],
  });
});
