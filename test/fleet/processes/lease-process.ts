/**
 * Process of a fleet that only keeps leases. Arguments: URL of the database, id, number of organizations. It joins when it gets
 * some input, so that several can join at the same time, and ends with its input.
 */
import { once } from 'node:events';
import { systemClock } from '../../../src/core/clock.ts';
import { SharedLeases } from '../../../src/fleet/shared-leases.ts';
import { openFleetStore } from '../../../src/store/postgres/store.ts';

const [url = '', id = '', count = ''] = process.argv.slice(2);
const store = await openFleetStore({ url, pool: 3 }, systemClock, Math.random);
const leases = new SharedLeases({
  isComplete: () => true,
  ...{ store, clock: systemClock, random: Math.random, ttl: 60_000, split: 'token' },
  replica: { id, version: '1', address: `${id} ${process.pid}`, weight: 1 },
  work: { begin: () => undefined, end: async () => undefined },
});
leases.setOrganizations(
  Array.from({ length: Number(count) }, (_, index) => ({ id: `org_${index}`, shard: `token_${index}` })),
);
process.once('SIGTERM', async () => {
  await leases.drain(6000);
  await store.close();
  process.exit(0);
});
process.stdin.on('end', () => process.exit(1));
process.stdout.write('ready\n');
await once(process.stdin, 'data');
await leases.start();
process.stdout.write('joined\n');
