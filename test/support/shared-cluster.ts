/** PostgreSQL server of all tests of a file. */
import { afterAll, beforeAll } from 'vitest';
import { hasPostgres, type PostgresCluster, startPostgres } from './postgres.ts';

/** Starts a server before the tests of the file, if there is PostgreSQL, and ends it after them. Returns a function for it. */
export function shareCluster(): () => PostgresCluster {
  let cluster: PostgresCluster | null = null;
  beforeAll(async () => {
    cluster = hasPostgres ? await startPostgres() : null;
  });
  afterAll(() => cluster?.stop());
  return () => {
    if (cluster === null) {
      throw new Error('the server has not started');
    }
    return cluster;
  };
}
