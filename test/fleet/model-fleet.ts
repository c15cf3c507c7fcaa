// Replicas of a fleet on one virtual clock and the model of the lease table, for tests of what they do together.
import { expect } from 'vitest';
import { SharedLeases } from '../../src/fleet/shared-leases.ts';
import type { Lease } from '../../src/store/leases.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';
import { type CallFate, LeaseTableModel } from './lease-table-model.ts';

export interface ModelReplicaOptions {
  readonly weight?: number;
  /** Milliseconds that work needs to end, or a function that returns them for each work. */
  readonly ending?: number | (() => number);
  /** Speed of its clock in comparison with that of the database. */
  readonly rate?: number;
  readonly fate?: (method: string) => CallFate;
}

/** One replica, with the work that it does. */
export class ModelReplica {
  readonly id: string;
  readonly leases: SharedLeases;
  readonly working = new Map<string, Lease>();
  readonly events: string[] = [];
  readonly failures: (string | null)[] = [];
  /** True: its timers and answers do not run, but its work believes what its clock says. */
  isDead = false;

  constructor(fleet: ModelFleet, id: string, options: ModelReplicaOptions) {
    this.id = id;
    const { clock: time, model, random } = fleet;
    const { rate = 1 } = options;
    const clock = {
      now: () => time.now(),
      monotonic: () => time.monotonic() * rate,
      sleep: (milliseconds: number, signal?: AbortSignal) => time.sleep(milliseconds / rate, signal),
    };
    const never = new Promise<never>(() => undefined);
    // A process that was killed: nothing that it waits for ever happens.
    const alive = async <T>(work: Promise<T>): Promise<T> => {
      const result = await work;
      return this.isDead ? never : result;
    };
    this.leases = new SharedLeases({
      isComplete: () => true,
      store: model.open((method) =>
        this.isDead ? { request: null, answer: null } : (options.fate?.(method) ?? WORKS),
      ),
      clock: { ...clock, sleep: (milliseconds, signal) => alive(clock.sleep(milliseconds, signal)) },
      random,
      replica: { id, version: '1', address: id, weight: options.weight ?? 1 },
      ttl: fleet.ttl,
      split: fleet.split,
      onFailure: (reason) => this.failures.push(reason),
      work: {
        begin: (lease) => {
          // The answer to a claim may arrive after the kill.
          if (this.isDead) {
            return;
          }
          this.events.push(`begin ${lease.name}`);
          this.working.set(lease.name, lease);
        },
        end: async (lease) => {
          this.events.push(`${lease.lost.aborted ? 'abort' : 'end'} ${lease.name}`);
          if (!lease.lost.aborted) {
            await clock.sleep(typeof options.ending === 'function' ? options.ending() : (options.ending ?? 0));
          }
          this.working.delete(lease.name);
        },
      },
    });
  }

  /** Returns the names of the leases under which this replica may send something now. */
  get sending(): readonly string[] {
    return [...this.working.values()].filter((lease) => lease.left() > 0).map(({ name }) => name);
  }

  kill(): void {
    this.isDead = true;
    this.working.clear();
  }
}

const WORKS: CallFate = { request: 0, answer: 0 };

export class ModelFleet {
  readonly clock = createVirtualClock();
  readonly model = new LeaseTableModel(this.clock);
  readonly replicas: ModelReplica[] = [];
  readonly ttl: number;
  readonly split: 'token' | 'organization';
  readonly #organizations: { id: string; shard: string }[];
  #state: number;

  /** `shards`: number of organizations of each token. */
  constructor(shards: readonly number[], { ttl = 60_000, split = 'token' as 'token' | 'organization', seed = 1 } = {}) {
    this.ttl = ttl;
    this.split = split;
    this.#state = seed;
    this.#organizations = shards.flatMap((count, shard) =>
      Array.from({ length: count }, (_, index) => ({ id: `${shard}-${index}`, shard: `s${shard}` })),
    );
  }

  readonly random = (): number => {
    this.#state = (Math.imul(this.#state ^ (this.#state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return (this.#state >>> 0) / 2 ** 32;
  };

  get organizations(): readonly { id: string; shard: string }[] {
    return this.#organizations;
  }

  /** Starts a replica; resolves when it has made its first claims. */
  async join(id: string, options: ModelReplicaOptions = {}): Promise<ModelReplica> {
    const replica = this.add(id, options);
    await this.clock.run(replica.leases.start());
    return replica;
  }

  add(id: string, options: ModelReplicaOptions = {}): ModelReplica {
    const replica = new ModelReplica(this, id, options);
    replica.leases.setOrganizations(this.#organizations);
    this.replicas.push(replica);
    return replica;
  }

  /** Runs everything that is due within this time. Fails as soon as two replicas may send under the same lease. */
  async advance(milliseconds: number, onStep?: () => void): Promise<void> {
    await this.clock.advance(milliseconds, () => {
      expect(this.doubled).toEqual([]);
      onStep?.();
    });
  }

  /** Returns the names of all leases under which more than one replica may send something. */
  get doubled(): readonly string[] {
    const names = this.replicas.flatMap(({ sending }) => sending);
    return new Set(names).size === names.length ? [] : names.filter((name, index) => names.indexOf(name) !== index);
  }
}
