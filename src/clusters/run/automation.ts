import type { ClustersConfig } from '../../config/clusters.ts';
import type { Clock, Random } from '../../core/clock.ts';
import { ConfigError, messageOf, NotThePlatformError } from '../../core/errors.ts';
import type { Reader, Writer } from '../../platform/client.ts';
import { ConversationsProbe, isMissingOperation } from '../../platform/conversations-probe.ts';
import type { Priority } from '../../queue/request.ts';
import type { Note } from '../../store/store.ts';
import type { Spaces } from '../decide/route.ts';
import { memoizeRedaction, type Redaction, redactError } from '../model/redaction.ts';
import { type ClusterSource, NO_CLUSTERS } from '../model/source.ts';
import { IssueClusters } from '../read/issue-clusters.ts';
import { type FindingsName, SiteTopics } from '../read/site-topics.ts';
import { type Names, readSpaces, unknownSpacesError } from '../read/spaces.ts';
import { type ClusterEvents, type RunEnd, redactEvents } from './events.ts';
import { type RunNumbers, runClusters } from './run.ts';
import { type ClientObserver, type ClusterSession, openSession } from './session.ts';

/** Parts that `ClusterAutomation` needs. */
export interface AutomationOptions {
  readonly config: ClustersConfig;
  /** Opens a client that can only read. */
  readonly openReader: (priority: Priority, observer: ClientObserver) => Reader;
  /** Opens a client that can write; null for a dry run, which has no way to write. */
  readonly openWriter: ((priority: Priority, observer: ClientObserver) => Writer) | null;
  /** Stored state of the organization's clusters. */
  readonly note: Note;
  readonly names: Names;
  /** Returns the id of the site whose topics are used when the platform has no clusters; null or absent for none. */
  readonly site?: (() => Promise<string>) | null;
  /** Shared detection of whether the platform has clusters. */
  readonly probe?: ConversationsProbe;
  readonly clock: Clock;
  readonly random: Random;
  /** Applied to everything that comes from tickets. */
  readonly redaction: Redaction;
  /** Nothing new is started after it aborts. */
  readonly signal: AbortSignal;
  readonly events: ClusterEvents;
}

/** Interval in which a platform without clusters is checked again, in milliseconds. */
const RECHECK_INTERVAL = 86_400_000;
/**
 * Interval in which a site without topics is checked again, in milliseconds: the manifests may create the site. A
 * little less than an hour, the interval of the default schedule.
 */
const SITE_RECHECK_INTERVAL = 3_000_000;

const NO_NUMBERS: RunNumbers = { read: 0, passing: 0, opened: 0, superseded: 0, commented: 0, skipped: {}, open: 0 };

/** Cluster automation of an organization: runs, and requests of the control API, one at a time. */
export class ClusterAutomation {
  readonly #options: AutomationOptions;
  #turn: Promise<unknown> = Promise.resolve();
  /** Time on the monotonic clock since when the platform lacks clusters; null if it has them or that is unknown. */
  #absentSince: number | null = null;
  /** True if every space in the settings has been found, so that a run without changes need not read spaces. */
  #areSpacesKnown: boolean;
  readonly #probe: ConversationsProbe;
  readonly #findings: FindingsName = { is: null };
  #kind: ClusterSource['kind'] | null = null;

  constructor(options: AutomationOptions) {
    const redaction = memoizeRedaction(options.redaction);
    const own = options.config.changeRequest.reviewers;
    this.#options = { ...options, redaction, events: redactEvents(options.events, redaction, own) };
    this.#probe = options.probe ?? new ConversationsProbe();
    this.#areSpacesKnown = options.config.spaceNames.length === 0;
  }

  /** Runs once. Never rejects: the result and the events contain the error. */
  run(): Promise<RunEnd> {
    return this.#inTurn(async () => {
      const { clock, events, openWriter, signal, site } = this.#options;
      const started = clock.monotonic();
      let requests = 0;
      const finish = (attempt: Attempt): RunEnd => ({
        ...NO_NUMBERS,
        ...attempt,
        source: this.#kind,
        requests,
        milliseconds: clock.monotonic() - started,
        dryRun: openWriter === null,
      });
      const since = this.#absentSince;
      const pause = site ? SITE_RECHECK_INTERVAL : RECHECK_INTERVAL;
      if (signal.aborted || (since !== null && started - since < pause)) {
        return finish({ outcome: since === null ? 'failed' : 'unsupported', error: null });
      }
      const onRequest = () => {
        requests += 1;
      };
      const end = finish(await this.#attempt(onRequest));
      this.#absentSince = end.outcome === 'unsupported' ? clock.monotonic() : null;
      events.onRunEnd?.(end);
      return end;
    });
  }

  /** Runs `work` for a person with an open session while no run is in progress. */
  use<T>(
    { dryRun, silent = false }: { readonly dryRun: boolean; readonly silent?: boolean },
    work: (session: ClusterSession) => Promise<T>,
  ): Promise<T> {
    return this.#inTurn(async () => {
      try {
        return await work(await this.#open('person', dryRun, silent ? {} : this.#options.events));
      } catch (error) {
        // The platform may have been replaced; the next request detects it again.
        if (isMissingOperation(error)) {
          this.#probe.forget();
        }
        throw redactError(error, this.#options.redaction);
      }
    });
  }

  /**
   * Checks that every space in the settings exists. What cannot be checked yet is checked by the first run. Throws
   * ConfigError with the position of each unknown space.
   */
  async checkSpaces(): Promise<void> {
    const { config, names } = this.#options;
    const recorded = await names.recorded('space');
    this.#areSpacesKnown ||= config.spaceNames.every(({ name }) => recorded.has(name));
    if (this.#areSpacesKnown || !config.enabled) {
      return;
    }
    const declared = await names.declared();
    if (declared === null || config.spaceNames.every(({ name }) => recorded.has(name) || declared.has(name))) {
      return;
    }
    const known = { ...names, declared: async () => declared };
    try {
      await this.#readSpaces(this.#options.openReader('clusters', {}), known);
    } catch (error) {
      if (error instanceof ConfigError) {
        throw error;
      }
    }
  }

  /** Resolves when nothing is in progress. */
  async idle(): Promise<void> {
    await this.#turn;
  }

  async #attempt(onRequest: () => void): Promise<Attempt> {
    const open = () => this.#open('clusters', false, this.#options.events, onRequest);
    try {
      const session = await open();
      if (!this.#areSpacesKnown) {
        await session.spaces();
      }
      const numbers = (await runClusters(session, this.#options.config)) ?? (await this.#tryOtherSource(session, open));
      if (numbers !== null) {
        return { ...numbers, outcome: 'done', error: null };
      }
      const reason = NO_CLUSTERS[this.#options.site ? 'topics' : 'clusters'];
      return { outcome: 'unsupported', error: new NotThePlatformError(reason) };
    } catch (error) {
      // Work that stops with the daemon is not reported as an error.
      return { outcome: 'failed', error: this.#options.signal.aborted ? null : toError(error) };
    }
  }

  /** Repeats a run with topics if there are no clusters any more, or with clusters if there are no topics. */
  async #tryOtherSource({ source }: ClusterSession, open: () => Promise<ClusterSession>): Promise<RunNumbers | null> {
    this.#probe.forget();
    if ((this.#options.site ?? null) === null) {
      return null;
    }
    const session = await open();
    return session.source.kind === source.kind ? null : runClusters(session, this.#options.config);
  }

  /** Opens the organization's issue clusters, or the topics of the configured site if there are no clusters. */
  async #openSource(reader: Reader, clock: Clock): Promise<ClusterSource> {
    const { site = null } = this.#options;
    const source: ClusterSource =
      site === null || (await this.#probe.has(reader))
        ? new IssueClusters(reader)
        : new SiteTopics(reader, await site(), clock, this.#findings);
    this.#kind = source.kind;
    return source;
  }

  #open(
    priority: Priority,
    dryRun: boolean,
    events: ClusterEvents,
    onRequest: () => void = () => undefined,
  ): Promise<ClusterSession> {
    const { openReader, openWriter, names } = this.#options;
    return openSession({
      ...this.#options,
      openReader: (observer) => openReader(priority, observer),
      openWriter: dryRun || openWriter === null ? null : (observer) => openWriter(priority, observer),
      openSource: (reader, clock) => this.#openSource(reader, clock),
      readSpaces: (reader, additional) => this.#readSpaces(reader, names, additional),
      events,
      onRequest,
    });
  }

  async #readSpaces(reader: Reader, names: Names, additional?: string): Promise<Spaces> {
    const { spaces, unknown, known } = await readSpaces(reader, names, this.#options.config, additional);
    if (unknown.length > 0) {
      throw unknownSpacesError(unknown, known);
    }
    this.#areSpacesKnown = true;
    return spaces;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }
}

type Attempt = Pick<RunEnd, 'outcome' | 'error'> & Partial<RunNumbers>;

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}
