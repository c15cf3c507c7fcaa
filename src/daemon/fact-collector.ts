/** Collects what is true now from the state of the daemon, and reports what has changed. */

import type { Clock } from '../core/clock.ts';
import { LeaseLostError, messageOf, StoreError } from '../core/errors.ts';
import { type Json, sameJson } from '../core/json.ts';
import type { Revert } from '../plan/flapping.ts';
import type { QueueSnapshot } from '../queue/snapshot.ts';
import type { PassEvents } from '../reconcile/pass.ts';
import type { Lease } from '../store/leases.ts';
import type { Fact, FactReport } from '../store/notifications.ts';
import type { Backend, OrganizationState, QueueState } from '../web/model/page.ts';
import { checkTimes } from '../web/model/status.ts';
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
} from './facts/facts.ts';
import type { DaemonNotifications } from './notifications.ts';
import type { DaemonContext } from './organization/feature.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';

/** Facts by reporter, with the organization whose owner writes them (null: none). */
type Reports = Map<string, Report>;
interface Report {
  readonly organization: string | null;
  /** Null: not known, so that what was reported before stays true. */
  readonly facts: readonly Fact[] | null;
}

/** Facts as they were reported last, with the epoch of the lease. */
interface Reported extends Pick<Report, 'organization'> {
  readonly facts: readonly Fact[];
  readonly epoch: number;
}

/** Passes of an organization. */
interface PassActivity {
  /** Fields that are flapping since the last pass that planned. */
  flapping: readonly Revert[];
  /** Time at which the pass that runs last made progress, in milliseconds since the epoch; null if none runs. */
  activeAt: number | null;
}

/** Progress of the passes of all organizations, as their events show it. */
export class PassActivities {
  readonly #clock: Clock;
  readonly #activities = new Map<string, PassActivity>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the last passes of an organization; undefined if it was not opened. */
  of(organization: string): PassActivity | undefined {
    return this.#activities.get(organization);
  }

  /** Returns the listener for the passes of an organization. */
  events(organization: string): PassEvents {
    const activity: PassActivity = { flapping: [], activeAt: null };
    this.#activities.set(organization, activity);
    const progress = () => {
      activity.activeAt = this.#clock.now();
    };
    return {
      onPassStart: progress,
      onSource: progress,
      onPlan: progress,
      onResult: progress,
      onFlapping: (flapping) => {
        activity.flapping = flapping;
      },
      onPassEnd: () => {
        activity.activeAt = null;
      },
    };
  }
}

interface ObservedBreaker extends BreakerState {
  /** Requests that the platform had answered at that time. */
  readonly answers: number;
}

interface FactParts {
  readonly context: Pick<DaemonContext, 'config' | 'store' | 'clock' | 'log'>;
  readonly notifications: Pick<DaemonNotifications, 'wake' | 'lease'>;
  /** Organizations of this replica. What their leases do not cover, other replicas report. */
  readonly organizations: { find(organization: string): Pick<ManagedOrganization, 'lease'> | undefined };
  readonly model: Pick<Backend, 'organizations' | 'fleet' | 'configurationProblems'>;
}

/** Milliseconds after which organizations without an event are read again: they may have become stale. */
const REREAD_AFTER = 60_000;

/** Facts of a daemon. Facts that were reported by an earlier process stay true until it is known that they are not. */
export class FactCollector {
  readonly #parts: FactParts;
  readonly #activities: PassActivities;
  /** Origin of the platform. */
  readonly #platform: string;
  /** Circuit breakers by the name of the token. */
  #breakers: ReadonlyMap<string, ObservedBreaker> = new Map();
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
  #isStarted = false;

  constructor(parts: FactParts, activities: PassActivities) {
    this.#parts = parts;
    this.#activities = activities;
    this.#platform = new URL(parts.context.config.platform.baseUrl).origin;
  }

  /** Collects from now on. */
  start(): void {
    this.#isStarted = true;
  }

  /** Reads an organization again. */
  markChanged(organization: string): void {
    this.#changed.add(organization);
  }

  /** Reports everything about an organization again: another replica may have reported something else meanwhile. */
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
    if (!this.#isStarted) {
      return;
    }
    this.#isWanted = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    await this.#running;
  }

  /** Stops. What the shutdown interrupts is not reported. */
  async stop(): Promise<void> {
    this.#isStarted = false;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false;
      const { clock } = this.#parts.context;
      const reports: Reports = new Map();
      const failures = this.#failure === null ? [] : [this.#failure];
      const queues = this.#queues();
      for (const state of this.#due()) {
        await this.#addOrganization(reports, state, failures);
        if (!queues.has(state.id)) {
          reports.set(`queue/${state.id}`, { organization: state.id, facts: [] });
        }
      }
      this.#addTokens(reports, queues, clock.now());
      if (this.#parts.notifications.lease !== null) {
        this.#addShared(reports, failures[0] ?? null);
      }
      await this.#report(reports);
    }
  }

  /** Adds what belongs to no organization and no token. */
  #addShared(reports: Reports, failure: string | null): void {
    const model = this.#parts.model;
    const now = this.#parts.context.clock.now();
    const add = (reporter: string, facts: readonly Fact[]) => reports.set(reporter, { organization: null, facts });
    add('fleet', unownedFacts(model.fleet(), this.#platform, now));
    add('configuration', configurationFacts(model.configurationProblems()));
    add('daemon', stateFileFacts(this.#passFailure() ?? failure, now));
  }

  /** Returns the organizations that may have changed. */
  #due(): readonly OrganizationState[] {
    const now = this.#parts.context.clock.monotonic();
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
    return this.#parts.model.organizations().filter(({ id }) => this.#parts.organizations.find(id) !== undefined);
  }

  /** Returns why a last pass could not use the state file; null if none failed so. */
  #passFailure(): string | null {
    const errors = this.#owned.map(({ reconciler }) => reconciler?.lastEnd?.error);
    return errors.find((error) => error instanceof StoreError && !(error instanceof LeaseLostError))?.message ?? null;
  }

  async #addOrganization(reports: Reports, state: OrganizationState, failures: string[]): Promise<void> {
    const { id, reconciler, config, clusters, statuses, queue } = state;
    const now = this.#parts.context.clock.now();
    const scope = { organization: id, token: queue.name, platform: this.#platform };
    const { flapping = [], activeAt = null } = this.#activities.of(id) ?? {};
    const add = (reporter: string, facts: readonly Fact[] | null) =>
      reports.set(`${reporter}/${id}`, { organization: id, facts });
    if (reconciler !== null) {
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
          this.#parts.context.log.warn(
            { organization: id, reporter: `${reporter}/${id}`, reason: messageOf(error) },
            'cannot read what conditions are true',
          );
        }
      }
    };
    await read('organization', async () => {
      const { freshness } = await checkTimes(state, now);
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
    const scope = { organization: null, platform: this.#platform };
    const observed = [...queues].map(([organization, { name, snapshot }]) => {
      const state = snapshot();
      return { organization, name, state, breaker: observeBreaker(this.#breakers.get(name), state, now) };
    });
    // Of tokens that another process uses now, nothing is known when this one uses them again.
    this.#breakers = new Map(observed.map(({ name, breaker }) => [name, breaker]));
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

  async #report(reports: Reports): Promise<void> {
    const { store, log } = this.#parts.context;
    /** Facts of an earlier process, or of the last owner; null before they were read. */
    let stored: readonly Fact[] | null = null;
    try {
      let hasChanged = false;
      for (const [reporter, { organization, facts: found }] of reports) {
        const lease =
          organization === null ? this.#parts.notifications.lease : this.#parts.organizations.find(organization)?.lease;
        if (lease === null || lease === undefined || found === null) {
          continue;
        }
        const before = this.#lastReport(reporter, organization, lease);
        stored ??= before === null ? await store.notifications().facts() : null;
        const facts = keepSince(before ?? stored ?? [], found);
        if (before === null || !sameJson(before as unknown as Json, facts as unknown as Json)) {
          hasChanged = (await this.#write(lease, organization, { reporter, facts })) || hasChanged;
        }
      }
      this.#failure = null;
      if (hasChanged) {
        this.#parts.notifications.wake();
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
  #lastReport(reporter: string, organization: string | null, { epoch }: Lease): readonly Fact[] | null {
    const last = this.#reported.get(reporter);
    return last?.epoch === epoch && last.organization === organization ? last.facts : null;
  }

  /** Returns true if that changed something. After the loss of the lease nothing is written: the new owner reports. */
  async #write(lease: Lease, organization: string | null, report: FactReport): Promise<boolean> {
    const { reporter, facts } = report;
    try {
      // Without an answer it is not known what is stored, so that the next report is written in any case.
      this.#reported.delete(reporter);
      const hasChanged = await this.#parts.context.store.fenced(lease).notifications().report(report);
      this.#reported.set(reporter, { organization, facts, epoch: lease.epoch });
      return hasChanged;
    } catch (error) {
      if (error instanceof LeaseLostError) {
        return false;
      }
      throw error;
    }
  }
}

/** Returns the state of a circuit breaker, given what was observed before. */
function observeBreaker(
  before: ObservedBreaker | undefined,
  { breaker, outcomes }: Pick<QueueSnapshot, 'breaker' | 'outcomes'>,
  now: number,
): ObservedBreaker {
  const { failingSince, answeredAt, answers: known } = before ?? { failingSince: null, answeredAt: null, answers: 0 };
  const answers = outcomes.answered + outcomes.rejected + outcomes.refused;
  return {
    failingSince: breaker === 'closed' ? null : (failingSince ?? now),
    answeredAt: answers > known ? now : answeredAt,
    answers,
  };
}
