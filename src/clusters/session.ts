/** The clients, settings and stored state over which one run, or one request of the control API, works. */
import type { ClustersConfig } from '../config/clusters.ts';
import type { Random } from '../core/clock.ts';
import type { ClientOptions, Reader, Writer } from '../platform/client.ts';
import type { ClusterEvents } from './events.ts';
import type { PlatformClock } from './platform-clock.ts';
import type { Redaction } from './redaction.ts';
import type { Names, Routing, Spaces } from './route.ts';
import type { SelectionRule } from './select.ts';
import type { ClusterSource } from './sources.ts';
import type { ClusterStore } from './store.ts';

export interface ClusterSession {
  readonly config: ClustersConfig;
  readonly reader: Reader;
  /** Null in a dry run: nothing is written to the platform or to the store. */
  readonly writer: Writer | null;
  readonly source: ClusterSource;
  readonly rule: SelectionRule;
  readonly routing: Routing;
  readonly names: Names;
  /**
   * Reads the spaces once, and again for a name that is not in the settings. Throws ConfigError for an unknown name in
   * the settings.
   */
  readonly spaces: (additional?: string) => Promise<Spaces>;
  readonly store: ClusterStore;
  /** All times are compared and stored in the platform's time. */
  readonly clock: PlatformClock;
  readonly random: Random;
  readonly redaction: Redaction;
  readonly signal: AbortSignal;
  readonly events: ClusterEvents;
}

/** A session that is not a dry run. */
export interface WritingSession extends ClusterSession {
  readonly writer: Writer;
}

export function canWrite(session: ClusterSession): session is WritingSession {
  return session.writer !== null;
}

/** Observes the requests of a client. */
export type ClientObserver = Pick<ClientOptions, 'onRequest' | 'onAnswer'>;
