/** Metrics of two daemons on one PostgreSQL database: each organization is exported by its owner only. */
import { describe, expect, test } from 'vitest';
import { hasPostgres } from '../../support/postgres.ts';
import { shareCluster } from '../../support/shared-cluster.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { openWorkspace } from '../../support/workspace.ts';
import type { PageDaemon } from '../../web/page-daemon.ts';
import { startReplica } from './replica.ts';

const cluster = shareCluster();

/** Returns the lines of a daemon's metrics that are about the organization or its queue. */
async function exported({ daemon }: PageDaemon): Promise<readonly string[]> {
  const response = await fetch(`${daemon.address}/metrics`);
  expect(response.status).toBe(200);
  return (await response.text()).split('\n').filter((line) => line.includes('="org_acme"'));
}

describe.skipIf(!hasPostgres)('metrics of an organization', () => {
  test('move with its lease, and no two replicas export them at the same time', async () => {
    await using work = await openWorkspace();
    work.repository.commit('One', { 'a.yaml': 'collections:\n  a: { title: A }\n' });
    const store = await cluster().createDatabase();
    await using proxy = await TcpProxy.open({ port: cluster().port });
    const owner = await startReplica(work, 'one', store.replace(`:${cluster().port}/`, `:${proxy.port}/`), 5);
    await using other = await startReplica(work, 'two', store, 5);
    await owner.daemon.organizations[0]?.idle();
    await expect
      .poll(() => exported(owner), { timeout: 20_000 })
      .toContain('octavo_source_ready{organization="org_acme"} 1');
    expect(await exported(other)).toEqual([]);

    // The owner cannot renew its lease from now on, and the other one takes over.
    proxy.stall();
    let there: readonly string[] = [];
    const end = performance.now() + 60_000;
    while (!there.some((line) => line.startsWith('octavo_source_commit_info'))) {
      there = await exported(other);
      if (there.length > 0) {
        expect(await exported(owner)).toEqual([]);
      }
      expect(performance.now()).toBeLessThan(end);
      await new Promise((done) => setTimeout(done, 50));
    }
    proxy.pass();
    await owner.daemon.stop();
  });
});
