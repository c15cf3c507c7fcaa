/** Database of the demonstration of a fleet: of a server that DATABASE_URL names, otherwise of a temporary one. */
import type { Clock } from '../../core/clock.ts';
import { ConfigError, messageOf } from '../../core/errors.ts';
import { nameDatabase, parsePostgresUrl } from '../../core/postgres-url.ts';
import type { LeaseTable } from '../../store/leases.ts';
import { PostgresLeases } from '../../store/postgres/leases.ts';
import { openPostgresDatabase } from '../../store/postgres/postgres-database.ts';
import type { ChildGuard } from './child-guard.ts';
import { startPostgres } from './temporary-postgres.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface DemoDatabase extends AsyncDisposable {
  readonly url: string;
  /** Description of the place, without secrets. */
  readonly description: string;
  readonly leases: LeaseTable;
}

/** Opens an empty database, which is removed at the end. Throws ConfigError if there is no server. */
export async function openDemoDatabase(env: Environment, clock: Clock, guard: ChildGuard): Promise<DemoDatabase> {
  await using cleanup = new AsyncDisposableStack();
  const { url, description } = await openEmpty({ env, clock, guard }, cleanup);
  const database = await openPostgresDatabase({ url, pool: 2 });
  cleanup.defer(() => database.close());
  const kept = cleanup.move();
  return {
    url,
    description,
    leases: new PostgresLeases(database),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function openEmpty(
  { env, clock, guard }: { readonly env: Environment; readonly clock: Clock; readonly guard: ChildGuard },
  cleanup: AsyncDisposableStack,
): Promise<Pick<DemoDatabase, 'url' | 'description'>> {
  if (env.DATABASE_URL !== undefined && env.DATABASE_URL !== '') {
    return createDatabase(env.DATABASE_URL, cleanup);
  }
  const server = cleanup.use(await startPostgres(env, clock, guard));
  return { url: server.url, description: `a temporary PostgreSQL, ${server.url}` };
}

/** Creates a database on a server of the user. */
async function createDatabase(
  given: string,
  cleanup: AsyncDisposableStack,
): Promise<Pick<DemoDatabase, 'url' | 'description'>> {
  const place = parsePostgresUrl(given);
  if (typeof place === 'string') {
    throw new ConfigError(`DATABASE_URL ${place}`);
  }
  const [{ Client }, { connectionConfig }] = await Promise.all([
    import('pg'),
    import('../../store/postgres/connection.ts'),
  ]);
  const name = `octavo_demo_${process.pid}`;
  const run = async (statement: string) => {
    const client = new Client(connectionConfig({ url: given, pool: 1 }));
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query(statement);
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  try {
    await run(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  } catch (error) {
    throw new ConfigError(
      `DATABASE_URL cannot be used: ${messageOf(error)}; name a server and a user who may create databases`,
      { cause: error },
    );
  }
  cleanup.defer(() => run(`DROP DATABASE ${name} WITH (FORCE)`));
  const url = given.replace(/^([^?]*)\/[^/?]*/, `$1/${name}`);
  return { url, description: nameDatabase({ ...place, database: name }) };
}
