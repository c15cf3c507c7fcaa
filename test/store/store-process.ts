/** A separate process for the tests: opens a store as an unprivileged user and writes to it, or writes and holds it. */
import { openSqliteStore } from '../../src/store/sqlite.ts';

const [file = '', mode] = process.argv.slice(2);
if (mode !== 'hold' && process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(65_534);
  process.setuid?.(65_534);
}
try {
  const store = openSqliteStore(file);
  const entry = { address: 'team/a', kind: 'team', id: 't', fields: {}, protect: false, metadata: {} };
  await store.organization('o').put([entry]);
  if (mode === 'hold') {
    setInterval(() => undefined, 60_000);
  } else {
    await store.close();
  }
  process.stdout.write('written\n');
} catch (error) {
  process.stdout.write(`${(error as Error).name}: ${(error as Error).message}\n`);
}
