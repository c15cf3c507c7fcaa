/** Metrics of passes, queues and channels, and which of them a replica exports. */
import { describe, expect, test } from 'vitest';
import type { Change, ChangeResult } from '../../src/core/change.ts';
import {
  AuthError,
  CancelledError,
  DesiredStateError,
  NotThePlatformError,
  SourceError,
  StoreError,
  TransientError,
} from '../../src/core/errors.ts';
import type { QueueSnapshot } from '../../src/queue/snapshot.ts';
import type { PassEnd, PassEvents } from '../../src/reconcile/pass.ts';
import { createMetrics, type Metrics } from '../../src/server/metrics.ts';
import { someBudget, someQueue } from '../web/some-backend.ts';

/** Exported lines whose text starts with one of these. */
async function linesOf({ registry }: Metrics, ...starts: readonly string[]): Promise<string[]> {
  const lines = (await registry.metrics()).split('\n');
  return lines.filter((line) => starts.some((start) => line.startsWith(`octavo_${start}`)));
}

/** Reports the end of a pass; `planned` null: it made no plan. */
function end(
  listener: PassEvents,
  over: Partial<Omit<PassEnd, 'plan'>>,
  planned: readonly Partial<Change>[] | null = [],
): void {
  const changes = planned?.map((each) => ({ action: 'update', kind: 'team', held: null, paused: null, ...each }));
  const plan = planned === null ? null : { changes };
  listener.onPassEnd?.({
    ...{ outcome: 'done', milliseconds: 1500, endedAt: 1_800_000_000_000, results: [], error: null },
    ...over,
    plan,
  } as unknown as PassEnd);
}

const failed = (address: string, id: string | null = null): ChangeResult => {
  return { address, action: 'update', status: 'failed', error: 'no', id };
};
const source = (commit: string | null) => ({ commit }) as Parameters<NonNullable<PassEvents['onSource']>>[0];
const ofKinds = (...kinds: string[]) => kinds.map((kind) => ({ kind })) as never;

describe('the metrics of passes', () => {
  test('count passes, changes and drift, and show what waits', async () => {
    const metrics = createMetrics();
    const listener = metrics.passes('org_1');
    end(listener, { outcome: 'failed', milliseconds: 900, results: [failed('team/a')] }, [
      ...[{ address: 'team/a' }, { address: 'team/b', held: 'asks' }, { address: 'team/c', held: 'asks' }],
      { address: 'team/d', paused: { reason: '', until: null } },
    ]);
    end(listener, {}, null);
    end(listener, { outcome: 'failed', milliseconds: 500, endedAt: 1_900_000_000_000 }, null);
    listener.onResult?.({ ...failed('team/a'), action: 'create', status: 'applied' }, { kind: 'team' } as Change);
    const drift = ['a', 'b'].map((name) => ({ kind: 'site', action: 'update', address: `site/${name}` })) as Change[];
    for (const found of [drift, drift, [], drift]) {
      listener.onPlan?.(null as never, found);
    }
    expect(await linesOf(metrics, 'reconcile_', 'changes_', 'drifted_')).toEqual([
      'octavo_reconcile_passes_total{organization="org_1",outcome="failed"} 2',
      'octavo_reconcile_passes_total{organization="org_1",outcome="done"} 1',
      'octavo_reconcile_last_duration_seconds{organization="org_1"} 0.5',
      'octavo_reconcile_last_success_timestamp_seconds{organization="org_1"} 1800000000',
      'octavo_changes_total{organization="org_1",kind="team",action="create",status="applied"} 1',
      'octavo_changes_pending{organization="org_1",status="held"} 2',
      'octavo_changes_pending{organization="org_1",status="failed"} 1',
      'octavo_changes_pending{organization="org_1",status="paused"} 1',
      // Drift that stays is counted once.
      'octavo_drifted_resources_total{organization="org_1",kind="site"} 4',
    ]);
  });

  test('show the last valid commit, also while the source is invalid', async () => {
    const metrics = createMetrics();
    const listener = metrics.passes('org_1');
    listener.onSource?.(source('aaa'));
    listener.onSource?.(source('bbb'));
    listener.onBadSource?.(new Error('no'), 'bbb', null);
    expect(await linesOf(metrics, 'source_')).toEqual([
      'octavo_source_ready{organization="org_1"} 0',
      'octavo_source_commit_info{organization="org_1",commit="bbb"} 1',
    ]);
  });

  test('name failing changes and organizations only while they fail', async () => {
    const metrics = createMetrics();
    const [one, two] = [metrics.passes('org_1'), metrics.passes('org_2')];
    const named = () => linesOf(metrics, 'change_failing{', 'organization_failing{');
    end(one, { outcome: 'failed', results: [failed('team/a'), failed('team/b')] });
    end(two, { outcome: 'failed', results: [failed('team/a')], error: new AuthError('no', 401) });
    expect(await named()).toEqual([
      'octavo_change_failing{organization="org_1",kind="team",address="team/a"} 1',
      'octavo_change_failing{organization="org_1",kind="team",address="team/b"} 1',
      'octavo_change_failing{organization="org_2",kind="team",address="team/a"} 1',
      'octavo_organization_failing{organization="org_1",reason="changes"} 1',
      'octavo_organization_failing{organization="org_2",reason="unauthorized"} 1',
    ]);
    end(one, { outcome: 'failed', results: [failed('team/b')], error: new StoreError('no') });
    end(two, {});
    const kept = [
      'octavo_change_failing{organization="org_1",kind="team",address="team/b"} 1',
      'octavo_organization_failing{organization="org_1",reason="state"} 1',
    ];
    expect(await named()).toEqual(kept);
    // Without a plan, it is not known which changes would fail.
    end(one, { outcome: 'failed', error: new StoreError('no') }, null);
    expect(await named()).toEqual(kept);
    end(one, { outcome: 'failed', results: Array.from({ length: 1000 }, (_, index) => failed(`team/${index}`)) });
    expect(await named()).toHaveLength(101);
  });

  test.each<[string | null, Error | null, number]>([
    ['unauthorized', new AuthError('no', 401), 0],
    ['unreachable', new TransientError('no', false), 0],
    ['unreachable', new NotThePlatformError('no'), 0],
    ['unreachable', new CancelledError('no', { cause: new TransientError('no', false) }), 0],
    ['timeout', new CancelledError('no'), 0],
    ['invalid_manifests', new DesiredStateError([]), 0],
    ['source', new SourceError('no'), 0],
    ['state', new StoreError('no'), 0],
    ['unknown', new Error('no'), 0],
    ['changes', null, 2],
    [null, null, 0],
  ])('have the reason %s for a failed pass with %o and %i failed changes', async (reason, error, count) => {
    const metrics = createMetrics();
    const results = Array.from({ length: count }, () => failed('team/a'));
    const listener = metrics.passes('org_1');
    const line = `octavo_organization_failing{organization="org_1",reason="${reason}"} 1`;
    end(listener, { outcome: 'failed', error, results });
    expect(await linesOf(metrics, 'organization_failing{')).toEqual(reason === null ? [] : [line]);
    // Errors on the way did not make it fail.
    end(listener, { outcome: 'done', error, results });
    expect(await linesOf(metrics, 'organization_failing{')).toEqual([]);
  });

  test('count flapping fields by kind, until they stop', async () => {
    const metrics = createMetrics();
    metrics.passes('org_1').onFlapping?.(ofKinds('team', 'site', 'team'));
    metrics.passes('org_2').onFlapping?.(ofKinds('team'));
    expect(await linesOf(metrics, 'flapping_fields{')).toEqual([
      'octavo_flapping_fields{organization="org_1",kind="team"} 2',
      'octavo_flapping_fields{organization="org_1",kind="site"} 1',
      'octavo_flapping_fields{organization="org_2",kind="team"} 1',
    ]);
    metrics.passes('org_1').onFlapping?.([]);
    expect(await linesOf(metrics, 'flapping_fields{')).toEqual([
      'octavo_flapping_fields{organization="org_2",kind="team"} 1',
    ]);
  });
});

describe('the metrics of queues', () => {
  const snapshot = (over: Partial<QueueSnapshot>) => someQueue({ waiting: { apply: 4 } as never, ...over });

  test('count requests, and show what waits and the limits', async () => {
    const metrics = createMetrics();
    const attempt = {
      kind: 'attempt',
      name: 'listTeams',
      class: 'read',
      priority: 'apply',
      waited: 500,
      took: 1,
    } as const;
    metrics.queueEvent({ ...attempt, outcome: 'answered' });
    metrics.queueEvent({ ...attempt, outcome: 'refused' });
    metrics.queueEvent({ kind: 'breaker', state: 'open' });
    const budgets = [
      someBudget({ limit: 60, remaining: 12 }),
      someBudget({ classes: ['write'], operations: ['addPage'], limit: null, remaining: null, cooldown: 30_000 }),
    ];
    metrics.queue('org_1', snapshot({ oldest: 2000, breaker: 'half-open', budgets }));
    expect(await linesOf(metrics, 'requests_total{', 'request_wait_seconds_c', 'rate_', 'queue_', 'budget_')).toEqual([
      'octavo_requests_total{class="read",outcome="answered"} 1',
      'octavo_requests_total{class="read",outcome="refused"} 1',
      'octavo_request_wait_seconds_count{class="read"} 2',
      'octavo_rate_limited_total{class="read"} 1',
      'octavo_queue_waiting{queue="org_1",priority="apply"} 4',
      'octavo_queue_oldest_wait_seconds{queue="org_1"} 2',
      'octavo_queue_circuit_breaker_open{queue="org_1"} 1',
      'octavo_budget_limit{queue="org_1",class="read"} 60',
      'octavo_budget_remaining{queue="org_1",class="read"} 12',
      'octavo_budget_cooldown_seconds{queue="org_1",class="read"} 0',
      'octavo_budget_cooldown_seconds{queue="org_1",class="write addPage"} 30',
    ]);
    expect(await linesOf(createMetrics(), 'rate_limited_total{')).toEqual([]);
  });

  test('lose the budgets of classes that were joined', async () => {
    const metrics = createMetrics();
    const [read, write] = [someBudget(), someBudget({ classes: ['write'] })];
    metrics.queue('org_2', snapshot({ budgets: [read] }));
    metrics.queue('org_1', snapshot({ budgets: [read, write] }));
    metrics.queue('org_1', snapshot({ budgets: [someBudget({ classes: ['read', 'write'] })] }));
    expect(await linesOf(metrics, 'budget_limit{')).toEqual([
      'octavo_budget_limit{queue="org_2",class="read"} 100',
      'octavo_budget_limit{queue="org_1",class="read+write"} 100',
    ]);
  });

  test('have the limit of a token only at the owner of its first organization, and the rest at each replica', async () => {
    const metrics = createMetrics();
    metrics.registry.limitTo({ organization: (id) => id === 'org_1', queue: () => true, receiver: () => true });
    metrics.queue('org_1', snapshot({}));
    metrics.queue('org_2', snapshot({}));
    const namesOf = async (queue: string) =>
      (await linesOf(metrics, '')).flatMap((line) => (line.includes(`queue="${queue}"`) ? line.split('{', 1) : []));
    const limits = ['octavo_budget_limit', 'octavo_budget_remaining'];
    const all = await namesOf('org_1');
    expect(all).toEqual(expect.arrayContaining([...limits, 'octavo_budget_cooldown_seconds', 'octavo_queue_waiting']));
    expect(await namesOf('org_2')).toEqual(all.filter((name) => !limits.includes(name)));
  });
});

test('metrics are only of organizations and queues that this process has', async () => {
  const metrics = createMetrics();
  const owned = new Set(['org_1', 'org_2']);
  const observe = (id: string) => {
    const listener = metrics.passes(id);
    listener.onSource?.(source('aaa'));
    listener.onResult?.(failed('team/a'), undefined);
    end(listener, { outcome: 'failed', results: [failed('team/a')] });
    metrics.push(id, 'accepted', 1000);
    metrics.queue(id, someQueue({ budgets: [] }));
  };
  const about = async (id: string) => (await linesOf(metrics, '')).filter((line) => line.includes(`"${id}"`));
  metrics.registry.limitTo({
    organization: (id) => owned.has(id),
    queue: (name) => owned.has(name),
    receiver: (id) => id !== 'org_3',
  });
  for (const id of ['org_1', 'org_2', 'org_3']) {
    observe(id);
  }
  const both = await about('org_1');
  expect((await about('org_2')).map((line) => line.replaceAll('org_2', 'org_1'))).toEqual(both);
  expect(both.length).toBeGreaterThan(8);
  expect(await about('org_3')).toEqual([]);

  owned.delete('org_2');
  // A webhook is counted by the replica that receives it.
  const received = (await about('org_2')).map((line) => line.split('{', 1)[0]);
  expect(received).toEqual(['octavo_push_webhook_requests_total', 'octavo_push_webhook_last_timestamp_seconds']);
  expect(await about('org_1')).toEqual(both);

  // Work that ends late writes once more; then the organization comes back with the same commit.
  observe('org_2');
  expect(await about('org_2')).toHaveLength(2);
  owned.add('org_2');
  observe('org_2');
  const present = (lines: readonly string[]) => lines.filter((line) => !line.includes('webhook'));
  expect(present(await about('org_2'))).toEqual(present(both).map((line) => line.replaceAll('org_1', 'org_2')));
});

test('attempts of a channel are exported before the first one, so that Prometheus sees it as an increase', async () => {
  const metrics = createMetrics();
  metrics.channels(['ops']);
  const attempts = async () =>
    (await linesOf(metrics, 'notification_attempts_total{')).map((line) => line.replace(/.*outcome="(.*)"} /, '$1 '));
  expect(await attempts()).toEqual(['sent 0', 'failed 0', 'given-up 0']);
  metrics.notification('ops', 'given-up');
  expect(await attempts()).toEqual(['sent 0', 'failed 0', 'given-up 1']);
});
