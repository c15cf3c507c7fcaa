/** Describes the fleet, for pages and conditions. */
import type { FleetLeases } from '../fleet/fleet-leases.ts';
import type { Metrics } from '../server/metrics.ts';
import { FLEET_LEASE, organizationLease } from '../store/leases.ts';
import type { TransactionListener } from '../store/sql/database.ts';
import type { FleetState } from '../web/model/page.ts';
import type { FleetReports } from './fleet/fleet-reports.ts';

/** Part of the average that the latest transaction is. */
const SHARE = 1 / 50;

/** Durations of transactions: their average, and the metric. */
export class TransactionTimes {
  readonly listener: TransactionListener;
  /** In milliseconds; recent ones count most. Null before the first one. */
  average: number | null = null;

  constructor(metrics: Pick<Metrics, 'database'>) {
    this.listener = (operation, milliseconds) => {
      metrics.database(operation, milliseconds / 1000);
      this.average = this.average === null ? milliseconds : this.average + (milliseconds - this.average) * SHARE;
    };
  }
}

/**
 * Returns the state of the fleet with these organizations; null if the state is in a file. Organizations that only other
 * replicas have configured are in it while they have no owner. The leases alone cannot tell them from removed ones.
 */
export function describeFleet(
  leases: Pick<FleetLeases, 'replica' | 'holder' | 'status'>,
  organizations: readonly { readonly id: string }[],
  reports: Pick<FleetReports, 'unowned'>,
  latency: number | null,
): FleetState | null {
  if (leases.replica === null) {
    return null;
  }
  const { replicas, left, failure } = leases.status();
  const counts = new Map<string, number>();
  const unowned: FleetState['unowned'][number][] = [];
  for (const { id } of organizations) {
    const holder = leases.holder(organizationLease(id));
    if (holder?.replica == null) {
      unowned.push({ organization: id, age: holder?.age ?? null, isConfigured: true });
    } else {
      counts.set(holder.replica.id, (counts.get(holder.replica.id) ?? 0) + 1);
    }
  }
  const configured = new Set(organizations.map(({ id }) => id));
  for (const id of [...reports.unowned()].filter((each) => !configured.has(each))) {
    const holder = leases.holder(organizationLease(id));
    // Since the report, a replica may have claimed it, or its lease may have been removed.
    if (holder?.replica === null && holder.age !== null) {
      unowned.push({ organization: id, age: holder.age, isConfigured: false });
    }
  }
  const shared = leases.holder(FLEET_LEASE);
  return {
    replica: leases.replica,
    replicas: replicas.map((replica) => ({ ...replica, organizations: counts.get(replica.id) ?? 0 })),
    left,
    failure,
    latency,
    unowned,
    notificationsUnowned: shared !== null && shared.replica === null ? (shared.age ?? 0) : null,
  };
}
