import { openSqliteStore } from '../../src/store/sqlite.ts';

/** A separate process for the tests: opens the store named on its command line as an unprivileged user. */
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(65_534);
  process.setuid?.(65_534);
}
const [file = ''] = process.argv.slice(2);
try {
  const store = openSqliteStore(file);
  await store
    .organization('o')
    .put([{ address: 'team/a', kind: 'team', id: 't', fields: {}, protect: false, metadata: {} }]);
  await store.close();
  process.stdout.write('written\n');
} catch (error) {
  process.stdout.write(`${(error as Error).name}: ${(error as Error).message}\n`);
}
