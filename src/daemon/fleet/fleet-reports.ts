/** Reports that replicas store for each other: invalid configuration files, and organizations without an owner. */
import { z } from 'zod';
import type { Config } from '../../config/config.ts';
import { type Clock, LAST_TIME } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { EventBus } from '../../core/event-bus.ts';
import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import type { FleetLeases } from '../../fleet/fleet-leases.ts';
import type { Logger } from '../../log.ts';
import { organizationOfLease } from '../../store/leases.ts';
import type { Store } from '../../store/store.ts';
import type { ConfigurationProblem, ReplicaConfigurationProblem } from '../../web/model/configuration.ts';
import type { DaemonEvents } from '../organization/feature.ts';

interface ReplicaReportsOptions<T extends Json> {
  readonly store: Pick<Store, 'fleet' | 'note'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Pick<Logger, 'debug'>;
  readonly leases: Pick<FleetLeases, 'replica' | 'status'>;
  /** Topic of the reports in the database. */
  readonly topic: string;
  readonly schema: z.ZodType<T>;
  /** Returns the report of this replica; null if there is nothing to report. */
  readonly own: () => T | null;
  readonly events: EventBus<DaemonEvents>;
}

/** Milliseconds after which the reports of others are read again, in case a message was lost. */
const MAX_AGE = 60_000;

class ReplicaReports<T extends Json> {
  readonly #options: ReplicaReportsOptions<T>;
  /** Reports by the id of the replica. */
  #others: Readonly<Record<string, T>> = {};
  /** Report of this replica as it was stored last, in JSON; a new replica has none. */
  #published = JSON.stringify(null);
  #isPublishing = false;
  /** Time on the monotonic clock at which the others were read; null: they have to be read. */
  #readAt: number | null = null;

  constructor(options: ReplicaReportsOptions<T>) {
    this.#options = options;
  }

  /** Returns the reports of the replicas that are alive, as they were read last. */
  list(): readonly { readonly address: string; readonly report: T }[] {
    const { leases, own } = this.#options;
    return this.#alive().flatMap(({ id, address }) => {
      const report = id === leases.replica ? own() : (this.#others[id] ?? null);
      return report === null ? [] : [{ address, report }];
    });
  }

  /** Stores the report of this replica for the others, if it has changed. Never rejects: the next call tries again. */
  async publish(): Promise<void> {
    const { store, leases, topic, own, events, log } = this.#options;
    const [fleet, id, report] = [store.fleet(), leases.replica, own()];
    const text = JSON.stringify(report);
    if (fleet === null || id === null || this.#isPublishing || text === this.#published) {
      return;
    }
    this.#isPublishing = true;
    try {
      const alive = new Set(this.#alive().map((replica) => replica.id));
      await fleet.update(topic, (value) => {
        // Reports of other versions stay, also if this one cannot read them.
        const others = entriesOf(value).filter(([each]) => each !== id && alive.has(each));
        return Object.fromEntries(report === null ? others : [...others, [id, report]]);
      });
      this.#published = text;
      events.publish.onReportsStored?.();
    } catch (error) {
      log.debug({ topic, reason: messageOf(error) }, 'cannot store the report of this replica');
    } finally {
      this.#isPublishing = false;
    }
  }

  /** Reads the reports of the other replicas at the next refresh. */
  markChanged(): void {
    this.#readAt = null;
  }

  /** Reads the reports of the other replicas if they may have changed. Never rejects: the next call tries again. */
  async refresh(): Promise<void> {
    const { store, clock, leases, topic, log } = this.#options;
    const now = clock.monotonic();
    if (leases.replica === null || (this.#readAt !== null && now - this.#readAt < MAX_AGE)) {
      return;
    }
    this.#readAt = now;
    try {
      this.#others = this.#parse(await store.note(topic).read());
    } catch (error) {
      this.#readAt = null;
      log.debug({ topic, reason: messageOf(error) }, 'cannot read the reports of the other replicas');
    }
  }

  #alive() {
    const { replicas } = this.#options.leases.status();
    return replicas.filter(({ left, id }) => left > 0 || id === this.#options.leases.replica);
  }

  /** Returns the reports that this version can read. */
  #parse(value: Json): Readonly<Record<string, T>> {
    const entries = entriesOf(value).flatMap(([id, report]) => {
      const { data } = this.#options.schema.safeParse(report);
      return data === undefined ? [] : [[id, data] as const];
    });
    return Object.fromEntries(entries);
  }
}

function entriesOf(value: Json): [string, Json | undefined][] {
  return isObject(value) ? Object.entries(value as JsonObject) : [];
}

interface FleetReportsOptions extends Omit<ReplicaReportsOptions<never>, 'topic' | 'schema' | 'own'> {
  readonly config: { readonly fleet: Pick<Config['fleet'], 'lease'> };
  /** Returns the problem of this replica's configuration; null if its files can be used. */
  readonly problem: () => ConfigurationProblem | null;
}

/** Organizations that a replica reports at most. */
const MAX_UNOWNED = 100;

const time = z.number().min(0).max(LAST_TIME);
/** Replicas of earlier versions do not write `isPartial`. */
const stored = z.object({ reason: z.string(), since: time, usedSince: time, isPartial: z.boolean().default(false) });

export class FleetReports {
  readonly #options: FleetReportsOptions;
  readonly #problems: ReplicaReports<z.output<typeof stored>>;
  readonly #unowned: ReplicaReports<string[]>;

  constructor(options: FleetReportsOptions) {
    this.#options = options;
    this.#problems = new ReplicaReports({
      ...options,
      topic: 'configuration/problems',
      schema: stored,
      own: () => {
        const problem = options.problem();
        return problem === null ? null : { ...problem };
      },
    });
    this.#unowned = new ReplicaReports({
      ...options,
      topic: 'fleet/unowned',
      schema: z.array(z.string()).max(MAX_UNOWNED),
      own: () => this.#ownUnowned(),
    });
  }

  /** Returns the problems of the configurations of the replicas that are alive, as they were read last. */
  configurationProblems(): readonly ReplicaConfigurationProblem[] {
    const { leases, problem } = this.#options;
    if (leases.replica === null) {
      const own = problem();
      return own === null ? [] : [{ ...own, replica: null }];
    }
    return this.#problems.list().map(({ address, report }) => ({ ...report, replica: address }));
  }

  /** Returns the organizations that had no owner when a replica that has them configured checked last. */
  unowned(): ReadonlySet<string> {
    return new Set(this.#unowned.list().flatMap(({ report }) => report));
  }

  /** Stores what this replica reports for the others, if it has changed. Never rejects. */
  async publish(): Promise<void> {
    await Promise.all([this.#problems.publish(), this.#unowned.publish()]);
  }

  /** Reads the reports of the other replicas at the next refresh. */
  markChanged(): void {
    this.#problems.markChanged();
    this.#unowned.markChanged();
  }

  /** Reads the reports of the other replicas if they may have changed. Never rejects. */
  async refresh(): Promise<void> {
    await Promise.all([this.#problems.refresh(), this.#unowned.refresh()]);
  }

  /** Returns the configured organizations that no replica has had for a lease period, the longest ones first. */
  #ownUnowned(): string[] | null {
    const { leases, config } = this.#options;
    const ids = leases
      .status()
      .unowned.filter(({ age }) => age > config.fleet.lease)
      .toSorted((a, b) => b.age - a.age)
      .flatMap(({ name }) => organizationOfLease(name) ?? [])
      .slice(0, MAX_UNOWNED);
    return ids.length === 0 ? null : ids.toSorted();
  }
}
