import type { ClustersConfig } from '../../config/clusters.ts';
import type { Clock, Random } from '../../core/clock.ts';
import type { Reader, Writer } from '../../platform/client.ts';
import type { PlatformTime } from '../../platform/platform-time.ts';
import type { Routing } from '../decide/route.ts';
import type { SelectionRule } from '../decide/select.ts';
import type { Redaction } from '../model/redaction.ts';
import type { ClusterSource } from '../model/source.ts';
import type { ClusterStore } from '../read/cluster-store.ts';
import type { Names, SpacesRead } from '../read/spaces.ts';
import type { ClusterEvents } from './events.ts';

/** What one run, or one question of a person, works with. */
export interface RunContext {
  readonly config: ClustersConfig;
  readonly rule: SelectionRule;
  readonly routing: Routing;
  readonly reader: Reader;
  /** Where the clusters are. */
  readonly source: ClusterSource;
  /** Null: nothing is written, on the platform or in the note. */
  readonly writer: Writer | null;
  readonly book: ClusterStore;
  /** `now` is the platform's time: every time that is compared or recorded is by that one clock. */
  readonly clock: Clock;
  readonly time: PlatformTime;
  readonly random: Random;
  readonly redaction: Redaction;
  readonly signal: AbortSignal;
  readonly events: ClusterEvents;
  readonly names: Names;
  /**
   * Read once, when it is first asked for, and again for a name that is not in the settings. Throws ConfigError where a
   * name in the settings means no space.
   */
  readonly spaces: (also?: string) => Promise<SpacesRead['spaces']>;
}
