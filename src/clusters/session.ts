/** The clients, settings and stored state over which one run, or one request of the control API, works. */
import type { ClustersConfig } from '../config/clusters.ts';
import type { Clock, Random } from '../core/clock.ts';
import type { ClientOptions, Reader, Writer } from '../platform/client.ts';
import { createServerClock, type ServerClock } from '../queue/server-clock.ts';
import type { ClusterEvents } from './events.ts';
import type { Redaction } from './redaction.ts';
import type { Names, Routing, Spaces } from './route.ts';
import type { SelectionRule } from './select.ts';
import type { ClusterSource } from './sources.ts';
import type { ClusterStore, Memory } from './store.ts';

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

/** Differences below this are latency and rounding, in milliseconds. */
const NEGLIGIBLE = 60_000;

/**
 * Clock whose wall clock is the current time of the platform, for comparison with the timestamps of its records: the
 * `Date` of its responses, corrected by the timestamp of a record that was created here. The local clock is used until
 * a response has a `Date`.
 */
export class PlatformClock implements Clock {
  readonly #clock: Clock;
  readonly #server: ServerClock;
  /** Null if unknown. Passed to the clock of the next run. */
  skew: Memory['skew'];
  /** Records the headers of a response; times are monotonic milliseconds. */
  readonly observeAnswer: ServerClock['observe'];

  constructor(clock: Clock, skew: Memory['skew']) {
    this.#clock = clock;
    this.#server = createServerClock(clock.now() - clock.monotonic());
    this.observeAnswer = this.#server.observe;
    this.skew = skew;
  }

  /** Records the timestamp of a record that the platform just created, in milliseconds since the epoch. */
  observeCreated(stamp: number): void {
    const milliseconds = stamp - this.#server.toServer(this.#clock.monotonic());
    this.skew = { milliseconds: Math.abs(milliseconds) < NEGLIGIBLE ? 0 : milliseconds, isExact: true };
  }

  /** Records the newest timestamp of a list, which is a lower bound for the platform's time. */
  observeListed(stamp: number): void {
    const ahead = stamp - this.now();
    if (ahead > NEGLIGIBLE && this.skew?.isExact !== true) {
      this.skew = { milliseconds: (this.skew?.milliseconds ?? 0) + ahead, isExact: false };
    }
  }

  now(): number {
    return this.#server.toServer(this.#clock.monotonic()) + (this.skew?.milliseconds ?? 0);
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(milliseconds, signal);
  }
}
