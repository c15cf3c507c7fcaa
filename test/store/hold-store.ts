import { openSqliteStore } from '../../src/store/sqlite.ts';

/** A separate process for the tests: opens the store named on its command line, records one entry, and holds it. */
const store = openSqliteStore(process.argv[2] ?? '');
await store
  .organization('org_1')
  .put([{ address: 'team/a', kind: 'team', id: 't', fields: {}, protect: false, metadata: {} }]);
process.stdout.write('recorded\n');
setInterval(() => undefined, 60_000);
