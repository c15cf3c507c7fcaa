/** Writing of states: when, and how much. */
import { expect, test } from 'vitest';
import { LeaseLostError } from '../../../src/core/errors.ts';
import type { Declared } from '../../../src/core/resource.ts';
import { type OwnedState, StatePublisher, StateReader } from '../../../src/daemon/states/states.ts';
import { openMemoryStore } from '../../../src/store/memory.ts';
import type { OrganizationStates, StateChange } from '../../../src/store/organization-states.ts';
import type { KnownResources, OrganizationState, ReconcilerState } from '../../../src/web/model/page.ts';
import { createVirtualClock } from '../../queue/virtual-clock.ts';
import { fakeDaemon } from '../../web/fake-daemon.ts';

/** A table whose writes are recorded, and a publisher of one organization. */
async function openPublisher(before: (change: StateChange) => void = () => undefined) {
  const table = openMemoryStore().organizationStates();
  const writes: StateChange[] = [];
  const states: OrganizationStates = {
    ...table,
    write: async (organization, change) => {
      before(change);
      writes.push(change);
      await table.write(organization, change);
    },
  };
  const clock = createVirtualClock();
  const written: string[] = [];
  const log = { debug: () => undefined };
  const publisher = new StatePublisher({ clock, log } as never, (organization) => written.push(organization));
  const stopping = new AbortController();
  void publisher.run(stopping.signal);
  const parts = () => writes.map((change) => change.parts.map(({ part }) => part));
  return { table, states, clock, publisher, writes, written, parts, stop: () => stopping.abort() };
}

const LEASE = { epoch: 3, lost: new AbortController().signal };

/** State of an organization with this many resources, which tests change. */
async function openState(count: number) {
  const teams = Array.from({ length: count }, (_, index) => `  t-${index}: { title: Team ${index} }`);
  const { backend } = await fakeDaemon({
    id: 'acme',
    plan: { manifests: { 'a.yaml': `teams:\n${teams.join('\n')}` } },
  });
  const [organization] = backend.organizations() as [OrganizationState];
  const reconciler = { ...(organization.reconciler as ReconcilerState) };
  const resources = { ...(await organization.resources()) } as KnownResources;
  const state = {
    reconciler,
    resources,
    statuses: null,
    queue: null,
    clusters: {
      overview: { lastRun: null, clusters: [], omitted: 0 },
      stored: async () => ({ changeRequests: [], examples: new Map(), issuesAtMerge: new Map(), mutes: new Map() }),
    },
    ingestion: { sender: { kind: 'idle' }, inFlight: 0, errors: new Map() },
  } satisfies OwnedState;
  return { state, reconciler: reconciler as { -readonly [K in keyof ReconcilerState]: ReconcilerState[K] } };
}

test('a state is written at once, then at most once a second, and only the parts that differ', async () => {
  const { states, clock, publisher, parts, writes, written } = await openPublisher();
  const { state, reconciler } = await openState(1);
  publisher.add({ id: 'acme', lease: LEASE, states, read: () => state });
  await clock.advance(10);
  expect(parts()).toEqual([['end', 'plan', 'bindings/1/0', 'declared/1/0', 'ingestion', 'status']]);
  expect(writes[0]).toMatchObject({ epoch: 3, at: clock.now() - 10, removed: [] });
  for (let change = 0; change < 5; change += 1) {
    reconciler.isRunning = change % 2 === 0;
    publisher.changed('acme');
    await clock.advance(100);
  }
  expect(writes).toHaveLength(1);
  await clock.advance(1000);
  expect(parts().slice(1)).toEqual([['status']]);
  expect(written).toEqual(['acme', 'acme']);
  publisher.changed('acme');
  await clock.advance(5000);
  expect(writes).toHaveLength(2);
});

test('the next owner writes only what differs from what the last one wrote', async () => {
  const { states, clock, publisher, parts } = await openPublisher();
  const { state } = await openState(1);
  publisher.add({ id: 'acme', lease: LEASE, states, read: () => state });
  await clock.advance(10);
  publisher.remove('acme');
  publisher.add({ id: 'acme', lease: { ...LEASE, epoch: 4 }, states, read: () => ({ ...state, reconciler: null }) });
  await clock.advance(10);
  expect(parts().slice(1)).toEqual([['status']]);
});

test('a write that fails is repeated from the beginning, and none is after the lease is lost', async () => {
  let failure: Error | null = new Error('connection reset');
  const { states, clock, publisher, parts, written } = await openPublisher(() => {
    if (failure !== null) {
      throw failure;
    }
  });
  const { state } = await openState(1);
  publisher.add({ id: 'acme', lease: LEASE, states, read: () => state });
  await clock.advance(100);
  expect(parts()).toEqual([]);
  failure = null;
  await clock.advance(5000);
  expect(parts()[0]).toHaveLength(6);
  failure = new LeaseLostError('organization/acme');
  publisher.changed('acme');
  await clock.advance(60_000);
  expect(written).toEqual(['acme']);
});

test('of 5,000 resources, a commit that changes one writes less than a tenth', async () => {
  const { states, table, clock, publisher, writes } = await openPublisher();
  const { state } = await openState(5000);
  const size = (change: StateChange | undefined) =>
    (change?.parts ?? []).reduce((sum, { content }) => sum + content.length, 0);
  publisher.add({ id: 'acme', lease: LEASE, states, read: () => state });
  await clock.advance(10);
  expect(size(writes[0])).toBeLessThan(8_000_000);
  const declared = new Map(state.resources.declared);
  const one = declared.get('team/t-7') as Declared;
  declared.set('team/t-7', { ...one, fields: { ...one.fields, title: 'Renamed' } });
  state.resources = { ...state.resources, declared };
  publisher.changed('acme');
  await clock.advance(2000);
  expect(writes).toHaveLength(2);
  expect(size(writes[1])).toBeLessThan(size(writes[0]) / 10);

  const reader = new StateReader(table);
  await reader.refresh(new Set(['acme']));
  expect(reader.find('acme')?.reconciler.lastDesired?.state.declared.size).toBe(5000);
  const known = await reader.resources('acme');
  expect(known?.declared.get('team/t-7')?.fields.title).toBe('Renamed');
  expect(known?.declared.size).toBe(5000);
});
