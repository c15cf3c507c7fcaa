/** Collects what is true now from the state of the daemon, and reports what has changed. */
import { LeaseLostError, messageOf, StoreError } from '../../core/errors.ts';
import { type Json, sameJson } from '../../core/json.ts';
import type { Logger } from '../../log.ts';
import type { Fact, Notifications, Scope } from '../../store/notifications.ts';
import type { Backend, OrganizationState } from '../../views/model/backend.ts';
import { checkTimes } from '../../views/model/checks.ts';
import { BreakerWatch } from './breaker-watch.ts';
import { keepSince } from './fact.ts';
import { unownedFacts } from './fleet-facts.ts';
import { clusterFacts, commitStatusFacts, conversationFacts, pauseFacts, staleFacts } from './organization-facts.ts';
import type { PassActivity } from './pass-activity.ts';
import { passFacts, tokenRefusal } from './pass-facts.ts';
import { planFacts } from './plan-facts.ts';
import { budgetFacts, configurationFacts, platformFacts, refusalFacts, stateFileFacts } from './platform-facts.ts';

export interface FactCollectorOptions {
  readonly backend: Backend;
  /** Activity of the passes, by organization. */
  readonly activity: ReadonlyMap<string, PassActivity>;
  /** Origin of the platform. */
  readonly platform: string;
  readonly notifications: Pick<Notifications, 'report' | 'facts'>;
  readonly log: Pick<Logger, 'warn' | 'debug'>;
  /** Called after facts have changed. */
  readonly onReported: () => void;
  /** Returns why the files of the configuration cannot be used; null if they can. */
  readonly configuration?: () => { readonly reason: string; readonly since: number } | null;
  /** Returns true for the organizations of this replica. Default: all. */
  readonly isOwned?: (organization: string) => boolean;
}

/** Facts by reporter; null: not known, so that what was reported before stays true. */
type Reports = Map<string, readonly Fact[] | null>;

/** Milliseconds after which organizations without an event are read again: they may have become stale. */
const REREAD_AFTER = 60_000;

/** Facts of a daemon. Facts that were reported by an earlier process stay true until it is known that they are not. */
export class FactCollector {
  readonly #options: FactCollectorOptions;
  readonly #breakers = new BreakerWatch();
  /** Facts as they were reported last, by reporter. */
  readonly #reported = new Map<string, readonly Fact[]>();
  /** Facts of an earlier process; null before they were read. */
  #earlier: readonly Fact[] | null = null;
  /** Organizations with an event since they were read. */
  readonly #changed = new Set<string>();
  /** Time on the monotonic clock at which all organizations were read; null before that. */
  #readAt: number | null = null;
  /** Why the state file could not be used for the last report; null if it could. */
  #failure: string | null = null;
  #running: Promise<void> | null = null;
  #isWanted = false;
  #isShared = true;

  constructor(options: FactCollectorOptions) {
    this.#options = options;
  }

  /** Reads an organization at the next run. Does nothing for other topics. */
  markChanged(topic: string): void {
    this.#changed.add(topic);
  }

  /** Reports everything about an organization again. */
  forget(organization: string): void {
    this.#changed.add(organization);
    for (const reporter of this.#reported.keys()) {
      if (reporter.endsWith(`/${organization}`)) {
        this.#reported.delete(reporter);
      }
    }
  }

  /**
   * Collects and reports; calls meanwhile cause one further run. `isShared`: also reports what belongs to no organization
   * and no token. Never throws: a failure is a fact of the next run.
   */
  async collect(isShared = true): Promise<void> {
    this.#isWanted = true;
    this.#isShared = isShared;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    await this.#running;
  }

  /** Resolves when nothing is being collected. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false;
      const { backend } = this.#options;
      const reports: Reports = new Map();
      const failures = this.#failure === null ? [] : [this.#failure];
      for (const state of this.#due()) {
        await this.#addOrganization(reports, state, failures);
      }
      const now = backend.clock.now();
      const breakers = this.#addTokens(reports, now);
      if (this.#isShared) {
        reports.set(
          'platform',
          platformFacts({ organization: null, token: null, platform: this.#options.platform }, breakers),
        );
        reports.set('fleet', unownedFacts(backend.fleet(), this.#options.platform, now));
        reports.set('configuration', configurationFacts(this.#options.configuration?.() ?? null));
        reports.set('daemon', stateFileFacts(this.#passFailure() ?? failures[0] ?? null, now));
      }
      await this.#report(reports);
    }
  }

  /** Returns the organizations that may have changed. */
  #due(): readonly OrganizationState[] {
    const { backend } = this.#options;
    const now = backend.clock.monotonic();
    const changed = new Set(this.#changed);
    this.#changed.clear();
    if (this.#readAt === null || now - this.#readAt >= REREAD_AFTER) {
      this.#readAt = now;
      return this.#owned;
    }
    return changed.size === 0 ? [] : this.#owned.filter(({ id }) => changed.has(id));
  }

  /** Organizations of this replica. */
  get #owned(): readonly OrganizationState[] {
    const { backend, isOwned = () => true } = this.#options;
    return backend.organizations().filter(({ id }) => isOwned(id));
  }

  /** Returns why a last pass could not use the state file; null if none failed so. */
  #passFailure(): string | null {
    const errors = this.#owned.map(({ reconciler }) => reconciler?.lastEnd?.error);
    return errors.find((error) => error instanceof StoreError && !(error instanceof LeaseLostError))?.message ?? null;
  }

  async #addOrganization(reports: Reports, state: OrganizationState, failures: string[]): Promise<void> {
    const { backend, activity } = this.#options;
    const { id, reconciler, config, clusters, statuses } = state;
    const now = backend.clock.now();
    const scope = { ...this.#tokenScope(state), organization: id };
    const passes = activity.get(id);
    if (reconciler !== null) {
      const flapping = passes?.flapping ?? [];
      reports.set(`passes/${id}`, passFacts(id, scope, reconciler));
      reports.set(`plan/${id}`, planFacts({ organization: id, scope, reconciler, flapping }));
    }
    const read = async (reporter: string, facts: () => Promise<readonly Fact[]>) => {
      try {
        reports.set(reporter, await facts());
      } catch (error) {
        reports.set(reporter, null);
        if (error instanceof StoreError) {
          failures.push(error.message);
        } else {
          this.#options.log.warn(
            { organization: id, reporter, reason: messageOf(error) },
            'cannot read what conditions are true',
          );
        }
      }
    };
    await read(`organization/${id}`, async () => {
      const { freshness } = await checkTimes(backend, state, now);
      const activeAt = passes?.activeAt ?? null;
      return [
        ...staleFacts(id, scope, freshness, { activeAt, now }),
        ...pauseFacts(id, scope, await state.history.pauses(now)),
      ];
    });
    if (config.conversations.sources.length > 0) {
      await read(`conversations/${id}`, async () =>
        conversationFacts(id, scope, await state.conversations.status(), now),
      );
    }
    if (statuses !== null) {
      reports.set(`statuses/${id}`, commitStatusFacts(id, scope, statuses.failure));
    }
    if (config.clusters.enabled) {
      reports.set(`clusters/${id}`, clusterFacts(id, scope, clusters.overview.lastRun));
    }
  }

  #addTokens(reports: Reports, now: number): ReturnType<BreakerWatch['observe']>[] {
    const tokens = Map.groupBy(this.#owned, ({ queue }) => queue.name);
    return [...tokens].map(([name, members]) => {
      const [first] = members as [OrganizationState];
      const snapshot = first.queue.snapshot();
      const scope = this.#tokenScope(first);
      const ended = members.filter(({ reconciler }) => (reconciler?.lastEnd ?? null) !== null);
      const refusals = ended.flatMap(({ id, reconciler }) => {
        const refusal = reconciler === null ? null : tokenRefusal(reconciler);
        return refusal === null ? [] : [{ organization: id, ...refusal }];
      });
      reports.set(`token/${name}`, ended.length === 0 ? null : refusalFacts(scope, refusals));
      reports.set(`budget/${name}`, budgetFacts(scope, snapshot, now));
      return this.#breakers.observe(name, snapshot, now);
    });
  }

  #tokenScope({ queue }: OrganizationState): Scope {
    return { organization: null, token: queue.name, platform: this.#options.platform };
  }

  async #report(reports: Reports): Promise<void> {
    const { notifications, onReported, log } = this.#options;
    try {
      this.#earlier ??= await notifications.facts();
      let hasChanged = false;
      for (const [reporter, found] of reports) {
        const before = this.#reported.get(reporter);
        const facts = found === null ? null : keepSince(before ?? this.#earlier, found);
        if (
          facts !== null &&
          (before === undefined || !sameJson(before as unknown as Json, facts as unknown as Json))
        ) {
          hasChanged = (await notifications.report({ reporter, facts })) || hasChanged;
          this.#reported.set(reporter, facts);
        }
      }
      this.#failure = null;
      if (hasChanged) {
        onReported();
      }
    } catch (error) {
      const level = this.#failure === null ? 'warn' : 'debug';
      this.#failure = messageOf(error);
      // What was not reported is read again.
      this.#readAt = null;
      log[level]({ reason: this.#failure }, 'cannot store what conditions are true');
    }
  }
}
