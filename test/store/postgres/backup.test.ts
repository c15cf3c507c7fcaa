/** Checks the backup and the restore that docs/fleet.md#backup-and-restore describes. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPostgresDatabase } from '../../../src/store/postgres/database.ts';
import { openSqlStore, type Store } from '../../../src/store/store.ts';
import { hasPostgres } from '../../support/postgres.ts';
import { postgresProgram } from '../../support/postgres-data.ts';
import { execFileSync } from '../../support/programs.ts';
import { shareCluster } from '../../support/shared-cluster.ts';
import { content, deposit } from '../samples.ts';

const LIMIT = { items: 10, bytes: 10_000 };

const cluster = shareCluster();

async function open(url: string): Promise<Store> {
  return openSqlStore(await openPostgresDatabase({ url, pool: 2 }), null);
}

async function readAll(store: Store) {
  const outbox = store.outbox('org_1', LIMIT);
  return [
    await store.organization('org_1').read(),
    await store.note('topic').read(),
    await outbox.status(),
    await outbox.hints('desk', 9),
  ];
}

test.runIf(hasPostgres)('a restored database has the same state, and continues', async () => {
  const server = cluster();
  const [url, restored] = [await server.createDatabase(), await server.createDatabase()];
  const store = await open(url);
  const outbox = store.outbox('org_1', LIMIT);
  await store.organization('org_1').moveHead({ commit: 'abc', at: 5 }, []);
  await store.note('topic').write({ text: 'ä' });
  await outbox.put(deposit([content('a')], { counts: { found: 1 } }));
  await outbox.hint('desk', null, ['1', '2'], 1);
  const dump = join(server.folder, 'octavo.dump');
  execFileSync(postgresProgram('pg_dump'), ['--format=custom', '--schema=octavo', `--file=${dump}`, url]);
  const before = await readAll(store);
  await store.close();
  execFileSync(postgresProgram('pg_restore'), ['--no-owner', `--dbname=${restored}`, dump]);
  const copy = await open(restored);
  expect(await readAll(copy)).toEqual(before);
  // New ids follow those of the backup.
  const continued = copy.outbox('org_1', LIMIT);
  await continued.put(deposit([content('b')]));
  await continued.hint('desk', null, ['3'], 2);
  expect((await continued.hints('desk', 9)).map(({ id }) => id)).toEqual(['1', '2', '3']);
  expect((await continued.next({ items: 9, bytes: 999, open: 1 }, 900))?.items.map(({ key }) => key)).toEqual([
    'a',
    'b',
  ]);
  await copy.close();
});
