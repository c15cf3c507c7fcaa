/** Organizations of a replica while the database or the platform cannot be used. */
import { expect, test } from 'vitest';
import type { OrganizationConfig } from '../../../src/config/config.ts';
import { StoreError } from '../../../src/core/errors.ts';
import { EventBus } from '../../../src/core/event-bus.ts';
import { FleetOrganizations, type OrganizationOpener } from '../../../src/daemon/fleet/organizations.ts';
import type { Feature } from '../../../src/daemon/organization/feature.ts';
import type { ManagedOrganization } from '../../../src/daemon/organization/managed-organization.ts';
import { HeldLease } from '../../../src/fleet/own-leases.ts';
import { createLogger } from '../../../src/log.ts';
import { createVirtualClock } from '../../queue/virtual-clock.ts';

const CONFIG = { id: 'acme' } as OrganizationConfig;

function openOrganizations(over: {
  check?: () => Promise<void>;
  start?: () => Promise<void>;
  close?: () => Promise<void>;
}) {
  const clock = createVirtualClock();
  const events: string[] = [];
  const feature = (name: string, failing: Partial<Feature> = {}): Feature => ({
    stage: 1,
    start: async () => {
      await failing.start?.();
      events.push(`start ${name}`);
    },
    once: async () => true,
    stop: async () => void events.push(`stop ${name}`),
  });
  const opener: OrganizationOpener = {
    open: async ({ config, lease }) => {
      events.push(`open ${lease.epoch}`);
      const features = [feature('first'), feature('second', over)];
      return {
        id: 'acme',
        config,
        lease,
        features,
        clusters: { check: over.check ?? (async () => undefined) },
        queue: { recheck: () => undefined },
      } as unknown as ManagedOrganization;
    },
    close: over.close ?? (async () => undefined),
  };
  const log = createLogger({ level: 'fatal', format: 'json', secrets: [] });
  const organizations = new FleetOrganizations({ clock, log, events: new EventBus() }, opener);
  organizations.setOrganizations([CONFIG]);
  const claim = (epoch: number) => {
    const claimed = { name: 'organization/acme', epoch, sequence: epoch, claimedAt: 0 };
    const lease = new HeldLease(claimed, () => 60_000);
    organizations.begin(lease);
    return lease;
  };
  return { clock, events, organizations, claim };
}

/** Returns a function that fails this many times. */
function failing(count: number): () => Promise<void> {
  let left = count;
  return async () => {
    left -= 1;
    if (left >= 0) {
      throw new StoreError('the database is gone');
    }
  };
}

test.each([
  ['check', { check: failing(3) }],
  ['start', { start: failing(3) }],
])('an organization is started again until the %s succeeds, and each feature starts once', async (_, over) => {
  const { clock, events, organizations, claim } = openOrganizations(over);
  await organizations.start();
  claim(1);
  await clock.advance(14_000);
  expect(events).not.toContain('start second');
  await clock.advance(60_000);
  expect(events).toEqual(['open 1', 'start first', 'start second']);
});

test('an organization whose lease is lost is not started again', async () => {
  const { clock, events, organizations, claim } = openOrganizations({ check: failing(3) });
  await organizations.start();
  const lease = claim(1);
  await clock.advance(1000);
  lease.end();
  await organizations.end(lease);
  await clock.advance(60_000);
  expect(events).toEqual(['open 1', 'stop first', 'stop second']);
});

test('an organization whose connection cannot be closed is opened under the next lease', async () => {
  const { clock, events, organizations, claim } = openOrganizations({ close: failing(1) });
  await organizations.start();
  const lease = claim(1);
  await clock.advance(1000);
  await organizations.end(lease);
  claim(2);
  await clock.advance(1000);
  expect(events).toEqual([
    ...['open 1', 'start first', 'start second', 'stop first', 'stop second'],
    ...['open 2', 'start first', 'start second'],
  ]);
});
