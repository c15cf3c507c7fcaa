/** Reports of facts: what is reported again, and what a restart keeps. */
import { expect, test } from 'vitest';
import { AuthError, LeaseLostError, StoreError } from '../../../src/core/errors.ts';
import { EventBus } from '../../../src/core/event-bus.ts';
import { FactCollector, PassActivities } from '../../../src/daemon/fact-collector.ts';
import { configuredReporters } from '../../../src/daemon/facts/reporting.ts';
import type { DaemonEvents } from '../../../src/daemon/organization/feature.ts';
import type { Lease } from '../../../src/store/leases.ts';
import { openMemoryStore } from '../../../src/store/memory.ts';
import type { FactReport, Notifications } from '../../../src/store/notifications.ts';
import type { Backend, OrganizationState } from '../../../src/web/model/page.ts';
import { NOW, someBackend, someOrganization, someQueue, someSource } from '../../web/some-backend.ts';

function openCollector(store = openMemoryStore(), error: string | null = 'no', now = NOW) {
  const reports: FactReport[] = [];
  const notifications = store.notifications();
  const sources = [{ name: 'help', pollInterval: 1000 }];
  const outcomes = { answered: 0, rejected: 0, refused: 0, failed: 0, retried: 0, cancelled: 0 };
  const token = { breaker: 'closed' as 'closed' | 'open', answered: 0 };
  const snapshot = () => ({
    ...someQueue(),
    breaker: token.breaker,
    outcomes: { ...outcomes, answered: token.answered },
  });
  const some = someOrganization('acme', { sources, queue: { snapshot }, status: { sources: [someSource({ error })] } });
  const acme = { ...some, config: { ...some.config, schedule: { drift: '*/5 * * * *' } } };
  const backend = someBackend([acme]);
  const lease = { epoch: 1, isLost: false };
  /** Which leases this replica has. */
  const has = { acme: true, shared: true };
  const opened = startCollector({ ...backend, clock: { ...backend.clock, now: () => now } }, notifications, {
    find: () => (has.acme ? lease.epoch : null),
    shared: () => (has.shared ? lease.epoch : null),
    report: (each) => {
      if (lease.isLost) {
        return Promise.reject(new LeaseLostError('organization/acme'));
      }
      reports.push(each);
      return notifications.report(each);
    },
  });
  return { ...opened, lease, has, token, backend, reports, notifications };
}

/** Starts a collector whose leases have these epochs (null: another replica has the lease). */
function startCollector(
  backend: Backend,
  notifications: Notifications,
  {
    find,
    shared = () => null,
    report = (each) => notifications.report(each),
  }: {
    find: (id: string) => number | null;
    shared?: () => number | null;
    report?: Notifications['report'];
  },
) {
  const _events = new EventBus<DaemonEvents>();
  const leaseOf = (epoch: number | null) => (epoch === null ? null : ({ epoch } as Lease));
  let woken = 0;
  const context = {
    config: { platform: { baseUrl: 'https://api.example' } },
    store: { notifications: () => notifications, fenced: () => ({ notifications: () => ({ report }) }) },
    log: { warn: () => undefined, debug: () => undefined },
    clock: backend.clock,
  } as never;
  const sender = {
    get lease() {
      return leaseOf(shared());
    },
    wake: () => {
      woken += 1;
    },
  };
  const organizations = {
    find: (id: string) => {
      const lease = leaseOf(find(id));
      return lease === null ? undefined : { lease };
    },
  };
  const parts = { context, notifications: sender, organizations, model: backend };
  const collector = new FactCollector(parts, new PassActivities(backend.clock));
  collector.start();
  return { collector, markChanged: (id: string) => collector.markChanged(id), woken: () => woken };
}

test('facts are written once, by reporters of the configuration, and again only when they change', async () => {
  const { collector, markChanged, reports, woken, backend } = openCollector();
  await collector.collect();
  const [{ config }] = backend.organizations() as [OrganizationState];
  expect(configuredReporters([config], false)).toEqual(expect.arrayContaining(reports.map(({ reporter }) => reporter)));
  const written = reports.length;
  expect(reports.flatMap(({ facts }) => facts.map(({ code }) => code))).toEqual(['connector-failing']);
  markChanged('acme');
  await collector.collect();
  expect([reports.length, woken()]).toEqual([written, 1]);
});

test('a restart keeps the time since when something is true, and what is not known yet', async () => {
  const store = openMemoryStore();
  const before = openCollector(store);
  await before.collector.collect();
  const scope = { organization: null, token: null, platform: 'https://api.example' };
  const platform = { code: 'platform-failing', scope, subject: '', since: NOW, details: [], path: null } as const;
  await store.notifications().report({ reporter: 'platform/acme', facts: [{ ...platform, summary: 'dead' }] });
  const after = openCollector(store, 'no', NOW + 3_600_000);
  await after.collector.collect();
  const facts = await store.notifications().facts();
  expect(facts.map(({ code, since }) => [code, since]).toSorted()).toEqual([
    ['connector-failing', NOW],
    ['platform-failing', NOW],
  ]);
});

/** Opens the collector of a replica that has these organizations of three with one token. */
function openReplica(notifications: Notifications, organizations: readonly OrganizationState[], owned: Set<string>) {
  const { collector, markChanged } = startCollector(someBackend(organizations), notifications, {
    find: (id) => (owned.has(id) ? 1 : null),
  });
  return async () => {
    for (const { id } of organizations) {
      markChanged(id);
    }
    await collector.collect();
  };
}

test('a fact that was stored without an answer ends when it is not true any more', async () => {
  const real = openMemoryStore().notifications();
  let isLost = false;
  const report = async (each: FactReport) => {
    const hasChanged = await real.report(each);
    if (isLost) {
      throw new StoreError('the state did not answer; wait');
    }
    return hasChanged;
  };
  const source = { ...someSource({ error: null }) } as { error: string | null };
  const sources = [{ name: 'help', pollInterval: 1000 }];
  const organization = someOrganization('acme', { sources, status: { sources: [source as never] } });
  const collect = openReplica({ ...real, report }, [organization], new Set(['acme']));
  const codes = async () => (await real.facts()).map(({ code }) => code);
  await collect();
  expect(await codes()).toEqual([]);
  [source.error, isLost] = ['no', true];
  await collect();
  expect(await codes()).toEqual(['connector-failing']);
  [source.error, isLost] = [null, false];
  await collect();
  expect(await codes()).toEqual([]);
});

test('replicas that divide the organizations of a token report each fact about it together', async () => {
  const notifications = openMemoryStore().notifications();
  const waiting = { person: 1, apply: 0, clusters: 0, ingestion: 0, drift: 0 };
  /** The organizations as a replica sees them, of whose queue the oldest request has waited for these minutes. */
  const organizations = (minutes: number, refused: readonly string[]) =>
    ['a', 'b', 'c'].map((id) => {
      const queue = { name: 'a', snapshot: () => someQueue({ waiting, oldest: minutes * 60_000 }) };
      const some = someOrganization(id, { queue });
      const error = refused.includes(id) ? new AuthError('no', 401) : null;
      const lastEnd = { outcome: 'failed' as const, plan: null, results: [], error, endedAt: NOW, retryIn: null };
      const rest = { lastCheck: null, lastDesired: null, isRunning: false, reached: 0, failingSince: NOW };
      const config = { ...some.config, schedule: { drift: '*/5 * * * *' } };
      return { ...some, config, reconciler: { ...rest, lastEnd } };
    });
  const codes = async () =>
    (await notifications.facts())
      .filter(({ scope }) => scope.organization === null)
      .map(({ code, details }) => [code, ...details])
      .toSorted();
  await openReplica(notifications, organizations(1, ['a']), new Set(['a']))();
  await openReplica(notifications, organizations(9, ['b', 'c']), new Set(['b', 'c']))();
  expect(await codes()).toEqual([['budget-starved'], ['token-refused', 'a', 'b', 'c']]);
  // The first replica does not take back what the second one has reported.
  await openReplica(notifications, organizations(1, []), new Set(['a']))();
  expect(await codes()).toEqual([['budget-starved'], ['token-refused', 'b', 'c']]);
  // The third one takes over b.
  await openReplica(notifications, organizations(1, []), new Set(['b']))();
  await openReplica(notifications, organizations(9, ['c']), new Set(['c']))();
  expect(await codes()).toEqual([['budget-starved'], ['token-refused', 'c']]);
  await openReplica(notifications, organizations(1, []), new Set(['c']))();
  expect(await codes()).toEqual([]);
});

test('after the loss of a lease nothing is written, and the next owner corrects what it finds', async () => {
  const store = openMemoryStore();
  const first = openCollector(store);
  first.lease.isLost = true;
  await first.collector.collect();
  expect([first.reports, first.woken()]).toEqual([[], 0]);
  expect(await store.notifications().facts()).toEqual([]);

  Object.assign(first.lease, { epoch: 2, isLost: false });
  await first.collector.collect();
  const codes = async () => (await store.notifications().facts()).map(({ code }) => code);
  expect(await codes()).toEqual([]);
  first.markChanged('acme');
  await first.collector.collect();
  expect(await codes()).toEqual(['connector-failing']);

  // Meanwhile another replica has had the organization and the shared work.
  const [configuration] = first.reports.filter(({ reporter }) => reporter === 'configuration');
  expect(configuration?.facts).toEqual([]);
  const scope = { organization: null, token: null, platform: 'https://api.example' };
  const dead = { code: 'platform-failing', scope, subject: '', since: NOW, details: [], path: null } as const;
  await store.notifications().report({ reporter: 'configuration', facts: [{ ...dead, summary: 'dead' }] });
  await store.notifications().report({ reporter: 'conversations/acme', facts: [] });
  await first.collector.collect();
  expect(await codes()).toEqual(['platform-failing']);
  first.lease.epoch = 3;
  first.markChanged('acme');
  await first.collector.collect();
  expect(await codes()).toEqual(['connector-failing']);
});

test('the owner of a token reports that the platform fails, and the next one that it works again', async () => {
  const store = openMemoryStore();
  const [first, second] = [openCollector(store), openCollector(store)];
  Object.assign(second.has, { shared: false });
  const codes = async () => (await store.notifications().facts()).map(({ code }) => code);
  first.token.answered = 9;
  await first.collector.collect();
  first.has.acme = false;
  await first.collector.collect();
  second.token.breaker = 'open';
  await second.collector.collect();
  await first.collector.collect();
  expect(await codes()).toContain('platform-failing');

  // The new owner has sent nothing yet: its answers before another replica had the token do not count.
  Object.assign(first.has, { acme: true });
  Object.assign(second.has, { acme: false });
  first.lease.epoch = 2;
  first.token.answered = 0;
  await first.collector.collect();
  expect(await codes()).toContain('platform-failing');
  first.token.answered = 1;
  await first.collector.collect();
  expect(await codes()).not.toContain('platform-failing');
});
