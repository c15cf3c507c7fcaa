/** Parts of a running daemon. `src/daemon.ts` creates each from those before it. */
import type { FleetLeases } from '../fleet/fleet-leases.ts';
import type { Backend } from '../web/model/page.ts';
import type { FleetReports } from './fleet/fleet-reports.ts';
import type { FleetOrganizations } from './fleet/organizations.ts';
import type { TokenConnections } from './fleet/token-connections.ts';
import type { DaemonNotifications } from './notifications.ts';
import type { DaemonContext } from './organization/feature.ts';
import type { RemoteOrganizations } from './states/remote-organizations.ts';

export interface DaemonParts {
  readonly context: DaemonContext;
  /** Leases, which decide on the organizations of this replica. */
  readonly leases: FleetLeases;
  readonly connections: TokenConnections;
  readonly notifications: DaemonNotifications;
  /** Organizations of this replica. */
  readonly organizations: FleetOrganizations;
  readonly reports: FleetReports;
  /** Organizations that other replicas have, or none. */
  readonly remote: RemoteOrganizations;
  /** Read model of the organizations of all replicas. */
  readonly model: Backend;
}
