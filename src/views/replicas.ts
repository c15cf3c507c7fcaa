/** View of the replicas of a fleet, of the organizations that none of them has, and of the database. */
import { counted, spanWords } from '../plan/render/words.ts';
import { type ConfigurationView, configurationViews } from './configuration.ts';
import type { ReplicaConfigurationProblem } from './model/configuration-problem.ts';
import type { FleetState } from './model/fleet-state.ts';
import type { Visibility } from './model/notification-reader.ts';
import { organizationPath } from './model/paths.ts';
import { isoTime } from './model/words.ts';

export interface ReplicaView {
  readonly id: string;
  readonly address: string;
  readonly version: string;
  /** `late`: it did not renew in time, and will be evicted. */
  readonly state: 'working' | 'draining' | 'late';
  readonly weight: number;
  readonly organizations: number;
  readonly startedAt: string;
  readonly seenAt: string;
  /** True for the replica that shows this. */
  readonly isThis: boolean;
}

export interface UnownedView {
  readonly organization: string;
  /** Null if this replica has no page of it, because only other replicas have it configured. */
  readonly path: string | null;
  /** Seconds since a replica had it; null if none has had it since the fleet began. */
  readonly seconds: number | null;
}

export interface ReplicasView {
  readonly isFleet: boolean;
  readonly sentence: string;
  readonly replicas: readonly ReplicaView[];
  /** Those that have waited longest, of the ones that the person may see. */
  readonly unowned: readonly UnownedView[];
  readonly unownedTotal: number;
  /** Configurations that cannot be used, of all replicas. */
  readonly configuration: readonly ConfigurationView[];
  /** Null for a state file. */
  readonly database: {
    readonly state: 'working' | 'failing';
    readonly reason: string | null;
    /** Average duration of a transaction; null before the first one. */
    readonly milliseconds: number | null;
    /** Seconds that the leases of this replica last if it cannot renew them. */
    readonly leaseSeconds: number;
  } | null;
}

const SHOWN_UNOWNED = 100;

/** Describes the fleet; `null`: the state is in a file, which one process uses. */
export function replicasView(
  fleet: FleetState | null,
  visibility: Visibility,
  problems: readonly ReplicaConfigurationProblem[] = [],
): ReplicasView {
  const configuration = configurationViews(problems, () => visibility);
  if (fleet === null) {
    const sentence = 'One process uses the state file. A fleet needs PostgreSQL';
    return { isFleet: false, sentence, replicas: [], unowned: [], unownedTotal: 0, configuration, database: null };
  }
  const visible = fleet.unowned
    .filter(({ organization }) => visibility.isVisible(organization))
    .toSorted((a, b) => (b.age ?? Number.POSITIVE_INFINITY) - (a.age ?? Number.POSITIVE_INFINITY));
  return {
    isFleet: true,
    sentence: sentenceOf(fleet, visible.length, visibility),
    replicas: fleet.replicas
      .map((replica) => toReplica(replica, fleet.replica))
      .toSorted((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : a.id < b.id ? -1 : 1)),
    unowned: visible.slice(0, SHOWN_UNOWNED).map(({ organization, age, isConfigured }) => ({
      organization,
      path: isConfigured ? organizationPath(organization) : null,
      seconds: age === null ? null : Math.floor(age / 1000),
    })),
    unownedTotal: visible.length,
    configuration,
    database: {
      state: fleet.failure === null ? 'working' : 'failing',
      reason: fleet.failure,
      milliseconds: fleet.latency === null ? null : Math.round(fleet.latency * 10) / 10,
      leaseSeconds: Math.max(0, Math.floor(fleet.left / 1000)),
    },
  };
}

function toReplica(
  { id, address, version, weight, isDraining, startedAt, seenAt, left, organizations }: FleetState['replicas'][number],
  own: string,
): ReplicaView {
  return {
    ...{ id, address, version, weight, organizations },
    state: left <= 0 ? 'late' : isDraining ? 'draining' : 'working',
    startedAt: isoTime(startedAt),
    seenAt: isoTime(seenAt),
    isThis: id === own,
  };
}

/** Describes how long a replica goes on without its database; null while it can use it, and without a fleet. */
export function databaseWarning(fleet: FleetState | null): string | null {
  if (fleet === null || fleet.failure === null) {
    return null;
  }
  const { left } = fleet;
  const rest = left > 0 ? `its leases last for ${spanWords(left)} more` : 'its leases are lost, so it sends nothing';
  return `This replica cannot use the database; ${rest}`;
}

/** Returns a sentence about the most urgent problem of a fleet, or its size. */
function sentenceOf(fleet: FleetState, unowned: number, { seesAll }: Visibility): string {
  const { replicas, notificationsUnowned } = fleet;
  const warning = databaseWarning(fleet);
  if (warning !== null) {
    return warning;
  }
  const number = counted(replicas.length, 'replica');
  if (unowned > 0) {
    return `No replica has ${counted(unowned, 'organization')}; ${number} in the fleet`;
  }
  return notificationsUnowned === null
    ? `${number}, and every organization ${seesAll ? '' : 'that you may see '}has an owner`
    : `${number}; nobody sends notifications for ${spanWords(notificationsUnowned)}`;
}
