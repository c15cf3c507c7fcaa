/** A store whose operations fail: refused before they begin, or carried out with the answer lost. */
import { StoreError } from '../../src/core/errors.ts';
import type { Sql, SqlDatabase } from '../../src/store/sql/database.ts';

/** Outcome of one operation. `refused`: nothing happened; `lost`: it was carried out, and fails. */
export type StoreFate = 'works' | 'refused' | 'lost';

/** Decides about each operation. */
export type FateOf = (operation: 'read' | 'write') => StoreFate;

/** Database whose transactions fail. */
export class FailingDatabase implements SqlDatabase {
  readonly #real: SqlDatabase;
  readonly #fate: FateOf;

  constructor(real: SqlDatabase, fate: FateOf) {
    this.#real = real;
    this.#fate = fate;
  }

  read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#run('read', () => this.#real.read(work));
  }

  write<T>(scope: string, work: (sql: Sql) => Promise<T>, keeps?: (result: T) => boolean): Promise<T> {
    return this.#run('write', () => this.#real.write(scope, work, keeps));
  }

  fenced(lease: { readonly name: string; readonly epoch: number }): SqlDatabase {
    return new FailingDatabase(this.#real.fenced(lease), this.#fate);
  }

  close(): Promise<void> {
    return this.#real.close();
  }

  async #run<T>(operation: 'read' | 'write', work: () => Promise<T>): Promise<T> {
    const fate = this.#fate(operation);
    if (fate === 'refused') {
      throw new StoreError('the state cannot be used: a simulated fault; wait');
    }
    const result = await work();
    if (fate === 'lost') {
      throw new StoreError('the state did not answer: a simulated fault; wait');
    }
    return result;
  }
}
