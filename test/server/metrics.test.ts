import { describe, expect, test } from 'vitest';
import { createMetrics } from '../../src/server/metrics.ts';

describe('createMetrics', () => {
  test('counts what it is told', async () => {
    const metrics = createMetrics();
    metrics.pass({ organization: 'org_1', outcome: 'done', seconds: 1.5, at: 1_800_000_000_000 });
    metrics.pass({ organization: 'org_1', outcome: 'failed', seconds: 0.5, at: 1_900_000_000_000 });
    metrics.change({ organization: 'org_1', kind: 'team', action: 'create', status: 'applied' });
    metrics.pending('org_1', { held: 2, failed: 1, paused: 0 });
    metrics.drift('org_1', 'site', 3);
    metrics.request({ class: 'read', outcome: '200', waitedSeconds: 0.5 });
    metrics.rateLimited('read');
    metrics.queue({ queue: 'org_1', waiting: { apply: 4 }, oldestSeconds: 2 });
    metrics.budget({ queue: 'org_1', class: 'read', limit: 60, remaining: 12 });
    const lines = (await metrics.registry.metrics()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'octavo_reconcile_passes_total{organization="org_1",outcome="done"} 1',
        'octavo_reconcile_last_seconds{organization="org_1"} 0.5',
        'octavo_reconcile_last_success_timestamp_seconds{organization="org_1"} 1800000000',
        'octavo_changes_total{organization="org_1",kind="team",action="create",status="applied"} 1',
        'octavo_changes_pending{organization="org_1",status="held"} 2',
        'octavo_drift_total{organization="org_1",kind="site"} 3',
        'octavo_requests_total{class="read",outcome="200"} 1',
        'octavo_request_wait_seconds_bucket{le="1",class="read"} 1',
        'octavo_rate_limited_total{class="read"} 1',
        'octavo_queue_waiting{queue="org_1",priority="apply"} 4',
        'octavo_queue_oldest_seconds{queue="org_1"} 2',
        'octavo_budget_limit{queue="org_1",class="read"} 60',
        'octavo_budget_remaining{queue="org_1",class="read"} 12',
      ]),
    );
  });

  test('shows one good commit, also while the source is bad', async () => {
    const metrics = createMetrics();
    metrics.source({ organization: 'org_1', good: true, commit: 'aaa' });
    metrics.source({ organization: 'org_1', good: true, commit: 'bbb' });
    metrics.source({ organization: 'org_1', good: false, commit: null });
    const text = await metrics.registry.metrics();
    expect(text).toContain('octavo_source_good{organization="org_1"} 0');
    expect(text).toContain('octavo_source_commit_info{organization="org_1",commit="bbb"} 1');
    expect(text).not.toContain('"aaa"');
  });

  test('each has a registry of its own', async () => {
    createMetrics().rateLimited('read');
    expect(await createMetrics().registry.metrics()).not.toContain('octavo_rate_limited_total{');
  });
});
