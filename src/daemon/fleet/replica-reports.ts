/** Reports that each replica stores for the others, such as the problem of its configuration. */
import type { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { EventBus } from '../../core/event-bus.ts';
import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import type { FleetLeases } from '../../fleet/fleet-leases.ts';
import type { Logger } from '../../log.ts';
import type { Store } from '../../store/store.ts';
import type { DaemonEvents } from '../organization/feature.ts';

export interface ReplicaReportsOptions<T extends Json> {
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

export class ReplicaReports<T extends Json> {
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
