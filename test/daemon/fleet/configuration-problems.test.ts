/** Invalid configurations in a fleet: every page of every replica shows them, and so do its conditions and its status. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { ConfigError } from '../../../src/core/errors.ts';
import type { ConfigurationFiles } from '../../../src/daemon/fleet/configuration.ts';
import { ConfigurationProblems } from '../../../src/daemon/fleet/configuration-problems.ts';
import { openMemoryStore } from '../../../src/store/memory.ts';
import { hasPostgres, type PostgresCluster, reportMissingPostgres, startPostgres } from '../../support/postgres.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';
import { type PageDaemon, startPage } from '../../web/page-daemon.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const PROBLEM = 'organizations/org_b.yaml:3:8: prune: "some" is not valid; expected owned, never or all';

let cluster: PostgresCluster;

beforeAll(async () => {
  if (hasPostgres) {
    cluster = await startPostgres();
  } else {
    reportMissingPostgres('invalid configurations in a fleet');
  }
});

afterAll(() => cluster?.stop());

/** Files of a configuration that become invalid when a test says so. */
class FakeFiles implements ConfigurationFiles {
  error: ConfigError | null = null;

  async read(): Promise<never> {
    throw this.error ?? new ConfigError('not used');
  }

  async watch(): Promise<void> {}

  async close(): Promise<void> {}
}

function startReplica(
  work: Workspace,
  name: string,
  store: string,
  configuration: ConfigurationFiles,
): Promise<PageDaemon> {
  return startPage(work, {
    ...{ name: `${name}.yaml`, configuration },
    top: {
      store,
      runtime: { directory: `${work.folder}/${name}` },
      platform: { baseUrl: work.emulator.url, token: work.env.OCTAVO_TOKEN, timeout: '1s' },
      fleet: { lease: '8s' },
    },
  });
}

const textOf = async (page: PageDaemon, path: string) =>
  (await (await page.get(path)).text()).replaceAll(/<[^>]*>/g, '').replaceAll('&quot;', '"');

describe.skipIf(!hasPostgres)('an invalid configuration of a replica', () => {
  test('is shown by every page of every replica until that replica ends', async () => {
    await using work = await openWorkspace();
    work.repository.write('a.yaml', 'collections:\n  a: { title: A }\n');
    work.repository.commit('One');
    const store = await cluster.createDatabase();
    const files = new FakeFiles();
    await using first = await startReplica(work, 'one', store, new FakeFiles());
    const second = await startReplica(work, 'two', store, files);
    const pages = ['/', '/o/org_acme', '/conditions', '/replicas', '/log'];
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
      .poll(() => textOf(first, '/conditions'), WAIT)
      .toMatch(/The new configuration of .* cannot be used, so the earlier one stays in use/);

    await second.daemon.stop();
    await expect.poll(() => textOf(first, '/'), WAIT).not.toContain('cannot be used');
  });
});

test.each([
  ['a time that no date can show', { other: { reason: 'x', since: 1e300, usedSince: 0 } }],
  ['a time that is a text', { other: { reason: 'x', since: 'x', usedSince: 0 } }],
  ['a list', []],
])('problems that another program has stored are ignored: %s', async (_what, value) => {
  const store = openMemoryStore();
  const alive = { id: 'other', address: 'host-2 7', left: 1000 };
  const problems = new ConfigurationProblems({
    ...{ store, clock: systemClock, log: { debug: () => undefined } as never, own: () => null },
    leases: { replica: 'own', status: () => ({ replicas: [alive] }) as never },
    onStored: () => undefined,
  });
  await store.note('configuration/problems').write({ other: { reason: 'x', since: 1, usedSince: 0 } });
  await problems.refresh();
  expect(problems.list()).toEqual([{ reason: 'x', since: 1, usedSince: 0, replica: 'host-2 7' }]);
  await store.note('configuration/problems').write(value as never);
  problems.markChanged();
  await problems.refresh();
  expect(problems.list()).toEqual([]);
});
