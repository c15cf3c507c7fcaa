/** Problems of the configuration files of all replicas. Each replica stores its own, and reads those of the others. */
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { LAST_TIME } from '../../core/last-time.ts';
import type { FleetLeases } from '../../fleet/fleet-leases.ts';
import type { Logger } from '../../log.ts';
import type { Store } from '../../store/store.ts';
import type { ConfigurationProblem, ReplicaConfigurationProblem } from '../../views/model/configuration-problem.ts';

export interface ConfigurationProblemsOptions {
  readonly store: Pick<Store, 'fleet' | 'note'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Pick<Logger, 'debug'>;
  readonly leases: Pick<FleetLeases, 'replica' | 'status'>;
  /** Returns the problem of this replica; null if its files can be used. */
  readonly own: () => ConfigurationProblem | null;
  /** Called after the problem of this replica was stored. */
  readonly onStored: () => void;
}

/** Topic of the problems in the database. */
const TOPIC = 'configuration/problems';
/** Milliseconds after which the problems of others are read again, in case a message was lost. */
const MAX_AGE = 60_000;

const time = z.number().min(0).max(LAST_TIME);
const stored = z.record(z.string(), z.object({ reason: z.string(), since: time, usedSince: time }));
/** Problems by the id of the replica. */
type StoredProblems = z.output<typeof stored>;

export class ConfigurationProblems {
  readonly #options: ConfigurationProblemsOptions;
  #others: StoredProblems = {};
  /** Problem of this replica as it was stored last; a new replica has none. */
  #published: ConfigurationProblem | null = null;
  #isPublishing = false;
  /** Time on the monotonic clock at which the others were read; null: they have to be read. */
  #readAt: number | null = null;

  constructor(options: ConfigurationProblemsOptions) {
    this.#options = options;
  }

  /** Returns the problems of the replicas that are alive, as they were read last. */
  list(): readonly ReplicaConfigurationProblem[] {
    const { leases, own } = this.#options;
    const problem = own();
    if (leases.replica === null) {
      return problem === null ? [] : [{ ...problem, replica: null }];
    }
    return this.#alive().flatMap(({ id, address }) => {
      const found = id === leases.replica ? problem : (this.#others[id] ?? null);
      return found === null ? [] : [{ ...found, replica: address }];
    });
  }

  /** Stores the problem of this replica for the others, if that has changed. Never rejects: the next call tries again. */
  async publish(): Promise<void> {
    const { store, leases, own, onStored, log } = this.#options;
    const [fleet, id, problem] = [store.fleet(), leases.replica, own()];
    if (fleet === null || id === null || this.#isPublishing || problem === this.#published) {
      return;
    }
    this.#isPublishing = true;
    try {
      const alive = new Set(this.#alive().map((replica) => replica.id));
      await fleet.update(TOPIC, (value) => {
        const others = Object.entries(parse(value)).filter(([each]) => each !== id && alive.has(each));
        return Object.fromEntries(problem === null ? others : [...others, [id, { ...problem }]]);
      });
      this.#published = problem;
      onStored();
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'cannot store that the configuration is invalid');
    } finally {
      this.#isPublishing = false;
    }
  }

  /** Reads the problems of the other replicas at the next refresh. */
  markChanged(): void {
    this.#readAt = null;
  }

  /** Reads the problems of the other replicas if they may have changed. Never rejects: the next call tries again. */
  async refresh(): Promise<void> {
    const { store, clock, leases, log } = this.#options;
    const now = clock.monotonic();
    if (leases.replica === null || (this.#readAt !== null && now - this.#readAt < MAX_AGE)) {
      return;
    }
    this.#readAt = now;
    try {
      this.#others = parse(await store.note(TOPIC).read());
    } catch (error) {
      this.#readAt = null;
      log.debug({ reason: messageOf(error) }, 'cannot read which configurations are invalid');
    }
  }

  #alive() {
    const { replicas } = this.#options.leases.status();
    return replicas.filter(({ left, id }) => left > 0 || id === this.#options.leases.replica);
  }
}

function parse(value: Json): StoredProblems {
  const parsed = stored.safeParse(value);
  return parsed.success ? parsed.data : {};
}
