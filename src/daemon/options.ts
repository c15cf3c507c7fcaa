/** Options of the daemon. */
import type { Config } from '../config/config.ts';
import type { StoreConfig } from '../config/store.ts';
import type { Clock, Random } from '../core/clock.ts';
import type { Logger } from '../log.ts';
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
