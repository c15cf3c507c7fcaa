// Messages between replicas: delivery, limits, interruptions, and a pooler that delivers nothing.
import pg from 'pg';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { FleetSignal } from '../../../src/store/leases.ts';
import { connectionConfig } from '../../../src/store/postgres/connection-pool.ts';
import { PostgresSignals } from '../../../src/store/postgres/store.ts';
import { hasPgBouncer, PgBouncer } from '../../support/pgbouncer.ts';
import { hasPostgres } from '../../support/postgres.ts';
import { shareCluster, shareDatabase } from '../../support/shared-cluster.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';

const cluster = shareCluster();
const emptyDatabase = shareDatabase(cluster);

/** Sleeps a tenth of the time. */
const clock = {
  ...systemClock,
  sleep: (milliseconds: number, signal?: AbortSignal) => systemClock.sleep(milliseconds / 10, signal),
};

const opened: PostgresSignals[] = [];
afterEach(() => Promise.all(opened.splice(0).map((signals) => signals.close())));

function open(url: string) {
  const createClient = () => new pg.Client(connectionConfig({ url, pool: 1 }));
  const signals = new PostgresSignals(createClient, clock, Math.random);
  opened.push(signals);
  const received: FleetSignal[] = [];
  const end = signals.listen((signal) => received.push(signal));
  const connected = () => vi.waitFor(() => expect(signals.isConnected).toBe(true), { timeout: 20_000 });
  return { signals, received, end, connected };
}

const received = (replica: ReturnType<typeof open>, signal: FleetSignal) =>
  vi.waitFor(() => expect(replica.received).toContainEqual(signal), { timeout: 20_000 });

describe.runIf(hasPostgres)('signals', () => {
  test('reach all replicas, the sender too', async () => {
    const url = await emptyDatabase();
    const [a, b] = [open(url), open(url)];
    await Promise.all([a.connected(), b.connected()]);
    const signal: FleetSignal = { kind: 'change', payload: { topic: "o'Neil \0 ☃ \\" } };
    await a.signals.send(signal);
    await Promise.all([received(a, signal), received(b, signal)]);
    b.end();
    const last: FleetSignal = { kind: 'answer', payload: { number: 1 } };
    await a.signals.send(last);
    await received(a, last);
    expect(b.received).not.toContainEqual(last);
  });

  test('a payload that is too long is replaced by an empty one', async () => {
    const a = open(await emptyDatabase());
    await a.connected();
    a.received.length = 0;
    await a.signals.send({ kind: 'change', payload: { topic: 'ü'.repeat(3600) } });
    await received(a, { kind: 'change', payload: {} });
    await a.signals.send({ kind: 'change', payload: { topic: 'ü'.repeat(3400) } });
    await received(a, { kind: 'change', payload: { topic: 'ü'.repeat(3400) } });
  });

  test('messages of other programs on the channel are ignored', async () => {
    const url = await emptyDatabase();
    const a = open(url);
    await a.connected();
    a.received.length = 0;
    const name = new URL(url).pathname.slice(1);
    for (const text of ['', 'x', '[]', 'null', '{"kind":"other","payload":{}}', '{"kind":"change","payload":1}']) {
      await cluster().query(`NOTIFY octavo, '${text}'`, name);
    }
    await a.signals.send({ kind: 'leases', payload: {} });
    await received(a, { kind: 'leases', payload: {} });
    expect(a.received).toHaveLength(1);
  });

  test('after an interruption the connection is opened again, and listeners are called for what they missed', async () => {
    const a = open(await emptyDatabase());
    await a.connected();
    a.received.length = 0;
    await cluster().terminateConnections();
    await received(a, { kind: 'leases', payload: {} });
    expect(a.received.map(({ kind }) => kind)).toEqual(['leases', 'command', 'answer', 'change']);
    await a.signals.send({ kind: 'change', payload: { topic: 'x' } });
    await received(a, { kind: 'change', payload: { topic: 'x' } });
  });

  test('a connection that delivers nothing is found by its heartbeat, and replaced', async () => {
    await using proxy = await TcpProxy.open({ port: cluster().port });
    const url = await emptyDatabase();
    const a = open(url.replace(`:${cluster().port}/`, `:${proxy.port}/`));
    await a.connected();
    proxy.stall(['to client']);
    await vi.waitFor(() => expect(a.signals.isConnected).toBe(false), { timeout: 30_000 });
    proxy.pass();
    await a.connected();
    expect(proxy.accepted).toBeGreaterThan(1);
  });

  test('nobody waits for a database that is gone, neither to send nor to close', async () => {
    const a = open('postgres://nobody@127.0.0.1:1/none');
    await a.signals.send({ kind: 'change', payload: {} });
    await a.signals.close();
    expect(a.received).toEqual([]);
  });

  test.runIf(hasPgBouncer)('through a pooler in transaction mode messages may be lost, and nothing fails', async () => {
    await using pooler = await PgBouncer.start(cluster());
    const name = new URL(await emptyDatabase()).pathname.slice(1);
    const replicas = [open(pooler.url(name)), open(pooler.url(name)), open(pooler.url(name))];
    await systemClock.sleep(500);
    await Promise.all(replicas.map(({ signals }) => signals.send({ kind: 'change', payload: {} })));
    await Promise.all(replicas.map(({ signals }) => signals.close()));
    expect(replicas.map(({ signals }) => signals.isConnected)).toEqual([false, false, false]);
  });
});
