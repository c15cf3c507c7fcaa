/** Prometheus metrics of a fleet and its database. */
import { Histogram, type Registry } from 'prom-client';
import { gauge } from './instruments.ts';

/** State of this replica in the fleet. */
export interface FleetObservation {
  readonly replica: string;
  readonly leases: number;
  readonly unowned: number;
  readonly leftSeconds: number;
}

export interface FleetMetrics {
  fleet(observation: FleetObservation): void;
  /** Counts a transaction of the database. */
  database(operation: 'read' | 'write', seconds: number): void;
}

/** Registers the metrics of a fleet. Without one, they have no values. */
export function fleetMetrics(registry: Registry): FleetMetrics {
  const of = (name: string, help: string) => gauge(registry, name, help, ['replica']);
  const leases = of('replica_leases', 'Leases that this replica has.');
  const unowned = of('leases_unowned', 'Leases that no replica has, of those that the configuration needs.');
  const left = of('lease_left_seconds', 'Time that the leases of this replica last without another renewal.');
  const transactions = new Histogram({
    name: 'octavo_database_seconds',
    help: 'Duration of transactions in PostgreSQL, in seconds.',
    labelNames: ['operation'],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers: [registry],
  });
  return {
    fleet: ({ replica, leftSeconds, ...counts }) => {
      leases.set({ replica }, counts.leases);
      unowned.set({ replica }, counts.unowned);
      left.set({ replica }, Math.max(0, leftSeconds));
    },
    database: (operation, seconds) => transactions.observe({ operation }, seconds),
  };
}
