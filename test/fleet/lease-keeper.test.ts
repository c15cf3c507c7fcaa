// Renewal of leases: what a replica believes while the database fails, stalls or answers late.
import { describe, expect, test } from 'vitest';
import { LeaseKeeper } from '../../src/fleet/lease-keeper.ts';
import type { HeldLease } from '../../src/fleet/own-leases.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';
import { type CallFate, LeaseTableModel } from './lease-table-model.ts';

const TTL = 60_000;
/** Milliseconds between renewals. */
const INTERVAL = 4000;
/** Milliseconds that a replica relies on: its clock may be 10 % slower than that of the database. */
const CERTAIN = 54_000;

function openKeeper(fate: (method: string) => CallFate = () => ({ request: 0, answer: 0 })) {
  const clock = createVirtualClock();
  /** Milliseconds for which the process was suspended, while the database went on. */
  let jump = 0;
  const model = new LeaseTableModel(clock);
  const calls: { method: string; at: number }[] = [];
  const lost: HeldLease[] = [];
  const claimed: HeldLease[] = [];
  const failures: (string | null)[] = [];
  const { leases } = model.open((method) => {
    calls.push({ method, at: clock.monotonic() });
    return fate(method);
  });
  const keeper = new LeaseKeeper({
    table: leases,
    clock: { ...clock, monotonic: () => clock.monotonic() + jump },
    ttl: TTL,
    self: () => ({ id: 'r1', version: '1', address: 'host', weight: 1, isDraining: false }),
    onClaimed: (lease) => claimed.push(lease),
    onLost: (lease) => lost.push(lease),
    onFailure: (reason) => failures.push(reason),
  });
  model.define(['a', 'b', 'c']);
  return {
    ...{ clock, model, keeper, calls, lost, claimed, failures },
    renewals: () => calls.filter(({ method }) => method === 'renew').map(({ at }) => at - 1000),
    freeze: (milliseconds: number) => {
      jump += milliseconds;
    },
  };
}

async function startHolding(keeper: LeaseKeeper, names: readonly string[] = ['a']) {
  await keeper.join();
  void keeper.run();
  await keeper.claim(names, names.length);
}

describe('renewal', () => {
  test('renews every 4 s, and lasts from before the renewal was sent', async () => {
    let answer = 0;
    const { clock, keeper, renewals, claimed } = openKeeper(() => ({ request: 0, answer }));
    await startHolding(keeper);
    answer = 2000;
    await clock.advance(INTERVAL);
    expect(keeper.left()).toBe(CERTAIN - INTERVAL);
    await clock.advance(2000);
    expect(claimed[0]?.left()).toBe(CERTAIN - 2000);
    await clock.advance(10_000);
    expect(renewals()).toEqual([0, 4000, 8000, 12_000, 16_000]);
    expect(claimed.map(({ name, epoch, lost }) => [name, epoch, lost.aborted])).toEqual([['a', 1, false]]);
  });

  test('a stalled renewal is followed by others, a few at a time, and its late answer counts for its own time', async () => {
    let stalls = false;
    const { clock, keeper, renewals, failures, claimed } = openKeeper(() => ({
      request: 0,
      answer: stalls ? 30_000 : 0,
    }));
    await startHolding(keeper);
    stalls = true;
    await clock.advance(33_000);
    expect(renewals()).toEqual([0, 4000, 9000, 14_000]);
    expect(failures).toEqual(['no answer for 5000 ms']);
    expect(keeper.left()).toBe(CERTAIN - 33_000);
    await clock.advance(1000);
    // The answer of the renewal that was sent at 4 s.
    expect(keeper.left()).toBe(CERTAIN - 30_000);
    expect(claimed[0]?.lost.aborted).toBe(false);
  });
});

describe('a process that was suspended', () => {
  test('believes nothing before the next renewal, although no timer has run', async () => {
    const { model, keeper, claimed, freeze, lost, clock } = openKeeper();
    await startHolding(keeper);
    freeze(CERTAIN + 1);
    expect(claimed[0]?.left()).toBe(-1);
    expect(keeper.left()).toBe(-1);
    // Another replica takes the lease before this one renews.
    model.remove('r1');
    await clock.advance(INTERVAL);
    expect(lost.map(({ epoch }) => epoch)).toEqual([1]);
    expect(claimed[0]?.left()).toBe(0);
  });

  test('a renewal that was answered while it was suspended is worth what is left of its time', async () => {
    let answer = 0;
    const { clock, keeper, claimed, freeze } = openKeeper(() => ({ request: 0, answer }));
    await startHolding(keeper);
    answer = 1;
    await clock.advance(INTERVAL);
    freeze(TTL + 5000);
    await clock.advance(1);
    expect(claimed[0]?.left()).toBe(0);
    expect(claimed[0]?.lost.aborted).toBe(true);
  });
});

describe('answers in another order than the requests', () => {
  test('a renewal that was sent before a claim does not take the claimed lease away', async () => {
    let answer = 0;
    const { clock, keeper, lost } = openKeeper((method) => ({ request: 0, answer: method === 'renew' ? answer : 0 }));
    await startHolding(keeper, []);
    answer = 3000;
    await clock.advance(INTERVAL);
    await keeper.claim(['a'], 1);
    await clock.advance(3000);
    expect(lost).toEqual([]);
    expect([...keeper.held.keys()]).toEqual(['a']);
  });

  test('a claim that is answered after an eviction is not believed', async () => {
    let answer = 0;
    const { clock, model, keeper } = openKeeper((method) => ({ request: 0, answer: method === 'claim' ? answer : 0 }));
    await startHolding(keeper, []);
    answer = 20_000;
    const claim = keeper.claim(['a'], 1);
    await clock.advance(1000);
    model.remove('r1');
    await clock.advance(19_000);
    expect(await clock.run(claim)).toBe(0);
    expect(keeper.held.size).toBe(0);
  });

  test('a release that fails is repeated after the next renewal', async () => {
    const { clock, model, keeper, lost } = openKeeper();
    await startHolding(keeper, ['a', 'b']);
    model.isGone = true;
    await keeper.release([...keeper.held.values()].slice(0, 1));
    model.isGone = false;
    expect(model.namesOf('r1')).toEqual(['a', 'b']);
    await clock.advance(INTERVAL);
    expect(model.namesOf('r1')).toEqual(['b']);
    expect(lost).toEqual([]);
  });

  test('an older release does not take a newer claim away', async () => {
    let request = 0;
    const { clock, model, keeper } = openKeeper((method) => ({
      request: method === 'release' ? request : 0,
      answer: 0,
    }));
    await startHolding(keeper, ['a']);
    request = 5000;
    const released = keeper.release([...keeper.held.values()]);
    // The same release reaches the database twice: by the next renewal, and late.
    request = 0;
    keeper.renewNow();
    await clock.advance(0);
    expect(await keeper.claim(['a'], 1)).toBe(1);
    await clock.advance(5000);
    await released;
    expect(model.leases.get('a')).toMatchObject({ holder: 'r1', epoch: 2 });
    expect([...keeper.held.keys()]).toEqual(['a']);
  });
});
