/** Measures the transactions of a database. */
import type { Clock } from '../../core/clock.ts';
import type { SqlDatabase } from './database.ts';

/** Listener for the duration of each transaction, also of one that failed, in milliseconds. */
export type TransactionListener = (operation: 'read' | 'write', milliseconds: number) => void;

/** Returns the same database, which reports how long its transactions took. */
export function timedDatabase(
  database: SqlDatabase,
  clock: Pick<Clock, 'monotonic'>,
  onTransaction: TransactionListener,
): SqlDatabase {
  const timed = async <T>(operation: 'read' | 'write', work: () => Promise<T>): Promise<T> => {
    const from = clock.monotonic();
    try {
      return await work();
    } finally {
      onTransaction(operation, clock.monotonic() - from);
    }
  };
  return {
    read: (work) => timed('read', () => database.read(work)),
    write: (scope, work, keeps) => timed('write', () => database.write(scope, work, keeps)),
    fenced: (lease) => timedDatabase(database.fenced(lease), clock, onTransaction),
    parse: (text) => database.parse(text),
    damagedError: () => database.damagedError(),
    close: () => database.close(),
  };
}
