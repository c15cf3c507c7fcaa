import type { Clock, Random } from '../../core/clock.ts';
import type { FleetStore } from '../leases.ts';
import { updateNote } from '../record.ts';
import { connectionConfig, type PostgresOptions } from './connection.ts';
import { PostgresLeases } from './leases.ts';
import { openPostgresPool, type PostgresDatabase } from './postgres-database.ts';
import { PostgresSignals } from './signals.ts';

/** Connections for leases and shared budgets: renewals do not wait for other work, nor for a renewal that gets no answer. */
const POOL = 4;
/** Milliseconds of a statement on leases. */
const STATEMENT_TIMEOUT = 10_000;
/** Milliseconds that a transaction on leases waits for its own process, and keeps the others from an eviction. */
const IDLE_TIMEOUT = 2000;

/**
 * Opens the leases and messages of a database whose tables exist, on connections of their own. Nothing is sent before
 * they are used.
 */
export async function openFleetStore(options: PostgresOptions, clock: Clock, random: Random): Promise<FleetStore> {
  const { Client } = await import('pg');
  const leasing = { ...options, pool: POOL, statementTimeout: STATEMENT_TIMEOUT, idleTimeout: IDLE_TIMEOUT };
  const database = await openPostgresPool(leasing);
  // Messages are sent without waiting for the answers to earlier ones.
  const createClient = () => new Client({ ...connectionConfig(leasing), pipeline: true });
  const signals = new PostgresSignals({ createClient, clock, random });
  return {
    leases: new PostgresLeases(database),
    signals,
    update: (topic, change) => updateNote(database, topic, change),
    time: () => readTime(database),
    close: async () => {
      await Promise.all([signals.close(), database.close()]);
    },
  };
}

async function readTime(database: PostgresDatabase): Promise<number> {
  const row = await database.read((sql) => sql.get('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS time'));
  return Number(row?.time);
}
