/** Reports that replicas store for each other: invalid configuration files, and organizations without an owner. */
import { z } from 'zod';
import { LAST_TIME } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import type { FleetLeases } from '../../fleet/fleet-leases.ts';
import { organizationOfLease } from '../../store/leases.ts';
import type { ConfigurationProblem, ReplicaConfigurationProblem } from '../../web/model/configuration.ts';
import type { DaemonContext } from '../organization/feature.ts';

type ReportContext = Pick<DaemonContext, 'config' | 'store' | 'clock' | 'log' | 'events'>;
type ReportLeases = Pick<FleetLeases, 'replica' | 'status'>;

/** Milliseconds after which the reports of others are read again, in case a message was lost. */
const MAX_AGE = 60_000;

/** Reports of one kind: that of this replica, and those of the others. */
type ReplicaReports<T extends Json> = ReturnType<typeof replicaReports<T>>;

/** `topic`: that of the reports in the database. `own` returns the report of this replica; null: nothing to report. */
function replicaReports<T extends Json>(
  { store, clock, log, events }: ReportContext,
  leases: ReportLeases,
  topic: string,
  schema: z.ZodType<T>,
  own: () => T | null,
) {
  /** Reports by the id of the replica, of those that this version can read. */
  let others: ReadonlyMap<string, T> = new Map();
  /** Report of this replica as it was stored last, in JSON; a new replica has none. */
  let published = JSON.stringify(null);
  let isPublishing = false;
  /** Time on the monotonic clock at which the others were read; null: they have to be read. */
  let readAt: number | null = null;
  const alive = () => leases.status().replicas.filter(({ left, id }) => left > 0 || id === leases.replica);
  return {
    /** Returns the reports of the replicas that are alive, as they were read last. */
    list: () =>
      alive().flatMap(({ id, address }) => {
        const report = id === leases.replica ? own() : (others.get(id) ?? null);
        return report === null ? [] : [{ address, report }];
      }),
    /** Stores the report of this replica for the others, if it has changed. Never rejects: the next call tries again. */
    publish: async (): Promise<void> => {
      const [fleet, id, report] = [store.fleet(), leases.replica, own()];
      const text = JSON.stringify(report);
      if (fleet === null || id === null || isPublishing || text === published) {
        return;
      }
      isPublishing = true;
      try {
        const known = new Set(alive().map((replica) => replica.id));
        await fleet.update(topic, (value) => {
          // Reports of other versions stay, also if this one cannot read them.
          const rest = entriesOf(value).filter(([each]) => each !== id && known.has(each));
          return Object.fromEntries(report === null ? rest : [...rest, [id, report]]);
        });
        published = text;
        events.publish.onReportsStored?.();
      } catch (error) {
        log.debug({ topic, reason: messageOf(error) }, 'cannot store the report of this replica');
      } finally {
        isPublishing = false;
      }
    },
    /** Reads the reports of the other replicas at the next refresh. */
    markChanged: () => {
      readAt = null;
    },
    /** Reads the reports of the other replicas if they may have changed. Never rejects: the next call tries again. */
    refresh: async (): Promise<void> => {
      const now = clock.monotonic();
      if (leases.replica === null || (readAt !== null && now - readAt < MAX_AGE)) {
        return;
      }
      readAt = now;
      try {
        const entries = entriesOf(await store.note(topic).read()).flatMap(([id, report]) => {
          const { data } = schema.safeParse(report);
          return data === undefined ? [] : [[id, data] as const];
        });
        others = new Map(entries);
      } catch (error) {
        readAt = null;
        log.debug({ topic, reason: messageOf(error) }, 'cannot read the reports of the other replicas');
      }
    },
  };
}

function entriesOf(value: Json): [string, Json | undefined][] {
  return isObject(value) ? Object.entries(value as JsonObject) : [];
}

/** Organizations that a replica reports at most. */
const MAX_UNOWNED = 100;

const time = z.number().min(0).max(LAST_TIME);
/** Replicas of earlier versions do not write `isPartial`. */
const stored = z.object({ reason: z.string(), since: time, usedSince: time, isPartial: z.boolean().default(false) });

export class FleetReports {
  readonly #leases: ReportLeases;
  readonly #problem: () => ConfigurationProblem | null;
  readonly #problems: ReplicaReports<z.output<typeof stored>>;
  readonly #unowned: ReplicaReports<string[]>;

  /** `problem` returns the problem of this replica's configuration; null if its files can be used. */
  constructor(context: ReportContext, leases: ReportLeases, problem: () => ConfigurationProblem | null) {
    this.#leases = leases;
    this.#problem = problem;
    const ownProblem = () => {
      const own = problem();
      return own === null ? null : { ...own };
    };
    this.#problems = replicaReports(context, leases, 'configuration/problems', stored, ownProblem);
    const ids = z.array(z.string()).max(MAX_UNOWNED);
    this.#unowned = replicaReports(context, leases, 'fleet/unowned', ids, () =>
      longUnowned(leases, context.config.fleet.lease),
    );
  }

  /** Returns the problems of the configurations of the replicas that are alive, as they were read last. */
  configurationProblems(): readonly ReplicaConfigurationProblem[] {
    if (this.#leases.replica === null) {
      const own = this.#problem();
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
}

/** Returns the configured organizations that no replica has had for a lease period, the longest ones first. */
function longUnowned(leases: ReportLeases, period: number): string[] | null {
  const ids = leases
    .status()
    .unowned.filter(({ age }) => age > period)
    .toSorted((a, b) => b.age - a.age)
    .flatMap(({ name }) => organizationOfLease(name) ?? [])
    .slice(0, MAX_UNOWNED);
  return ids.length === 0 ? null : ids.toSorted();
}
