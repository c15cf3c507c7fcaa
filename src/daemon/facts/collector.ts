/** Collects what is true now from the state of the daemon, and reports what has changed. */

import type { Clock } from '../../core/clock.ts';
import { LeaseLostError, messageOf, StoreError } from '../../core/errors.ts';
import { type Json, sameJson } from '../../core/json.ts';
import type { Logger } from '../../log.ts';
import type { Revert } from '../../plan/flapping.ts';
import type { QueueSnapshot } from '../../queue/snapshot.ts';
import type { PassEvents } from '../../reconcile/pass.ts';
import type { Fact, FactReport, Notifications, Scope } from '../../store/notifications.ts';
import type { Backend, OrganizationState, QueueState } from '../../web/model/backend.ts';
import { checkTimes } from '../../web/model/status.ts';
import {
  type BreakerState,
  budgetFacts,
  clusterFacts,
  commitStatusFacts,
  configurationFacts,
  conversationFacts,
  keepSince,
  passFacts,
  pauseFacts,
  planFacts,
  platformFacts,
  staleFacts,
  stateFileFacts,
  unownedFacts,
} from './facts.ts';

interface FactCollectorOptions {
  readonly backend: Backend;
  /** Activity of the passes, by organization. */
  readonly activity: ReadonlyMap<string, PassActivity>;
  /** Origin of the platform. */
  readonly platform: string;
  readonly notifications: Pick<Notifications, 'facts'>;
  /**
   * Returns the writer for the facts of an organization, or for those that belong to none (null). Null: another replica has
   * the lease.
   */
  readonly writer: (organization: string | null) => FactWriter | null;
  readonly log: Pick<Logger, 'warn' | 'debug'>;
  /** Called after facts have changed. */
  readonly onReported: () => void;
}

/** Writes facts, fenced by a lease of this replica. */
interface FactWriter extends Pick<Notifications, 'report'> {
  /** Epoch of the lease. What was written with an earlier one may have been replaced by another replica. */
  readonly epoch: number;
}

/** Facts by reporter, with the organization whose owner writes them (null: none). */
type Reports = Map<string, Report>;
interface Report {
  readonly organization: string | null;
  /** Null: not known, so that what was reported before stays true. */
  readonly facts: readonly Fact[] | null;
}

/** Facts as they were reported last, with the lease. */
interface Reported extends Pick<Report, 'organization'> {
  readonly facts: readonly Fact[];
  readonly epoch: number;
}

/** Milliseconds after which organizations without an event are read again: they may have become stale. */
const REREAD_AFTER = 60_000;

/** Facts of a daemon. Facts that were reported by an earlier process stay true until it is known that they are not. */
export class FactCollector {
  readonly #options: FactCollectorOptions;
  readonly #breakers = new BreakerWatch();
  /** By reporter. */
  readonly #reported = new Map<string, Reported>();
  /** Organizations with an event since they were read. */
  readonly #changed = new Set<string>();
  /** Time on the monotonic clock at which all organizations were read; null before that. */
  #readAt: number | null = null;
  /** Why the state file could not be used for the last report; null if it could. */
  #failure: string | null = null;
  #running: Promise<void> | null = null;
  #isWanted = false;

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

  /** Collects and reports; calls meanwhile cause one further run. Never throws: a failure is a fact of the next run. */
  async collect(): Promise<void> {
    this.#isWanted = true;
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
      const queues = this.#queues();
      for (const state of this.#due()) {
        await this.#addOrganization(reports, state, failures);
        if (!queues.has(state.id)) {
          reports.set(`queue/${state.id}`, { organization: state.id, facts: [] });
        }
      }
      const now = backend.clock.now();
      this.#addTokens(reports, queues, now);
      if (this.#options.writer(null) !== null) {
        this.#addShared(reports, failures[0] ?? null);
      }
      await this.#report(reports);
    }
  }

  /** Adds what belongs to no organization and no token. */
  #addShared(reports: Reports, failure: string | null): void {
    const { backend, platform } = this.#options;
    const now = backend.clock.now();
    const add = (reporter: string, facts: readonly Fact[] | null) =>
      reports.set(reporter, { organization: null, facts });
    add('fleet', unownedFacts(backend.fleet(), platform, now));
    add('configuration', configurationFacts(backend.configurationProblems()));
    add('daemon', stateFileFacts(this.#passFailure() ?? failure, now));
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
    const { backend, writer } = this.#options;
    return backend.organizations().filter(({ id }) => writer(id) !== null);
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
    const add = (reporter: string, facts: readonly Fact[] | null) =>
      reports.set(`${reporter}/${id}`, { organization: id, facts });
    if (reconciler !== null) {
      const flapping = passes?.flapping ?? [];
      add('passes', passFacts(id, scope, reconciler));
      add('plan', planFacts({ organization: id, scope, reconciler, flapping }));
    }
    const read = async (reporter: string, facts: () => Promise<readonly Fact[]>) => {
      try {
        add(reporter, await facts());
      } catch (error) {
        add(reporter, null);
        if (error instanceof StoreError) {
          failures.push(error.message);
        } else {
          this.#options.log.warn(
            { organization: id, reporter: `${reporter}/${id}`, reason: messageOf(error) },
            'cannot read what conditions are true',
          );
        }
      }
    };
    await read('organization', async () => {
      const { freshness } = await checkTimes(backend, state, now);
      const activeAt = passes?.activeAt ?? null;
      return [
        ...staleFacts(id, scope, freshness, { activeAt, now }),
        ...pauseFacts(id, scope, await state.history.pauses(now)),
      ];
    });
    if (config.conversations.sources.length > 0) {
      await read('conversations', async () =>
        conversationFacts(id, scope, await state.conversations.recentStatus(), now),
      );
    }
    if (statuses !== null) {
      add('statuses', commitStatusFacts(id, scope, statuses.failure));
    }
    if (config.clusters.enabled) {
      add('clusters', clusterFacts(id, scope, clusters.overview.lastRun));
    }
  }

  /**
   * Adds what belongs to a token, by its first organization here: other replicas may have other ones. The replica with the
   * shared work may have none, so the platform is part of it.
   */
  #addTokens(reports: Reports, queues: ReadonlyMap<string, QueueState>, now: number): void {
    const scope = { organization: null, platform: this.#options.platform };
    this.#breakers.retain(new Set([...queues.values()].map(({ name }) => name)));
    const observed = [...queues].map(([organization, queue]) => {
      const { name } = queue;
      const state = queue.snapshot();
      return { organization, name, state, breaker: this.#breakers.observe(name, state, now) };
    });
    const breakers = observed.map(({ breaker }) => breaker);
    for (const { organization, name, state, breaker } of observed) {
      const platform = platformFacts({ ...scope, token: null }, breaker, breakers);
      const budget = budgetFacts({ ...scope, token: name }, state, now);
      const facts = platform === null && budget.length === 0 ? null : [...(platform ?? []), ...budget];
      reports.set(`queue/${organization}`, { organization, facts });
    }
  }

  /** Returns the queues of this replica, each by its first organization here. */
  #queues(): ReadonlyMap<string, QueueState> {
    const owned = this.#owned.toReversed();
    const firsts = new Map(owned.map(({ id, queue }) => [queue.name, { id, queue }]));
    return new Map([...firsts.values()].map(({ id, queue }) => [id, queue]));
  }

  #tokenScope({ queue }: OrganizationState): Scope {
    return { organization: null, token: queue.name, platform: this.#options.platform };
  }

  async #report(reports: Reports): Promise<void> {
    const { notifications, onReported, log } = this.#options;
    /** Facts of an earlier process, or of the last owner; null before they were read. */
    let stored: readonly Fact[] | null = null;
    try {
      let hasChanged = false;
      for (const [reporter, { organization, facts: found }] of reports) {
        const writer = this.#options.writer(organization);
        if (writer === null || found === null) {
          continue;
        }
        const before = this.#lastReport(reporter, organization, writer);
        stored ??= before === null ? await notifications.facts() : null;
        const facts = keepSince(before ?? stored ?? [], found);
        if (before === null || !sameJson(before as unknown as Json, facts as unknown as Json)) {
          hasChanged = (await this.#write(writer, organization, { reporter, facts })) || hasChanged;
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

  /** Returns what this replica has reported last; null if it has not, or not with this lease. */
  #lastReport(reporter: string, organization: string | null, { epoch }: FactWriter): readonly Fact[] | null {
    const last = this.#reported.get(reporter);
    return last?.epoch === epoch && last.organization === organization ? last.facts : null;
  }

  /** Returns true if that changed something. After the loss of the lease nothing is written: the new owner reports. */
  async #write(writer: FactWriter, organization: string | null, report: FactReport): Promise<boolean> {
    const { reporter, facts } = report;
    try {
      // Without an answer it is not known what is stored, so that the next report is written in any case.
      this.#reported.delete(reporter);
      const hasChanged = await writer.report(report);
      this.#reported.set(reporter, { organization, facts, epoch: writer.epoch });
      return hasChanged;
    } catch (error) {
      if (error instanceof LeaseLostError) {
        return false;
      }
      throw error;
    }
  }
}

interface Observed extends BreakerState {
  /** Requests that the platform had answered at that time. */
  readonly answers: number;
}

class BreakerWatch {
  readonly #observed = new Map<string, Observed>();

  /** Forgets all but these tokens: another process uses them now, and this one may use them again later. */
  retain(tokens: ReadonlySet<string>): void {
    for (const token of this.#observed.keys()) {
      if (!tokens.has(token)) {
        this.#observed.delete(token);
      }
    }
  }

  /** Adds an observation of a token, and returns its state. */
  observe(
    token: string,
    { breaker, outcomes }: Pick<QueueSnapshot, 'breaker' | 'outcomes'>,
    now: number,
  ): BreakerState {
    const before = this.#observed.get(token) ?? { failingSince: null, answeredAt: null, answers: 0 };
    const answers = outcomes.answered + outcomes.rejected + outcomes.refused;
    const state = {
      failingSince: breaker === 'closed' ? null : (before.failingSince ?? now),
      answeredAt: answers > before.answers ? now : before.answeredAt,
      answers,
    };
    this.#observed.set(token, state);
    return state;
  }
}

export class PassActivity {
  readonly #clock: Pick<Clock, 'now'>;
  #flapping: readonly Revert[] = [];
  #activeAt: number | null = null;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Fields that are flapping since the last pass that planned. */
  get flapping(): readonly Revert[] {
    return this.#flapping;
  }

  /** Time at which the pass that runs last made progress, in milliseconds since the epoch; null if none runs. */
  get activeAt(): number | null {
    return this.#activeAt;
  }

  events(): PassEvents {
    const progress = () => {
      this.#activeAt = this.#clock.now();
    };
    return {
      onPassStart: progress,
      onSource: progress,
      onPlan: progress,
      onResult: progress,
      onFlapping: (flapping) => {
        this.#flapping = flapping;
      },
      onPassEnd: () => {
        this.#activeAt = null;
      },
    };
  }
}
