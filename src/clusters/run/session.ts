import { createHash } from 'node:crypto';
import type { ClustersConfig } from '../../config/clusters.ts';
import type { Clock, Random } from '../../core/clock.ts';
import { canonicalJson } from '../../core/json.ts';
import type { ClientOptions, Reader, Writer } from '../../platform/client.ts';
import { PlatformTime } from '../../platform/platform-time.ts';
import type { Note } from '../../store/store.ts';
import { createRouting, type Spaces } from '../decide/route.ts';
import { createSelectionRule, type SelectionRule } from '../decide/select.ts';
import type { Redaction } from '../model/redaction.ts';
import type { ClusterSource } from '../model/source.ts';
import { ClusterStore } from '../read/cluster-store.ts';
import { RedactedSource } from '../read/redacted-source.ts';
import type { Names } from '../read/spaces.ts';
import { ChangeRequestLists } from './change-request-lists.ts';
import { DraftCreator } from './draft-creator.ts';
import { Drafts } from './drafts.ts';
import type { ClusterEvents } from './events.ts';
import { FollowUps } from './follow-ups.ts';
import { OpeningRules } from './opening-rules.ts';
import { Proposals } from './proposals.ts';
import { RequestTracker } from './request-tracker.ts';
import { Reviewers } from './reviewers.ts';

/** Steps that write to the platform. */
interface WriteSteps {
  readonly writer: Writer;
  readonly creator: DraftCreator;
  readonly drafts: Drafts;
  readonly reviewers: Reviewers;
  readonly followUps: FollowUps;
}

/** Steps of one run, or of one request of the control API, over the same clients and the same stored state. */
export interface ClusterSession {
  readonly source: ClusterSource;
  readonly rule: SelectionRule;
  readonly store: ClusterStore;
  /** Clock whose `now` is the platform's time, in which all times are compared and stored. */
  readonly clock: Clock;
  readonly events: ClusterEvents;
  /**
   * Reads the spaces once, and again for a name that is not in the settings. Throws ConfigError for an unknown name in
   * the settings.
   */
  readonly spaces: (additional?: string) => Promise<Spaces>;
  readonly lists: ChangeRequestLists;
  readonly tracker: RequestTracker;
  readonly rules: OpeningRules;
  readonly proposals: Proposals;
  /** Null in a dry run: nothing is written to the platform or to the store. */
  readonly writes: WriteSteps | null;
}

/** Observes the requests of a client. */
export type ClientObserver = Pick<ClientOptions, 'onRequest' | 'onAnswer'>;

/** Options of `openSession`. */
export interface SessionOptions {
  readonly config: ClustersConfig;
  readonly openReader: (observer: ClientObserver) => Reader;
  /** Null in a dry run. */
  readonly openWriter: ((observer: ClientObserver) => Writer) | null;
  readonly openSource: (reader: Reader, clock: Clock) => Promise<ClusterSource>;
  readonly readSpaces: (reader: Reader, additional?: string) => Promise<Spaces>;
  readonly note: Note;
  readonly names: Names;
  readonly clock: Clock;
  readonly random: Random;
  readonly redaction: Redaction;
  readonly signal: AbortSignal;
  readonly events: ClusterEvents;
  readonly onRequest: () => void;
}

/** Opens the clients and the stored state, and connects the steps. Throws AppError. */
export async function openSession(options: SessionOptions): Promise<ClusterSession> {
  const { config, openReader, openWriter, names, redaction, events } = options;
  const store = await ClusterStore.open(options.note, settingsHash(config), { keeps: openWriter !== null, redaction });
  const time = new PlatformTime(options.clock, store.memory.skew);
  const clock: Clock = {
    now: () => time.now(),
    monotonic: () => options.clock.monotonic(),
    sleep: (milliseconds, stop) => options.clock.sleep(milliseconds, stop),
  };
  const observer: ClientObserver = {
    onRequest: options.onRequest,
    onAnswer: (headers, sentAt, receivedAt) => time.observeAnswer(headers, sentAt, receivedAt),
  };
  const writer = openWriter?.(observer) ?? null;
  const reader = writer ?? openReader(observer);
  const source = new RedactedSource(await options.openSource(reader, clock), redaction);
  let known: Promise<Spaces> | null = null;
  const spaces = (additional?: string) => {
    known = additional === undefined ? (known ?? options.readSpaces(reader)) : options.readSpaces(reader, additional);
    return known;
  };
  const lists = new ChangeRequestLists({ reader, source, store, clock, time, redaction, spaces });
  const tracker = new RequestTracker({
    ...{ reader, lists, store, clock, redaction },
    // A dry run stores nothing, so every run would report the same changes again.
    events: writer === null ? {} : events,
    muteMerged: config.afterMerge.mute,
  });
  const settings = config.changeRequest;
  const routing = createRouting(config);
  const proposals = new Proposals({ reader, source, routing, spaces, settings, redaction, events });
  return {
    ...{ source, store, clock, events, spaces, lists, tracker, proposals },
    rule: ruleFor(config, source),
    rules: new OpeningRules(store, clock, config),
    writes:
      writer === null
        ? null
        : {
            writer,
            creator: new DraftCreator({
              ...{ writer, source, store, clock, time, settings, events },
              random: options.random,
            }),
            drafts: new Drafts({
              ...{ writer, source, store, tracker, proposals, spaces, config, clock, events },
              signal: options.signal,
            }),
            reviewers: new Reviewers({ reader, writer, names, store, events, reviewers: settings.reviewers }),
            followUps: new FollowUps({ writer, source, store, clock, events }),
          },
  };
}

/**
 * Returns the selection rule. Its hash includes the kind of source, because verdicts about clusters do not apply to
 * topics.
 */
function ruleFor(config: ClustersConfig, { kind }: ClusterSource): SelectionRule {
  const rule = createSelectionRule(config);
  return kind === 'clusters' ? rule : { ...rule, hash: `${rule.hash} ${kind}` };
}

/** Returns a hash of the settings that affect stored results. */
function settingsHash({ select, routes, search, defaultSpace, afterMerge }: ClustersConfig): string {
  const text = canonicalJson({ select, routes, search, defaultSpace, afterMerge });
  return createHash('sha256').update(text).digest('hex');
}
