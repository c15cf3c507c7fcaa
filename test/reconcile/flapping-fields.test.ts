import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { Revert } from '../../src/plan/flapping.ts';
import { openReader, openWriter } from '../../src/platform/client.ts';
import type { Connection } from '../../src/platform/connection.ts';
import { OrganizationReconciler } from '../../src/reconcile/organization.ts';
import type { PassEnd, Trigger } from '../../src/reconcile/pass.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';
import { organizationConfig } from '../soak/organization-config.ts';
import { connectTo, openWorld, type World } from '../support/world.ts';
import { reconcilerOptions, sourceOf } from './reconciler-options.ts';

const MINUTE = 60_000;
let world: World;
let connection: Connection;
let store: Store;
let now: number;
let title: string;
let flapping: readonly Revert[];
const clock: Clock = { ...systemClock, now: () => now };

beforeAll(async () => {
  world = await openWorld();
  connection = connectTo(world.emulator.url, world.emulator);
});
beforeEach(async () => {
  await world.begin();
  store = openMemoryStore();
  now = Date.parse('2026-06-01T00:00:00Z');
  title = 'Writers';
  flapping = [];
});
afterAll(async () => {
  await connection.close();
  await world.close();
});

/** Reconciliation of a daemon that is restarted with the stored state. */
function begin(selfHeal = true): (trigger?: Trigger) => Promise<PassEnd> {
  const organization = world.emulator.organization;
  const signal = new AbortController().signal;
  const reconciler = new OrganizationReconciler({
    ...reconcilerOptions(organization, store, signal),
    config: { ...organizationConfig(organization, false), selfHeal },
    source: sourceOf(() => `teams: { writers: { title: ${title} } }`),
    clock,
    openReader: (priority) => openReader(connection, { organization, priority }),
    openWriter: (priority) => openWriter(connection, { organization, priority }),
    parallel: 4,
    events: {
      onFlapping: (found) => {
        flapping = found;
      },
    },
  });
  return async (trigger = 'schedule') => {
    await reconciler.trigger(trigger);
    return reconciler.lastEnd as PassEnd;
  };
}

const team = () => world.emulator.state().teams?.find(({ id }) => id === writers);
let writers = '';
const rename = (to: string) => world.call('PATCH', `/teams/${writers}`, { title: to });

async function start(): Promise<ReturnType<typeof begin>> {
  const pass = begin();
  await pass('start');
  writers = world.emulator.state().teams?.find((each) => each.title === 'Writers')?.id ?? '';
  return pass;
}

/** Renames and passes, five minutes apart, until the title is flapping. */
async function flap(pass: ReturnType<typeof begin>): Promise<void> {
  for (const to of ['Scribes', 'Authors', 'Scribes']) {
    now += 5 * MINUTE;
    await rename(to);
    await pass();
    expect(team()?.title).toBe('Writers');
  }
}

test('reverts a flapping field at growing intervals, across restarts', async () => {
  let pass = await start();
  await flap(pass);
  expect(flapping).toMatchObject([{ address: 'team/writers', path: 'title', times: 3 }]);
  expect(flapping[0]?.seen.map(({ value }) => value)).toEqual(['Authors', 'Scribes']);
  const revertedAt: number[] = [];
  const from = now;
  for (let minute = 5; minute <= 3 * 60; minute += 5) {
    now = from + minute * MINUTE;
    if (team()?.title === 'Writers') {
      await rename('Scribes');
    }
    pass = begin();
    const end = await pass();
    expect(end.outcome).toBe('done');
    if (team()?.title === 'Writers') {
      revertedAt.push(minute);
    } else {
      expect(end.results).toMatchObject([{ status: 'skipped', error: expect.stringContaining('title is flapping') }]);
      expect(end.retryIn).toBeGreaterThan(0);
    }
  }
  expect(revertedAt).toEqual([10, 30, 70, 150]);
  expect(flapping[0]?.times).toBe(7);
});

test('ignores the cooldown in a requested pass, and forgets the field after a commit', async () => {
  const pass = await start();
  await flap(pass);
  now += MINUTE;
  await rename('Scribes');
  await pass();
  expect(team()?.title).toBe('Scribes');
  await pass('manual');
  expect(team()?.title).toBe('Writers');
  await rename('Scribes');
  title = 'Editors';
  await pass('commit');
  expect(team()?.title).toBe('Editors');
  expect(flapping).toEqual([]);
  await rename('Scribes');
  await pass();
  expect(team()?.title).toBe('Editors');
});

test('applies a commit that changes something else, and keeps the flapping field paused', async () => {
  const pass = await start();
  await flap(pass);
  await rename('Scribes');
  title = 'Writers }, editors: { title: Editors';
  const end = await pass('commit');
  expect(end.results).toMatchObject([
    { address: 'team/editors', status: 'applied' },
    { address: 'team/writers', status: 'skipped' },
  ]);
  expect(team()?.title).toBe('Scribes');
});

test('treats a resource that is deleted repeatedly as flapping', async () => {
  const pass = await start();
  for (let time = 0; time < 4; time += 1) {
    now += 5 * MINUTE;
    const id = world.emulator.state().teams?.find((each) => each.title === 'Writers')?.id;
    await world.call('DELETE', `/teams/${id}`);
    await pass();
  }
  expect(flapping).toMatchObject([{ address: 'team/writers', path: '', times: 3 }]);
  expect(world.emulator.state().teams?.some((each) => each.title === 'Writers')).toBe(false);
  now += 10 * MINUTE;
  await pass();
  expect(world.emulator.state().teams?.some((each) => each.title === 'Writers')).toBe(true);
});

test('reverts nothing, and finds no flapping field, when drift is only reported', async () => {
  await start();
  const pass = begin(false);
  for (let time = 0; time < 5; time += 1) {
    now += 5 * MINUTE;
    await rename(`Scribes ${time}`);
    expect((await pass()).outcome).toBe('held');
  }
  expect(flapping).toEqual([]);
});
