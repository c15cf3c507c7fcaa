/** Problems that only some replicas know: invalid configuration files, and organizations without an owner. */
import { z } from 'zod';
import type { Config } from '../../config/config.ts';
import { LAST_TIME } from '../../core/last-time.ts';
import { organizationOfLease } from '../../store/leases.ts';
import type { ConfigurationProblem, ReplicaConfigurationProblem } from '../../web/model/configuration.ts';
import { ReplicaReports, type ReplicaReportsOptions } from './replica-reports.ts';

export interface FleetReportsOptions extends Omit<ReplicaReportsOptions<never>, 'topic' | 'schema' | 'own'> {
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
      ...{ ...options, topic: 'configuration/problems' },
      schema: stored,
      own: () => {
        const problem = options.problem();
        return problem === null ? null : { ...problem };
      },
    });
    this.#unowned = new ReplicaReports({
      ...{ ...options, topic: 'fleet/unowned' },
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
