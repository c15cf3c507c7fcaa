// Model of the lease table, with a network that can fail, for tests without a database.
import type { Clock } from '../../src/core/clock.ts';
import { StoreError } from '../../src/core/errors.ts';
import type {
  ClaimedLease,
  FleetSignal,
  FleetStore,
  LeaseRecord,
  LeaseTable,
  OwnReplica,
  Replica,
} from '../../src/store/leases.ts';

interface StoredLease {
  holder: string | null;
  epoch: number;
  since: number;
}

/** Milliseconds after which a call without an answer fails. */
const TIMEOUT = 10_000;

/** Delays of one call: milliseconds until the database runs it, and until the answer arrives; null: never. */
export interface CallFate {
  readonly request: number | null;
  readonly answer: number | null;
}

const WORKS: CallFate = { request: 0, answer: 0 };

/** Database of a fleet: the truth about replicas and leases. Its time is that of the clock. */
export class LeaseTableModel {
  readonly replicas = new Map<string, OwnReplica & { startedAt: number; expiresAt: number; seenAt: number }>();
  readonly leases = new Map<string, StoredLease>();
  readonly #clock: Clock;
  readonly #listeners = new Set<(signal: FleetSignal) => void>();
  /** Number of claims and releases that changed something. */
  moves = 0;
  isGone = false;
  /** Greatest epoch of the leases that were removed. */
  #removedEpoch = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the store as one replica reaches it. */
  open(fate: (method: string) => CallFate = () => WORKS): FleetStore {
    const call = async <T>(method: string, work: () => T): Promise<T> => {
      const { request, answer } = fate(method);
      await this.#wait(request);
      if (this.isGone) {
        throw new StoreError('the database is gone');
      }
      const result = work();
      await this.#wait(answer);
      return result;
    };
    const leases: LeaseTable = {
      define: (names) => call('define', () => this.define(names)),
      renew: (replica, ttl, extension) => call('renew', () => this.#renew(replica, ttl, extension)),
      evict: () => call('evict', () => this.evict()),
      claim: (replica, names, limit) => call('claim', () => this.claim(replica, names, limit)),
      release: (replica, claimed) => call('release', () => this.#release(replica, claimed)),
      leave: (replica) => call('leave', () => this.remove(replica)),
      removeUnused: (age) => call('removeUnused', () => this.#removeUnused(age)),
      replicas: () => call('replicas', () => this.#readReplicas()),
      leases: () => call('leases', () => this.#readLeases()),
    };
    return {
      leases,
      signals: {
        isConnected: true,
        send: (signal) =>
          call('send', () => {
            for (const listener of this.#listeners) {
              queueMicrotask(() => listener(signal));
            }
          }),
        listen: (listener) => {
          this.#listeners.add(listener);
          return () => this.#listeners.delete(listener);
        },
      },
      update: async () => undefined,
      time: () => call('time', () => this.#clock.now()),
      close: async () => undefined,
    };
  }

  define(names: readonly string[]): void {
    for (const name of names) {
      if (!this.leases.has(name)) {
        this.leases.set(name, { holder: null, epoch: this.#removedEpoch, since: this.#clock.monotonic() });
      }
    }
  }

  /** Evicts one replica, whether or not it has expired. */
  remove(id: string): void {
    this.replicas.delete(id);
    for (const lease of this.leases.values()) {
      if (lease.holder === id) {
        Object.assign(lease, { holder: null, since: this.#clock.monotonic() });
      }
    }
  }

  evict(): number {
    const expired = [...this.replicas.values()].filter(({ expiresAt }) => expiresAt < this.#clock.monotonic());
    for (const { id } of expired) {
      this.remove(id);
    }
    return expired.length;
  }

  claim(replica: string, names: readonly string[], limit: number): readonly ClaimedLease[] {
    const own = this.replicas.get(replica);
    if (own === undefined || own.isDraining || own.expiresAt <= this.#clock.monotonic()) {
      return [];
    }
    const free = names.filter((name) => this.leases.get(name)?.holder === null).slice(0, limit);
    this.moves += free.length;
    return free.map((name) => {
      const lease = this.leases.get(name) as StoredLease;
      Object.assign(lease, { holder: replica, epoch: lease.epoch + 1, since: this.#clock.monotonic() });
      return { name, epoch: lease.epoch };
    });
  }

  /** Returns the names of the leases of a replica, or those that nobody has. */
  namesOf(holder: string | null): readonly string[] {
    return [...this.leases].filter(([, lease]) => lease.holder === holder).map(([name]) => name);
  }

  #renew(replica: OwnReplica, ttl: number, extension = ttl): readonly ClaimedLease[] {
    const now = this.#clock.monotonic();
    const { startedAt = now, expiresAt = now } = this.replicas.get(replica.id) ?? {};
    if (extension > 0) {
      const renewed = Math.max(now + extension, Math.min(expiresAt, now + ttl));
      this.replicas.set(replica.id, { ...replica, startedAt, expiresAt: renewed, seenAt: now });
    }
    return this.namesOf(replica.id).map((name) => ({ name, epoch: this.leases.get(name)?.epoch ?? 0 }));
  }

  #release(replica: string, claimed: readonly ClaimedLease[]): void {
    for (const { name, epoch } of claimed) {
      const lease = this.leases.get(name);
      if (lease?.holder === replica && lease.epoch === epoch) {
        this.moves += 1;
        Object.assign(lease, { holder: null, since: this.#clock.monotonic() });
      }
    }
  }

  #removeUnused(age: number): void {
    for (const [name, { holder, epoch, since }] of this.leases) {
      if (holder === null && since < this.#clock.monotonic() - age) {
        this.leases.delete(name);
        this.#removedEpoch = Math.max(this.#removedEpoch, epoch);
      }
    }
  }

  #readReplicas(): readonly Replica[] {
    const now = this.#clock.monotonic();
    return [...this.replicas.values()].map(({ expiresAt, ...replica }) => ({ ...replica, left: expiresAt - now }));
  }

  #readLeases(): readonly LeaseRecord[] {
    const now = this.#clock.monotonic();
    return [...this.leases].map(([name, { holder, epoch, since }]) => ({ name, holder, epoch, age: now - since }));
  }

  async #wait(milliseconds: number | null): Promise<void> {
    if (milliseconds === null) {
      await this.#clock.sleep(TIMEOUT);
      throw new StoreError('the database does not answer');
    }
    if (milliseconds > 0) {
      await this.#clock.sleep(milliseconds);
    }
  }
}
