/** PostgreSQL server of all tests of a file. */
import { afterAll, beforeAll } from 'vitest';
import { migrate } from '../../src/store/postgres/database.ts';
import { type ClusterOptions, hasPostgres, type PostgresCluster, startPostgres } from './postgres.ts';

/** Starts a server before the tests of the file, if there is PostgreSQL, and ends it after them. Returns a function for it. */
export function shareCluster(options: ClusterOptions = {}): () => PostgresCluster {
  let cluster: PostgresCluster | null = null;
  beforeAll(async () => {
    cluster = hasPostgres ? await startPostgres(options) : null;
  });
  afterAll(() => cluster?.stop());
  return () => {
    if (cluster === null) {
      throw new Error('the server has not started');
    }
    return cluster;
  };
}

/** Returns a function for the URL of one database, which it empties each time: creating another one takes much longer. */
export function shareDatabase(cluster: () => PostgresCluster): () => Promise<string> {
  let url: string | null = null;
  let empty = '';
  return async () => {
    if (url !== null) {
      await cluster().query(empty, new URL(url).pathname.slice(1));
      return url;
    }
    url = await cluster().createDatabase();
    await migrate({ url, pool: 1 });
    const tables = await cluster().query(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'octavo' AND tablename <> 'migration'",
      new URL(url).pathname.slice(1),
    );
    empty = `${tables.map(({ name }) => `DELETE FROM octavo.${name};`).join(' ')}
      SELECT setval(format('octavo.%I', sequencename)::regclass, 1, false) FROM pg_sequences WHERE schemaname = 'octavo'`;
    return url;
  };
}
