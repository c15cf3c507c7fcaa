/** Interface of the daemon's subsystems: each organization has one feature of every kind. */
import type { Config, OrganizationConfig } from '../../config/config.ts';
import type { Clock, Random } from '../../core/clock.ts';
import type { Logger } from '../../log.ts';
import type { Connection } from '../../platform/connection.ts';
import type { ConversationsProbe } from '../../platform/conversations-probe.ts';
import type { Metrics } from '../../server/metrics.ts';
import type { Lease } from '../../store/leases.ts';
import type { Store } from '../../store/store.ts';

/** A subsystem of the daemon, for one organization. */
export interface Feature {
  /** `once` runs the features of stage 1 first: a pass creates spaces, and sent conversations become issue clusters. */
  readonly stage: 1 | 2;
  /** Checks settings that only the manifests and the platform can verify. Throws ConfigError. */
  check?(): Promise<void>;
  /** Starts the work that repeats. Resolves once it is scheduled. */
  start(): Promise<void>;
  /** Runs the due work once. Returns false if something failed, which is logged. */
  once(): Promise<boolean>;
  /** Updates the metrics. */
  observe?(): Promise<void>;
  /** Stops. Requests in flight may take this many milliseconds. */
  stop(milliseconds: number): Promise<void>;
}

/** Parts of the daemon that all features share. */
export interface DaemonContext {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  readonly log: Logger;
  /** Plans and reports, and never writes: no client that can write is created. */
  readonly dryRun: boolean;
  readonly metrics: Metrics;
  readonly store: Store;
}

/** The context of one organization. `log` adds its id to each line, and `store` refuses writes once the lease is lost. */
export interface OrganizationContext extends DaemonContext {
  readonly organization: OrganizationConfig;
  readonly lease: Lease;
  /** Aborts when the organization stops: nothing new is started. */
  readonly stopping: AbortSignal;
  /** Aborts the requests in flight. */
  readonly abort: AbortSignal;
  /** Throws LeaseLostError if the lease may end before a request does that takes at most this many milliseconds. */
  readonly checkSend: (timeout: number) => void;
  readonly connection: Connection;
  readonly probe: ConversationsProbe;
}
