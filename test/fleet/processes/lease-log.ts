/** Log of every claim and release in the database of a fleet, with times by the clock of the database. */
import type { PostgresCluster } from '../../support/postgres.ts';

const TRIGGER = `CREATE TABLE public.lease_log (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL, holder TEXT, at TIMESTAMPTZ NOT NULL
);
CREATE FUNCTION public.log_lease() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO public.lease_log (name, holder, at) VALUES (NEW.name, NEW.holder, clock_timestamp());
  RETURN NULL;
END $$;
CREATE TRIGGER log_lease AFTER UPDATE ON octavo.lease FOR EACH ROW
  WHEN (OLD.holder IS DISTINCT FROM NEW.holder) EXECUTE FUNCTION public.log_lease();`;

/** A time without a holder ends with the next claim; one that has not ended lasts until now. */
const LONGEST_FREE = `SELECT max(extract(epoch FROM until - at) * 1000) AS longest FROM (
  SELECT holder, at, lead(at, 1, clock_timestamp()) OVER (PARTITION BY name ORDER BY number) AS until FROM public.lease_log
) AS step WHERE holder IS NULL`;

export class LeaseLog {
  readonly #cluster: PostgresCluster;
  readonly #database: string;

  private constructor(cluster: PostgresCluster, database: string) {
    this.#cluster = cluster;
    this.#database = database;
  }

  /** Starts the log of a database whose tables exist. */
  static async open(cluster: PostgresCluster, database: string): Promise<LeaseLog> {
    const log = new LeaseLog(cluster, database);
    await log.query(TRIGGER);
    return log;
  }

  /** Number of claims and releases so far. */
  async count(): Promise<number> {
    const [row] = await this.query('SELECT count(*) AS n FROM public.lease_log');
    return Number(row?.n);
  }

  /** Longest time in milliseconds for which a lease had no holder. */
  async longestFree(): Promise<number> {
    const [row] = await this.query(LONGEST_FREE);
    return Number(row?.longest);
  }

  query(statement: string): Promise<readonly Record<string, unknown>[]> {
    return this.#cluster.query(statement, new URL(this.#database).pathname.slice(1));
  }
}
