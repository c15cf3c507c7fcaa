/** State of a fleet that views are made from. */
import type { Replica } from '../../store/leases.ts';

/** The fleet as the last check of this replica found it. */
export interface FleetState {
  /** Id of this replica. */
  readonly replica: string;
  readonly replicas: readonly (Replica & {
    /** Number of organizations that it has. */
    readonly organizations: number;
  })[];
  /** Milliseconds that the leases of this replica last without another renewal; at most 0 if they are lost. */
  readonly left: number;
  /** Why the last renewal failed; null if it succeeded. */
  readonly failure: string | null;
  /** Average milliseconds of a transaction; recent ones count most. Null before the first one. */
  readonly latency: number | null;
  /** Organizations that no replica has, with milliseconds since when; null: not known. */
  readonly unowned: readonly {
    readonly organization: string;
    readonly age: number | null;
    /** False if only other replicas have it configured. */
    readonly isConfigured: boolean;
  }[];
  /** Milliseconds for which nobody sends notifications; null if a replica does. */
  readonly notificationsUnowned: number | null;
}
