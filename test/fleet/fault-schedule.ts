/** Random faults of a database and of the connections to it, the same for the same seed. */
import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresOptions } from '../../src/store/postgres/connection-pool.ts';
import { openPostgresDatabase, type PostgresDatabase } from '../../src/store/postgres/database.ts';
import { PgBouncer } from '../support/pgbouncer.ts';
import type { PostgresCluster } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

/** Ways to reach the server: the pool of each client, and a pooler in between. */
export const WAYS = {
  'a pool of three connections': { pool: 3, isPooled: false },
  'a pool of one connection': { pool: 1, isPooled: false },
  'PgBouncer in transaction mode': { pool: 3, isPooled: true },
} as const;

/**
 * Opens a new database as several clients reach it, each through a proxy of its own. `connections`: those of the pooler, if
 * there is one.
 */
export async function openProxied(
  cluster: PostgresCluster,
  clients: number,
  { pool, isPooled }: { readonly pool: number; readonly isPooled: boolean },
  connections: number,
  limits: Pick<PostgresOptions, 'connectTimeout' | 'statementTimeout' | 'silenceLimit'>,
) {
  await using opening = new AsyncDisposableStack();
  const url = new URL(await cluster.createDatabase());
  const name = url.pathname.slice(1);
  const bouncer = isPooled ? opening.use(await PgBouncer.start(cluster, connections)) : null;
  const proxies: TcpProxy[] = [];
  const databases: PostgresDatabase[] = [];
  for (let number = 0; number < clients; number += 1) {
    const proxy = opening.use(await TcpProxy.open({ port: bouncer?.port ?? cluster.port }));
    const own = new URL(bouncer?.url(name) ?? url);
    own.port = String(proxy.port);
    own.searchParams.set('sslmode', 'disable');
    const database = await openPostgresDatabase({ url: String(own), pool, ...limits });
    opening.defer(() => database.close());
    proxies.push(proxy);
    databases.push(database);
  }
  const opened = opening.move();
  return { name, proxies, databases, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Whole numbers below `most`, the same for the same seed. */
export type Dice = (most: number) => number;

export function createDice(seed: number): Dice {
  // Zero would give nothing else.
  let state = (Math.abs(Math.trunc(seed)) % 2_147_483_646) + 1;
  return (most) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % most;
  };
}

/** Targets of faults. */
export interface FaultTargets {
  readonly cluster: PostgresCluster;
  readonly proxies: readonly TcpProxy[];
}

const FAULTS = {
  stall: ({ proxies }, dice) => pick(proxies, dice).stall(),
  'stall towards the server': ({ proxies }, dice) => pick(proxies, dice).stall(['to server']),
  'stall towards the client': ({ proxies }, dice) => pick(proxies, dice).stall(['to client']),
  'stall everything': ({ proxies }) => {
    for (const proxy of proxies) {
      proxy.stall();
    }
  },
  abandon: ({ proxies }, dice) => pick(proxies, dice).abandon(),
  delay: ({ proxies }, dice) => pick(proxies, dice).delay(1 + dice(80)),
  reset: ({ proxies }, dice) => void pick(proxies, dice).reset(),
  refuse: ({ proxies }, dice) => {
    const proxy = pick(proxies, dice);
    proxy.refuse();
    proxy.reset();
  },
  'terminate backends': async ({ cluster }) => void (await cluster.terminateConnections()),
  'restart the server': ({ cluster }) => cluster.restart('immediate'),
} as const satisfies Record<string, (targets: FaultTargets, dice: Dice) => void | Promise<void>>;

type Fault = keyof typeof FAULTS;

/**
 * Causes this many faults, one after the other, each for up to `longest` milliseconds, with as long pauses in between.
 * Everything passes at the end. Returns the names of the faults, to repeat a run by.
 */
export async function causeFaults(
  targets: FaultTargets,
  dice: Dice,
  { count, longest }: { readonly count: number; readonly longest: number },
): Promise<readonly Fault[]> {
  const names = Object.keys(FAULTS) as Fault[];
  const caused: Fault[] = [];
  for (let index = 0; index < count; index += 1) {
    await pause(dice(longest));
    const fault = pick(names, dice);
    caused.push(fault);
    await FAULTS[fault](targets, dice);
    await pause(dice(longest));
    for (const proxy of targets.proxies) {
      // A fault may leave connections half-open, as a network does that comes back too late.
      if (dice(3) === 0) {
        proxy.reset();
      }
      proxy.pass();
    }
  }
  return caused;
}

function pick<T>(list: readonly T[], dice: Dice): T {
  return list[dice(list.length)] as T;
}
