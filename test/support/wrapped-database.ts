/** A database whose statements a test observes, or whose rows it changes. */
import type { Sql, SqlDatabase, SqlRow } from '../../src/store/sql/database.ts';

/** Called instead of each statement; `call` runs it and returns its rows, or the number of changed rows. */
export type AroundStatement = <T extends number | readonly SqlRow[]>(
  statement: string,
  call: () => Promise<T>,
  sql: Sql,
) => Promise<T>;

export function wrapDatabase(database: SqlDatabase, around: AroundStatement): SqlDatabase {
  const wrap = (sql: Sql): Sql => {
    const all: Sql['all'] = (statement, ...values) =>
      around(statement, () => sql.all(statement, ...values), sql) as Promise<never>;
    return {
      all,
      get: async (statement, ...values) => (await all<never>(statement, ...values))[0],
      run: (statement, ...values) => around(statement, () => sql.run(statement, ...values), sql),
      jsonItems: (expression) => sql.jsonItems(expression),
      jsonMember: (expression, name) => sql.jsonMember(expression, name),
      parse: (text) => sql.parse(text),
      damagedError: () => sql.damagedError(),
    };
  };
  return {
    read: (work) => database.read((sql) => work(wrap(sql))),
    write: (scope, work, keeps) => database.write(scope, (sql) => work(wrap(sql)), keeps),
    fenced: (lease) => wrapDatabase(database.fenced(lease), around),
    close: () => database.close(),
  };
}
