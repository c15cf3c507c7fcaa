/** Watches from outside how long organizations have no owner that is alive. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessFleet } from './process-fleet.ts';

const INTERVAL = 100;
/** Leases with the process id of the holder; null if the holder expired, or if there is none. */
const OWNERS = `SELECT lease.name, substring(replica.address FROM '[0-9]+$') AS pid FROM octavo.lease
  LEFT JOIN octavo.replica ON replica.id = lease.holder AND replica.expires_at > clock_timestamp()
  WHERE lease.name LIKE 'organization/%' ORDER BY lease.name`;

/** Samples the owners until it is disposed. While the database cannot be used, nothing changes. */
export class OwnerSampler implements AsyncDisposable {
  /** Longest time without an owner so far, in milliseconds. */
  longest = 0;
  /** Longest time that one sample took, in milliseconds: on a busy machine, everything takes longer. */
  slowest = 0;
  /** Number of samples so far. */
  samples = 0;
  readonly #fleet: ProcessFleet;
  readonly #freeSince = new Map<string, number>();
  readonly #over = new AbortController();
  readonly #running: Promise<void>;
  #pids: ReadonlyMap<string, number | null> = new Map();

  constructor(fleet: ProcessFleet) {
    this.#fleet = fleet;
    this.#running = this.#run();
  }

  /** Number of organizations with an owner that is alive, by process id. */
  get counts(): ReadonlyMap<number, number> {
    const owned = [...this.#pids.values()].filter((pid): pid is number => pid !== null);
    return new Map([...Map.groupBy(owned, (pid) => pid)].map(([pid, all]) => [pid, all.length]));
  }

  get owned(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Returns the process id of the owner; null if there is none. */
  ownerOf(organization: string): number | null {
    return this.#pids.get(`organization/${organization}`) ?? null;
  }

  /** Begins a new measurement of the longest time. */
  reset(): void {
    this.longest = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const began = performance.now();
      await this.#sample().then(
        () => {
          this.slowest = Math.max(this.slowest, performance.now() - began);
        },
        () => undefined,
      );
      await pause(INTERVAL);
    }
  }

  async #sample(): Promise<void> {
    const rows = await this.#fleet.query(OWNERS);
    const alive = new Set(this.#fleet.alive.map(({ run }) => run.child.pid));
    const now = performance.now();
    const pids = new Map<string, number | null>();
    for (const { name, pid } of rows) {
      const owner = pid !== null && alive.has(Number(pid)) ? Number(pid) : null;
      const since = this.#freeSince.get(String(name)) ?? now;
      pids.set(String(name), owner);
      this.longest = Math.max(this.longest, now - since);
      if (owner === null) {
        this.#freeSince.set(String(name), since);
      } else {
        this.#freeSince.delete(String(name));
      }
    }
    this.#pids = pids;
    this.samples += 1;
  }
}
