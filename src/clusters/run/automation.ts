import { createHash } from 'node:crypto';
import type { ClustersConfig } from '../../config/clusters.ts';
import type { Clock, Random } from '../../core/clock.ts';
import { ConfigError, messageOf, NotThePlatformError } from '../../core/errors.ts';
import { canonicalJson } from '../../core/json.ts';
import type { ClientOptions, Reader, Writer } from '../../platform/client.ts';
import { ConversationsProbe, saysNotThere } from '../../platform/conversations-probe.ts';
import { PlatformTime } from '../../platform/platform-time.ts';
import type { Priority } from '../../queue/model/request.ts';
import type { Note } from '../../store/store.ts';
import { createRouting } from '../decide/route.ts';
import { createSelectionRule, type SelectionRule } from '../decide/select.ts';
import { memoizeRedaction, type Redaction, redactError } from '../model/redaction.ts';
import { type ClusterSource, NO_CLUSTERS } from '../model/source.ts';
import { ClusterStore } from '../read/cluster-store.ts';
import { IssueClusters } from '../read/issue-clusters.ts';
import { RedactedSource } from '../read/redacted-source.ts';
import { type FindingsName, SiteTopics } from '../read/site-topics.ts';
import { type Names, readSpaces, type SpacesRead, unknownSpacesError } from '../read/spaces.ts';
import type { RunContext } from './context.ts';
import type { ClusterEvents, RunEnd } from './events.ts';
import { redactEvents } from './redacted-events.ts';
import { type RunNumbers, runClusters } from './run.ts';

/** Observes the requests of a client. */
export type ClientObserver = Pick<ClientOptions, 'onRequest' | 'onAnswer'>;

export interface AutomationOptions {
  readonly config: ClustersConfig;
  /** Opens a client that can only read. */
  readonly openReader: (priority: Priority, observer: ClientObserver) => Reader;
  /** Opens a client that can write; null: a dry run, which so has no way to. */
  readonly openWriter: ((priority: Priority, observer: ClientObserver) => Writer) | null;
  /** What is remembered of this organization's clusters. */
  readonly note: Note;
  readonly names: Names;
  /** Gives the id of the site whose topics are the clusters where the platform has none; null or absent: none. */
  readonly site?: (() => Promise<string>) | null;
  /** Shared by all who want to know whether the platform has clusters. */
  readonly probe?: ConversationsProbe;
  readonly clock: Clock;
  readonly random: Random;
  /** Everything that comes from tickets passes it. */
  readonly redaction: Redaction;
  /** Begins nothing new once it aborts. */
  readonly signal: AbortSignal;
  readonly events: ClusterEvents;
}

/** Milliseconds until a platform that has no clusters is asked again. */
const ASKED_AGAIN = 86_400_000;
/**
 * The same where a site is named, and has no topics: it may be there only once the manifests were applied. A little less
 * than the hour of the usual schedule.
 */
const SITE_ASKED_AGAIN = 3_000_000;

const NOTHING = { read: 0, passing: 0, opened: 0, superseded: 0, commented: 0, skipped: {}, open: 0 };

/** An organization's issue clusters: runs over them, and what a person asks; one at a time. */
export class ClusterAutomation {
  readonly #options: AutomationOptions;
  #turn: Promise<unknown> = Promise.resolve();
  /** On the monotonic scale; null: as far as is known, it has clusters. */
  #absentSince: number | null = null;
  /** Whether every space that the settings name has been found, so that a quiet run need not look. */
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

  /** One run. Never rejects: how it ended is told, too. */
  run(): Promise<RunEnd> {
    return this.#inTurn(async () => {
      const { clock, events, openWriter, signal } = this.#options;
      const started = clock.monotonic();
      let requests = 0;
      const told = (rest: Pick<RunEnd, 'outcome' | 'error'> & Partial<RunEnd>): RunEnd => ({
        ...NOTHING,
        ...rest,
        source: this.#kind,
        requests,
        milliseconds: clock.monotonic() - started,
        dryRun: openWriter === null,
      });
      const since = this.#absentSince;
      const pause = this.#options.site ? SITE_ASKED_AGAIN : ASKED_AGAIN;
      if (signal.aborted || (since !== null && started - since < pause)) {
        return told({ outcome: since === null ? 'failed' : 'unsupported', error: null });
      }
      const count = () => {
        requests += 1;
      };
      const end = await this.#attempt(count, told);
      this.#absentSince = end.outcome === 'unsupported' ? clock.monotonic() : null;
      events.onRunEnd?.(end);
      return end;
    });
  }

  /** Works with what a run would, when none is under way. `dryRun`: nothing is written. */
  use<T>(priority: Priority, dryRun: boolean, work: (context: RunContext) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      try {
        return await work(await this.#context(priority, () => undefined, dryRun));
      } catch (error) {
        // The platform may have become another one, and who asks next is to find out.
        if (saysNotThere(error)) {
          this.#probe.forget();
        }
        throw redactError(error, this.#options.redaction);
      }
    });
  }

  /**
   * Whether every space that the settings name is there, as far as that can be known now: what cannot is told by the
   * first run. Throws ConfigError with the place of each that is not.
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
      await this.#spaces(this.#options.openReader('clusters', {}), known);
    } catch (error) {
      if (error instanceof ConfigError) {
        throw error;
      }
    }
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#turn;
  }

  async #attempt(
    count: () => void,
    told: (rest: Pick<RunEnd, 'outcome' | 'error'> & Partial<RunEnd>) => RunEnd,
  ): Promise<RunEnd> {
    try {
      const context = await this.#context('clusters', count, false);
      if (!this.#areSpacesKnown) {
        await context.spaces();
      }
      const numbers = (await runClusters(context)) ?? (await this.#elsewhere(context, count));
      return told(
        numbers === null
          ? {
              outcome: 'unsupported',
              error: new NotThePlatformError(NO_CLUSTERS[this.#options.site ? 'topics' : 'clusters']),
            }
          : { ...numbers, outcome: 'done', error: null },
      );
    } catch (error) {
      // What is given up because the daemon is asked to stop is no mistake to be told of.
      return told({ outcome: 'failed', error: this.#options.signal.aborted ? null : errorOf(error) });
    }
  }

  /** Where there are no more clusters than there were topics before, or the other way around: a run over the others. */
  async #elsewhere({ source }: RunContext, count: () => void): Promise<RunNumbers | null> {
    this.#probe.forget();
    if ((this.#options.site ?? null) === null) {
      return null;
    }
    const context = await this.#context('clusters', count, false);
    return context.source.kind === source.kind ? null : runClusters(context);
  }

  /** The organization's issue clusters; the topics of a site, where one is named and there are no clusters. */
  async #source(reader: Reader, clock: Clock): Promise<ClusterSource> {
    const { site = null } = this.#options;
    const source: ClusterSource =
      site === null || (await this.#probe.has(reader))
        ? new IssueClusters(reader)
        : new SiteTopics(reader, await site(), clock, this.#findings);
    this.#kind = source.kind;
    return source;
  }

  async #context(priority: Priority, count: () => void, dryRun: boolean): Promise<RunContext> {
    const { config, openReader, openWriter, note, names, random, redaction, signal, events } = this.#options;
    const isWriting = !dryRun && openWriter !== null;
    const book = await ClusterStore.open(note, settingsHash(config), { keeps: isWriting, redaction });
    const local = this.#options.clock;
    const time = new PlatformTime(local, book.memory.skew);
    const clock: Clock = {
      now: () => time.now(),
      monotonic: () => local.monotonic(),
      sleep: (milliseconds, stop) => local.sleep(milliseconds, stop),
    };
    const observer: ClientObserver = {
      onRequest: count,
      onAnswer: (headers, sentAt, receivedAt) => time.observeAnswer(headers, sentAt, receivedAt),
    };
    const writer = isWriting ? openWriter(priority, observer) : null;
    const reader = writer ?? openReader(priority, observer);
    const source = new RedactedSource(await this.#source(reader, clock), redaction);
    let spaces: Promise<SpacesRead['spaces']> | null = null;
    return {
      config,
      rule: ruleFor(config, source),
      routing: createRouting(config),
      reader,
      source,
      writer,
      book,
      clock,
      time,
      random,
      redaction,
      signal,
      events,
      names,
      spaces: (also) => {
        spaces = also === undefined ? (spaces ?? this.#spaces(reader, names)) : this.#spaces(reader, names, also);
        return spaces;
      },
    };
  }

  async #spaces(reader: Reader, names: Names, also?: string): Promise<SpacesRead['spaces']> {
    const { spaces, unknown, known } = await readSpaces(reader, names, this.#options.config, also);
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

/** What was judged as clusters says nothing of topics, nor the other way around: to each its own rule. */
function ruleFor(config: ClustersConfig, { kind }: ClusterSource): SelectionRule {
  const rule = createSelectionRule(config);
  return kind === 'clusters' ? rule : { ...rule, hash: `${rule.hash} ${kind}` };
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}

/** What decides about clusters: where it is another, nothing that was found out holds. */
function settingsHash({ select, routes, search, defaultSpace: fallback, afterMerge }: ClustersConfig): string {
  const text = canonicalJson({ select, routes, search, defaultSpace: fallback, afterMerge });
  return createHash('sha256').update(text).digest('hex');
}
