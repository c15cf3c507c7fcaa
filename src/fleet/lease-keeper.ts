/** Keeps the leases of this replica: renews them, and ends them when they may have been claimed by another one. */
import { CLOCK_DRIFT, type Clock, SLEEP_ENDED, WakeUpSignal } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import type { ClaimedLease, LeaseTable, OwnReplica } from '../store/leases.ts';
import { HeldLease } from './own-leases.ts';

export interface KeeperOptions {
  readonly table: Pick<LeaseTable, 'renew' | 'claim' | 'release'>;
  readonly clock: Clock;
  /** Milliseconds that a renewal lasts. */
  readonly ttl: number;
  /** Returns this replica, as it is to be stored. */
  readonly self: () => OwnReplica;
  readonly onClaimed: (lease: HeldLease) => void;
  /** Called after `lease.lost` has aborted: the lease expired, or another replica evicted this one. */
  readonly onLost: (lease: HeldLease) => void;
  /** Called when renewals begin to fail, with the reason, and with null when they succeed again. */
  readonly onFailure: (reason: string | null) => void;
}

/** Milliseconds between renewals that succeed, unless a quarter of a lease is shorter. */
const RENEWAL = 4000;
/** Milliseconds between renewals that fail. */
const RETRY = 1000;
/** Renewals without an answer at the same time; each may use a connection. */
const UNANSWERED = 3;

/**
 * A renewal lasts from before it was sent, by the monotonic clock. That clock may be slow, so the last part of the ttl is
 * not relied on. Requests can be answered late and in any order, so they are numbered: the answer of a renewal decides only
 * about leases that were claimed before it was sent, and answers of older renewals are ignored.
 *
 * A renewal may arrive although its answer does not. So without answers, renewals stop to extend the leases: see
 * `#extension`.
 */
export class LeaseKeeper {
  readonly #options: KeeperOptions;
  readonly held = new Map<string, HeldLease>();
  /** Leases that ended here, which the database may not know yet. */
  readonly #ended = new Map<string, Ended>();
  readonly #stopped = new AbortController();
  readonly #wake = new WakeUpSignal();
  #validUntil = Number.NEGATIVE_INFINITY;
  #sequence = 0;
  #answered = 0;
  /** Monotonic time at which the latest answered renewal was sent; null if none was answered. */
  #answeredSentAt: number | null = null;
  readonly #unanswered = new Set<Promise<unknown>>();
  #isWatching = false;
  /** Reason why the last renewal failed; null if it succeeded. */
  failure: string | null = null;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** Returns the milliseconds that all leases last without another renewal; at most 0 if they are lost. */
  left(): number {
    return this.#validUntil - this.#options.clock.monotonic();
  }

  /** Joins the fleet, or renews at once. Throws StoreError if the database cannot be used. */
  async join(): Promise<void> {
    await this.#renew();
  }

  /** Renews until `stop`. A failed renewal is repeated at once, and then every second. */
  async run(): Promise<void> {
    const { clock, ttl } = this.#options;
    const { signal } = this.#stopped;
    let failures = 0;
    let seen = this.#wake.count;
    await this.#wake.wait(seen, renewalInterval(ttl), clock, signal);
    while (!signal.aborted) {
      seen = this.#wake.count;
      const sentAt = clock.monotonic();
      const hasSucceeded = await this.#attempt();
      failures = hasSucceeded ? 0 : failures + 1;
      const interval = hasSucceeded ? renewalInterval(ttl) : failures === 1 ? 0 : RETRY;
      await this.#wake.wait(seen, Math.max(0, sentAt + interval - clock.monotonic()), clock, signal);
    }
  }

  /** Renews as soon as no other renewal is awaited. */
  renewNow(): void {
    this.#wake.notify();
  }

  /** Ends all leases here, and resolves when no renewal is under way. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#validUntil = Number.NEGATIVE_INFINITY;
    this.#expire();
    await Promise.allSettled(this.#unanswered);
  }

  /** Claims free leases; `onClaimed` is called for each. Returns how many. Throws StoreError. */
  async claim(names: readonly string[], limit: number): Promise<number> {
    this.#sequence += 1;
    const sent = this.#sequence;
    const claims = await this.#options.table.claim(this.#options.self().id, names, limit);
    if (this.#answered > sent) {
      // This replica may have been evicted since. The next renewal returns the leases that it still has.
      this.renewNow();
      return 0;
    }
    return this.#adopt(claims);
  }

  /** Ends leases and gives them away. If the database cannot be used, the next renewal does it. */
  async release(leases: readonly HeldLease[]): Promise<void> {
    for (const lease of leases) {
      this.#end(lease);
    }
    await this.#releaseEnded(leases);
  }

  /** Returns false if the renewal failed, or was not answered in time. */
  async #attempt(): Promise<boolean> {
    if (this.#unanswered.size >= UNANSWERED) {
      return false;
    }
    const limit = Math.min(this.#options.ttl / 8, 5000);
    const done = new AbortController();
    const late = this.#options.clock.sleep(limit, AbortSignal.any([done.signal, this.#stopped.signal])).then(
      () => `no answer for ${limit} ms`,
      () => null,
    );
    const renewal = this.#renew().then(() => null, messageOf);
    const failure = await Promise.race([renewal, late]);
    done.abort(SLEEP_ENDED);
    if (failure !== null) {
      this.#report(failure);
    }
    return failure === null;
  }

  async #renew(): Promise<void> {
    this.#expireIfDue();
    this.#sequence += 1;
    const { table, self, ttl, clock } = this.#options;
    const sequence = this.#sequence;
    const sentAt = clock.monotonic();
    const extension = this.#extension(sentAt);
    const answer = table.renew(self(), ttl, extension);
    this.#unanswered.add(answer);
    try {
      const leases = await answer;
      if (sequence > this.#answered && !this.#stopped.signal.aborted) {
        this.#answered = sequence;
        const ended = this.#accept(leases, sequence, sentAt + extension * (1 - CLOCK_DRIFT));
        const released = this.#releaseEnded(ended);
        if (extension === ttl || ended.length === 0) {
          this.#answeredSentAt = sentAt;
        }
        if (extension < ttl) {
          void released.then((isReleased) => isReleased && this.renewNow());
        }
      }
    } finally {
      this.#unanswered.delete(answer);
    }
  }

  /**
   * Returns the milliseconds by which a renewal extends the leases. The database keeps the leases of this replica at most
   * until one interval and `ttl` after the last renewal that was answered. Otherwise a replica that can send, but receives
   * nothing, would keep others from leases that it has lost. So after an interruption, those are released first.
   */
  #extension(now: number): number {
    const { ttl } = this.#options;
    const silence = now - (this.#answeredSentAt ?? now) - renewalInterval(ttl);
    return ttl - Math.min(Math.max(silence, 0), ttl);
  }

  /** Returns leases that have ended here, and that the database still has. */
  #accept(leases: readonly ClaimedLease[], sequence: number, validUntil: number): readonly ClaimedLease[] {
    this.#expireIfDue();
    this.#validUntil = Math.max(this.#validUntil, validUntil);
    this.#report(null);
    const stored = new Map(leases.map(({ name, epoch }) => [name, epoch]));
    for (const lease of [...this.held.values()]) {
      if (lease.sequence < sequence && stored.get(lease.name) !== lease.epoch) {
        this.#lose(lease);
      }
    }
    for (const [name, ended] of this.#ended) {
      if (ended.sequence < sequence && stored.get(name) !== ended.epoch) {
        this.#ended.delete(name);
      }
    }
    this.#adopt(leases);
    void this.#watchExpiry();
    return leases.filter(({ name, epoch }) => this.#ended.get(name)?.epoch === epoch);
  }

  /** Holds claimed leases that are not held yet. */
  #adopt(claims: readonly ClaimedLease[]): number {
    const { clock, onClaimed } = this.#options;
    const isEnded = ({ name, epoch }: ClaimedLease) => epoch <= (this.#ended.get(name)?.epoch ?? -1);
    const added = claims.filter((claim) => !this.held.has(claim.name) && !isEnded(claim));
    if (this.left() <= 0) {
      return 0;
    }
    this.#sequence += 1;
    for (const { name, epoch } of added) {
      const claim = { name, epoch, sequence: this.#sequence, claimedAt: clock.monotonic() };
      const lease = new HeldLease(claim, () => this.left());
      this.held.set(name, lease);
      onClaimed(lease);
    }
    return added.length;
  }

  /** Returns false if it failed: the next renewal returns the leases, and they are released again. */
  async #releaseEnded(leases: readonly ClaimedLease[]): Promise<boolean> {
    const { table, self } = this.#options;
    return (
      leases.length === 0 ||
      table.release(self().id, leases).then(
        () => true,
        () => false,
      )
    );
  }

  async #watchExpiry(): Promise<void> {
    if (this.#isWatching) {
      return;
    }
    this.#isWatching = true;
    try {
      for (let left = this.left(); left > 0; left = this.left()) {
        await this.#options.clock.sleep(left, this.#stopped.signal);
      }
      this.#expire();
    } catch {
      // Stopped.
    } finally {
      this.#isWatching = false;
    }
  }

  #expireIfDue(): void {
    if (this.left() <= 0) {
      this.#expire();
    }
  }

  #expire(): void {
    for (const lease of [...this.held.values()]) {
      this.#lose(lease);
    }
  }

  #lose(lease: HeldLease): void {
    this.#end(lease);
    this.#options.onLost(lease);
  }

  #end(lease: HeldLease): void {
    lease.end();
    if (this.held.get(lease.name) === lease) {
      this.held.delete(lease.name);
      this.#sequence += 1;
      this.#ended.set(lease.name, { epoch: lease.epoch, sequence: this.#sequence });
    }
  }

  #report(failure: string | null): void {
    const hasChanged = (failure === null) !== (this.failure === null);
    this.failure = failure;
    if (hasChanged) {
      this.#options.onFailure(failure);
    }
  }
}

/** Returns the milliseconds between two renewals. */
export function renewalInterval(ttl: number): number {
  return Math.min(ttl / 4, RENEWAL);
}

interface Ended {
  readonly epoch: number;
  readonly sequence: number;
}
