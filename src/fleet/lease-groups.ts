/** Leases that the organizations of a configuration need. */
import { FLEET_LEASE, organizationLease, shardLease } from '../store/leases.ts';
import type { FleetOrganization } from './fleet-leases.ts';

/** Leases that one replica has together. */
export interface LeaseGroup {
  /** Lease that is claimed first. */
  readonly name: string;
  /** Leases whose work begins; may include the first lease. */
  readonly work: readonly string[];
  /** Number of organizations. */
  readonly weight: number;
}

/** `token`: all organizations of a token have the same owner; `organization`: each is divided on its own. */
type FleetSplit = 'token' | 'organization';

/** Returns the groups by the name of their first lease, and the name of the group of each lease whose work begins. */
export function groupLeases(organizations: readonly FleetOrganization[], split: FleetSplit) {
  const groups = new Map<string, LeaseGroup>([[FLEET_LEASE, { name: FLEET_LEASE, work: [FLEET_LEASE], weight: 0 }]]);
  const shards = Map.groupBy(organizations, ({ id, shard }) =>
    split === 'token' ? shardLease(shard) : organizationLease(id),
  );
  for (const [name, items] of shards) {
    groups.set(name, { name, work: items.map(({ id }) => organizationLease(id)), weight: items.length });
  }
  const names = [...groups.values()].flatMap(({ name, work }) => work.map((each) => [each, name] as const));
  return { groups, groupOf: new Map(names) } as const;
}
