// Every method of the store, under a lease that is held, and under one that is lost.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { LeaseLostError } from '../../../src/core/errors.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import type { Store } from '../../../src/store/store.ts';
import { SEED } from '../../support/campaign.ts';
import { hasPostgres } from '../../support/postgres.ts';
import { shareCluster } from '../../support/shared-cluster.ts';
import { FLEET_OPERATIONS } from '../answers/fleet-operations.ts';
import { NOTIFICATION_OPERATIONS } from '../answers/notification-operations.ts';
import { OUTBOX_OPERATIONS } from '../answers/outbox-operations.ts';
import { RECORD_OPERATIONS } from '../answers/record-operations.ts';

/** All methods: the tests of repeated writes ask for each. */
const OPERATIONS = { ...RECORD_OPERATIONS, ...NOTIFICATION_OPERATIONS, ...OUTBOX_OPERATIONS, ...FLEET_OPERATIONS };
const LEASE = 'organization/acme';

const cluster = shareCluster();
let store: Store;
let database: string;
beforeAll(async () => {
  if (!hasPostgres) {
    return;
  }
  const url = await cluster().createDatabase();
  database = new URL(url).pathname.slice(1);
  store = await openPostgresStore({ url, pool: 3 }, systemClock, Math.random);
  const leases = store.fleet()?.leases;
  await leases?.define([LEASE]);
  await leases?.renew({ id: 'a', version: '1', address: 'host', weight: 1, isDraining: false }, 600_000);
  await leases?.claim('a', [LEASE], 1);
}, 60_000);
afterAll(() => store?.close());

/** Returns the content of all tables. */
async function dump(): Promise<string> {
  const [row] = await cluster().query("SELECT schema_to_xml('octavo', true, false, '')::text AS content", database);
  return String(row?.content);
}

describe.runIf(hasPostgres)('under a lease', () => {
  test.each(Object.entries(OPERATIONS))('%s writes only while it is held', async (_name, { input, run }) => {
    const attempt = (epoch: number, value: unknown) =>
      run({ store: store.fenced({ name: LEASE, epoch }), hints: [] }, value).then(
        () => null,
        (error: unknown) => error,
      );
    let before = await dump();
    for (const value of fc.sample(input, { numRuns: 4, seed: SEED })) {
      const refusal = await attempt(0, value);
      expect(await dump()).toBe(before);
      expect(await attempt(1, value)).not.toBeInstanceOf(LeaseLostError);
      const after = await dump();
      if (after !== before) {
        expect(refusal).toBeInstanceOf(LeaseLostError);
      }
      before = after;
    }
  });
});
