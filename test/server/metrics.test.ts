import { describe, expect, test } from 'vitest';
import {
  AuthError,
  DesiredStateError,
  NotThePlatformError,
  SourceError,
  StoreError,
  TransientError,
} from '../../src/core/errors.ts';
import { failingChange, reasonOf } from '../../src/server/failure-metrics.ts';
import { createMetrics } from '../../src/server/metrics.ts';

describe('createMetrics', () => {
  test('counts reported events', async () => {
    const metrics = createMetrics();
    metrics.pass({ organization: 'org_1', outcome: 'done', seconds: 1.5, at: 1_800_000_000_000 });
    metrics.pass({ organization: 'org_1', outcome: 'failed', seconds: 0.5, at: 1_900_000_000_000 });
    metrics.change({ organization: 'org_1', kind: 'team', action: 'create', status: 'applied' });
    metrics.pending('org_1', { held: 2, failed: 1, paused: 0 });
    metrics.drift('org_1', 'site', 3);
    metrics.request({ class: 'read', outcome: '200', waitedSeconds: 0.5 });
    metrics.rateLimited('read');
    const budgets = [
      { class: 'read', limit: 60, remaining: 12, cooldownSeconds: 0 },
      { class: 'write', limit: null, remaining: null, cooldownSeconds: 30 },
    ];
    metrics.queue({ queue: 'org_1', waiting: { apply: 4 }, oldestSeconds: 2, isCircuitOpen: true, budgets });
    const lines = (await metrics.registry.metrics()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'octavo_reconcile_passes_total{organization="org_1",outcome="done"} 1',
        'octavo_reconcile_last_duration_seconds{organization="org_1"} 0.5',
        'octavo_reconcile_last_success_timestamp_seconds{organization="org_1"} 1800000000',
        'octavo_changes_total{organization="org_1",kind="team",action="create",status="applied"} 1',
        'octavo_changes_pending{organization="org_1",status="held"} 2',
        'octavo_drifted_resources_total{organization="org_1",kind="site"} 3',
        'octavo_requests_total{class="read",outcome="200"} 1',
        'octavo_request_wait_seconds_bucket{le="1",class="read"} 1',
        'octavo_rate_limited_total{class="read"} 1',
        'octavo_queue_waiting{queue="org_1",priority="apply"} 4',
        'octavo_queue_oldest_wait_seconds{queue="org_1"} 2',
        'octavo_budget_limit{queue="org_1",class="read"} 60',
        'octavo_budget_remaining{queue="org_1",class="read"} 12',
        'octavo_budget_cooldown_seconds{queue="org_1",class="read"} 0',
        'octavo_budget_cooldown_seconds{queue="org_1",class="write"} 30',
        'octavo_queue_circuit_breaker_open{queue="org_1"} 1',
      ]),
    );
  });

  test('exports only organizations and queues that this process has', async () => {
    const metrics = createMetrics();
    const owned = new Set(['org_1', 'org_2']);
    const observe = (id: string) => {
      metrics.source({ organization: id, isReady: true, commit: 'aaa' });
      metrics.pending(id, { held: 2, failed: 0, paused: 0 });
      metrics.failing(id, [{ kind: 'team', address: 'team/a' }]);
      metrics.change({ organization: id, kind: 'team', action: 'create', status: 'applied' });
      metrics.push(id, 'fetched' as never, 1_000);
      metrics.queue({ queue: id, waiting: { apply: 4 }, oldestSeconds: 2, isCircuitOpen: true, budgets: [] });
    };
    const linesOf = async (id: string) =>
      (await metrics.registry.metrics()).split('\n').filter((line) => line.includes(`"${id}"`));
    metrics.limitTo({
      organization: (id) => owned.has(id),
      queue: (name) => owned.has(name),
      receiver: (id) => id !== 'org_3',
    });
    for (const id of ['org_1', 'org_2', 'org_3']) {
      observe(id);
    }
    const both = await linesOf('org_1');
    expect((await linesOf('org_2')).map((line) => line.replaceAll('org_2', 'org_1'))).toEqual(both);
    expect(both.length).toBeGreaterThan(8);
    expect(await linesOf('org_3')).toEqual([]);

    owned.delete('org_2');
    // A webhook is counted by the replica that receives it.
    const received = (await linesOf('org_2')).map((line) => line.split('{', 1)[0]);
    expect(received).toEqual(['octavo_push_webhook_requests_total', 'octavo_push_webhook_last_timestamp_seconds']);
    expect(await linesOf('org_1')).toEqual(both);

    // Work that ends late writes once more; then the organization comes back with the same commit.
    observe('org_2');
    expect(await linesOf('org_2')).toHaveLength(2);
    owned.add('org_2');
    observe('org_2');
    expect((await linesOf('org_2')).filter((line) => !line.includes('webhook'))).toEqual(
      both.filter((line) => !line.includes('webhook')).map((line) => line.replaceAll('org_1', 'org_2')),
    );
  });

  test('exports the limit of a token only at the owner of its first organization, and the rest for each replica', async () => {
    const metrics = createMetrics();
    const owned = new Set(['org_1']);
    metrics.limitTo({ organization: (id) => owned.has(id), queue: () => true, receiver: () => true });
    for (const queue of ['org_1', 'org_2']) {
      const budgets = [{ class: 'read', limit: 100, remaining: 40, cooldownSeconds: 3 }];
      metrics.queue({ queue, waiting: { apply: 4 }, oldestSeconds: 2, isCircuitOpen: false, budgets });
    }
    const namesOf = async (queue: string) =>
      (await metrics.registry.metrics())
        .split('\n')
        .filter((line) => line.includes(`queue="${queue}"`))
        .map((line) => line.split('{', 1)[0]);
    const limits = ['octavo_budget_limit', 'octavo_budget_remaining'];
    const all = await namesOf('org_1');
    expect(all).toEqual(expect.arrayContaining([...limits, 'octavo_budget_cooldown_seconds', 'octavo_queue_waiting']));
    expect(await namesOf('org_2')).toEqual(all.filter((name) => !limits.includes(name ?? '')));
  });

  test('exports the attempts of a channel before the first one, so that Prometheus sees it as an increase', async () => {
    const metrics = createMetrics();
    metrics.channels(['ops']);
    const attempts = async () =>
      (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('octavo_notification_attempts'));
    const line = (outcome: string, count: number) =>
      `octavo_notification_attempts_total{channel="ops",outcome="${outcome}"} ${count}`;
    expect(await attempts()).toEqual([line('sent', 0), line('failed', 0), line('given-up', 0)]);
    metrics.notification('ops', 'given-up');
    expect(await attempts()).toEqual([line('sent', 0), line('failed', 0), line('given-up', 1)]);
  });

  test('shows the last valid commit, also while the source is invalid', async () => {
    const metrics = createMetrics();
    metrics.source({ organization: 'org_1', isReady: true, commit: 'aaa' });
    metrics.source({ organization: 'org_1', isReady: true, commit: 'bbb' });
    metrics.source({ organization: 'org_1', isReady: false, commit: null });
    const text = await metrics.registry.metrics();
    expect(text).toContain('octavo_source_ready{organization="org_1"} 0');
    expect(text).toContain('octavo_source_commit_info{organization="org_1",commit="bbb"} 1');
    expect(text).not.toContain('"aaa"');
  });

  test('removes the budgets of classes that were joined', async () => {
    const metrics = createMetrics();
    const rest = { queue: 'org_1', waiting: {}, oldestSeconds: 0, isCircuitOpen: false };
    const budget = (name: string) => ({ class: name, limit: 60, remaining: 12, cooldownSeconds: 0 });
    metrics.queue({ ...rest, queue: 'org_2', budgets: [budget('read')] });
    metrics.queue({ ...rest, budgets: [budget('read'), budget('write')] });
    metrics.queue({ ...rest, budgets: [budget('read+write')] });
    const lines = (await metrics.registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('octavo_budget_limit{'));
    expect(lines).toEqual([
      'octavo_budget_limit{queue="org_2",class="read"} 60',
      'octavo_budget_limit{queue="org_1",class="read+write"} 60',
    ]);
  });

  test('lists failing changes and organizations only while they fail', async () => {
    const metrics = createMetrics();
    const named = async () =>
      (await metrics.registry.metrics())
        .split('\n')
        .filter((line) => /^octavo_(change|organization)_failing\{/.test(line));
    metrics.failing('org_1', [
      { kind: 'team', address: 'team/a' },
      { kind: 'team', address: 'team/b' },
    ]);
    metrics.failing('org_2', [{ kind: 'team', address: 'team/a' }]);
    metrics.failureReason('org_1', 'changes');
    metrics.failureReason('org_2', 'unauthorized');
    expect(await named()).toEqual([
      'octavo_change_failing{organization="org_1",kind="team",address="team/a"} 1',
      'octavo_change_failing{organization="org_1",kind="team",address="team/b"} 1',
      'octavo_change_failing{organization="org_2",kind="team",address="team/a"} 1',
      'octavo_organization_failing{organization="org_1",reason="changes"} 1',
      'octavo_organization_failing{organization="org_2",reason="unauthorized"} 1',
    ]);
    metrics.failing('org_1', [{ kind: 'team', address: 'team/b' }]);
    metrics.failing('org_2', []);
    metrics.failureReason('org_1', 'state');
    metrics.failureReason('org_2', null);
    expect(await named()).toEqual([
      'octavo_change_failing{organization="org_1",kind="team",address="team/b"} 1',
      'octavo_organization_failing{organization="org_1",reason="state"} 1',
    ]);
    metrics.failing(
      'org_1',
      Array.from({ length: 1000 }, (_, index) => ({ kind: 'team', address: `team/${index}` })),
    );
    expect(await named()).toHaveLength(101);
  });

  test('creates a separate registry each time', async () => {
    createMetrics().rateLimited('read');
    expect(await createMetrics().registry.metrics()).not.toContain('octavo_rate_limited_total{');
  });
});

test.each([
  ['unauthorized', new AuthError('no', 401)],
  ['unreachable', new TransientError('no', false)],
  ['unreachable', new NotThePlatformError('no')],
  ['invalid_manifests', new DesiredStateError([])],
  ['source', new SourceError('no')],
  ['state', new StoreError('no')],
  ['unknown', new Error('no')],
])('reasonOf returns %s for a failed pass with such an error', (reason, error) => {
  expect(reasonOf('failed', error, 0)).toBe(reason);
  // Errors on the way did not make it fail.
  expect(reasonOf('done', error, 0)).toBe(null);
});

test('reasonOf returns changes for failed changes, and null for a stopped pass', () => {
  expect(reasonOf('failed', null, 2)).toBe('changes');
  expect(reasonOf('failed', null, 0)).toBe(null);
});

test('failingChange never returns an email address', () => {
  const result = { action: 'update', status: 'failed', error: 'no', address: 'member/ana@acme.example' } as const;
  expect(failingChange({ ...result, id: 'usr_1' }, undefined)).toEqual({ kind: 'member', address: 'member/usr_1' });
  const hashed = failingChange({ ...result, id: null }, undefined);
  expect(hashed.address).toMatch(/^member\/[0-9a-f]{8}$/);
  const site = { ...result, address: 'site-space/help/guides/en', id: null };
  expect(failingChange(site, undefined)).toEqual({ kind: 'site-space', address: 'site-space/help/guides/en' });
});

test('counts flapping fields by kind, and removes the count when they stop', async () => {
  const metrics = createMetrics();
  const shown = async () =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('octavo_flapping_fields{'));
  metrics.flapping('org_1', ['team', 'site', 'team']);
  metrics.flapping('org_2', ['team']);
  expect(await shown()).toEqual([
    'octavo_flapping_fields{organization="org_1",kind="team"} 2',
    'octavo_flapping_fields{organization="org_1",kind="site"} 1',
    'octavo_flapping_fields{organization="org_2",kind="team"} 1',
  ]);
  metrics.flapping('org_1', []);
  expect(await shown()).toEqual(['octavo_flapping_fields{organization="org_2",kind="team"} 1']);
});
