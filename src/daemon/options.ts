/** Options and interface of the daemon. */
import type { Config } from '../config/config.ts';
import type { StoreConfig } from '../config/store.ts';
import type { Clock, Random } from '../core/clock.ts';
import type { Logger } from '../log.ts';
import type { OrganizationReconciler } from '../reconcile/organization.ts';
import type { Store } from '../store/store.ts';
import type { LogBuffer } from '../web/model/log-buffer.ts';
import type { ConfigurationFiles } from './fleet/configuration.ts';
import type { OrganizationEvents } from './organization/feature.ts';

/** Parts and settings of the daemon. */
export interface DaemonOptions {
  readonly config: Config;
  /** Files of the configuration, whose changes are applied. Default: they are not read again. */
  readonly configuration?: ConfigurationFiles;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly version: string;
  /** Plans and reports, and never writes: no client that can write is created. */
  readonly dryRun: boolean;
  /** Returns the command that approves a checksum, for the log. Default: without a configuration file. */
  readonly approveCommand?: (checksum: string) => string;
  /** Opens the store. Override for tests. */
  readonly openStore?: (config: StoreConfig) => Store;
  /** Latest records of `log`, for the web page. Default: none. */
  readonly logBuffer?: LogBuffer;
  /** Releases memory to the system; called when the daemon becomes idle. Default: does nothing. */
  readonly releaseMemory?: () => void;
  /** Returns listeners for the events of an organization, in addition to the log and the metrics. Default: none. */
  readonly listeners?: (organization: string) => readonly OrganizationEvents[];
}

/** A running daemon. */
export interface Daemon {
  /** URL of health and metrics; null before `start`, and for a single round. */
  readonly address: string | null;
  /** URL of the web page; null before `start`, and if it is not configured. */
  readonly pageAddress: string | null;
  /** Organizations that have a source of manifests. */
  readonly organizations: readonly OrganizationReconciler[];
  /** Reads the configuration again, and applies what has changed. */
  reload(): Promise<void>;
  /** Serves health and metrics, opens the control socket and starts all features. */
  start(): Promise<void>;
  /**
   * Runs one round: a pass of each organization, a poll of each conversation source, and then one run over the issue
   * clusters. Returns false if conversations or clusters failed.
   */
  once(): Promise<boolean>;
  /** Runs once over the issue clusters of each organization, regardless of schedules. Returns false if a run failed. */
  runClusters(): Promise<boolean>;
  /**
   * Stops accepting work, lets requests in flight finish, records them and closes, within 10 s.
   * See docs/daemon.md#signals.
   */
  stop(): Promise<void>;
}
