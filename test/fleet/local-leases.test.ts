// Leases of a process with a state file.
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { LocalLeases } from '../../src/fleet/local-leases.ts';
import type { Lease } from '../../src/store/leases.ts';

const organizations = (...ids: string[]) => ids.map((id) => ({ id, shard: `s-${id}` }));

function openLeases() {
  const events: string[] = [];
  const leases: Lease[] = [];
  const held = new Map<string, () => void>();
  const local = new LocalLeases(systemClock, {
    begin: (lease) => {
      leases.push(lease);
      events.push(`begin ${lease.name}`);
    },
    end: (lease) => {
      events.push(`end ${lease.name}`);
      return new Promise((resolve) => held.set(lease.name, resolve));
    },
  });
  return { local, events, leases, held };
}

describe('leases of a state file', () => {
  test('everything begins at the start, and later only the organizations that changed begin and end', async () => {
    const { local, events, leases, held } = openLeases();
    local.setOrganizations(organizations('a', 'b'));
    expect(events).toEqual([]);
    await local.start();
    expect(events.splice(0)).toEqual(['begin fleet', 'begin organization/a', 'begin organization/b']);
    expect(leases.map((lease) => [lease.epoch, lease.left()])).toEqual(Array(3).fill([0, Number.POSITIVE_INFINITY]));
    local.setOrganizations([...organizations('a', 'c'), { id: 'd', shard: 's-a' }]);
    expect(events).toEqual(['end organization/b', 'begin organization/d', 'begin organization/c']);
    held.get('organization/b')?.();
    await Promise.resolve().then(() => new Promise(setImmediate));
    const lost = leases.filter((lease) => lease.lost.aborted).map((lease) => [lease.name, lease.left()]);
    expect(lost).toEqual([['organization/b', 0]]);
  });

  test('an organization that gets another token begins again once its work has ended', async () => {
    const { local, events, held } = openLeases();
    local.setOrganizations(organizations('a'));
    await local.start();
    local.setOrganizations([{ id: 'a', shard: 'other' }]);
    local.setOrganizations([{ id: 'a', shard: 'other' }]);
    expect(events.slice(2)).toEqual(['end organization/a']);
    held.get('organization/a')?.();
    await new Promise(setImmediate);
    expect(events.slice(2)).toEqual(['end organization/a', 'begin organization/a']);
  });

  test('draining ends everything once, and nothing begins afterwards', async () => {
    const { local, events, held } = openLeases();
    local.setOrganizations(organizations('a'));
    await local.start();
    const drained = Promise.all([local.drain(1000), local.drain(1000)]);
    local.setOrganizations(organizations('a', 'b'));
    expect(events.slice(2)).toEqual(['end fleet', 'end organization/a']);
    for (const end of held.values()) {
      end();
    }
    await drained;
    expect(events).toHaveLength(4);
    expect(local.status()).toMatchObject({ leases: [] });
  });
});
