/**
 * Uses a store as replicas do, and prints the time that it takes as JSON:
 * `node fleet-store.js leases <URL> <count>` claims and renews leases, and
 * `node fleet-store.js deposits <path or URL> <organization> <count>` puts conversations into the outbox.
 */
import { systemClock } from '../../src/core/clock.ts';
import { openStore } from '../../src/store/open/open-store.ts';
import type { Store } from '../../src/store/store.ts';

const [work = '', place = '', ...rest] = process.argv.slice(2);
const RENEWALS = 20;
const TTL = 60_000;
const BATCH = 100;
const LIMIT = { items: 1e9, bytes: 1e12 };

const store = await openStore(
  place.startsWith('postgres:') ? { url: place, pool: 4 } : { path: place },
  systemClock,
  Math.random,
);
const figures =
  work === 'leases' ? await leases(store, Number(rest[0])) : await deposits(store, rest[0] ?? '', Number(rest[1]));
process.stdout.write(JSON.stringify(figures));
await store.close();

/** Returns milliseconds of the claim of all leases, and of each renewal. */
async function leases(from: Store, count: number) {
  const table = from.fleet()?.leases;
  if (table === undefined) {
    throw new Error('leases need a PostgreSQL database');
  }
  const names = Array.from({ length: count }, (_, index) => `organization/org_${index}`);
  const replica = { id: 'bench', version: '1', address: 'bench 1', weight: 1, isDraining: false };
  await table.define(names);
  await table.renew(replica, TTL);
  const began = performance.now();
  const claimed = await table.claim(replica.id, names, count);
  const claim = performance.now() - began;
  const renewals: number[] = [];
  for (let renewal = 0; renewal < RENEWALS; renewal += 1) {
    const started = performance.now();
    await table.renew(replica, TTL);
    renewals.push(performance.now() - started);
  }
  return { claimed: claimed.length, claim, renewals };
}

/** Returns seconds and CPU seconds of the deposits. */
async function deposits(into: Store, organization: string, count: number) {
  const outbox = into.outbox(organization, LIMIT);
  const payload = JSON.stringify({ parts: [{ type: 'message', role: 'user', body: 'The export fails. '.repeat(40) }] });
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  for (let from = 0; from < count; from += BATCH) {
    const entries = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => {
      const key = `bench/acme/${from + index}`;
      return { kind: 'content', key, hash: key, redactor: '1', payload, notBefore: null } as const;
    });
    await outbox.put({ source: 'bench', at: 0, entries, counts: { found: entries.length } });
  }
  const { user, system } = process.cpuUsage(cpu);
  return { wall: (performance.now() - began) / 1000, cpu: (user + system) / 1e6 };
}
