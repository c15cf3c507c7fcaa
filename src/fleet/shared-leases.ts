/** Divides leases between the replicas of a fleet: claims, gives away and releases them. */

import { type Clock, endsWithin, type Random, WakeUpSignal } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import { append, smallest } from '../core/lists.ts';
import {
  FLEET_LEASE,
  type FleetStore,
  type LeaseRecord,
  type LeaseTable,
  type OwnReplica,
  type Replica,
} from '../store/leases.ts';
import type { FleetLeases, FleetOrganization, FleetStatus, LeaseHolder, LeaseWork } from './fleet-leases.ts';
import { LeaseKeeper, renewalInterval } from './lease-keeper.ts';
import { groupLeases, type HeldLease, type LeaseGroup, LeaseRuns } from './own-leases.ts';

/** Replicas and leases, as the database had them at one time. */
interface ObservedFleet {
  readonly replicas: readonly Replica[];
  /** Leases by name. */
  readonly records: ReadonlyMap<string, LeaseRecord>;
  /** Time of the reading, on the monotonic clock. */
  readonly readAt: number;
}

/**
 * Reads replicas and leases. Evicts replicas that have expired, other than `own`, and defines leases that are missing.
 * `needed` returns the names of those that must exist.
 */
async function readFleet(
  table: LeaseTable,
  own: string,
  needed: () => readonly string[],
  clock: Clock,
): Promise<ObservedFleet> {
  const replicas = await readReplicas(table, own);
  const records = await readLeases(table);
  const readAt = clock.monotonic();
  const missing = needed().filter((name) => !records.has(name));
  if (missing.length === 0) {
    return { replicas, records, readAt };
  }
  await table.define(missing);
  return { replicas, records: await readLeases(table), readAt: clock.monotonic() };
}

/** Returns the milliseconds until another replica can be evicted; infinite without one. */
function nextExpiry({ replicas }: ObservedFleet, own: string): number {
  return smallest(replicas.flatMap(({ id, left }) => (id === own ? [] : [Math.max(left, 0)])));
}

async function readReplicas(table: LeaseTable, own: string): Promise<readonly Replica[]> {
  const replicas = await table.replicas();
  const hasExpired = replicas.some(({ left, id }) => left < 0 && id !== own);
  return hasExpired && (await table.evict()) > 0 ? table.replicas() : replicas;
}

async function readLeases(table: LeaseTable): Promise<ReadonlyMap<string, LeaseRecord>> {
  return new Map((await table.leases()).map((record) => [record.name, record]));
}

/** Milliseconds for which releases are gathered: work of many leases ends at slightly different times. */
const GATHER = 20;

/** Releases leases in batches: those that are added within a moment, or while one statement runs, share the next one. */
class ReleaseQueue {
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #release: (leases: readonly HeldLease[]) => Promise<void>;
  #waiting: HeldLease[] = [];
  #running: Promise<void> | null = null;

  constructor(clock: Pick<Clock, 'sleep'>, release: (leases: readonly HeldLease[]) => Promise<void>) {
    this.#clock = clock;
    this.#release = release;
  }

  /** Resolves when these and all earlier ones were released. */
  add(leases: readonly HeldLease[]): Promise<void> {
    append(this.#waiting, leases);
    if (this.#waiting.length > 0) {
      this.#running ??= this.#run();
    }
    return this.#running ?? Promise.resolve();
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await this.#clock.sleep(GATHER);
        const batch = this.#waiting;
        this.#waiting = [];
        await this.#release(batch);
      }
    } finally {
      this.#running = null;
    }
  }
}

interface SharedLeasesOptions {
  readonly store: Pick<FleetStore, 'leases' | 'signals'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly replica: Omit<OwnReplica, 'isDraining'>;
  /** Milliseconds that a lease lasts without renewal. */
  readonly ttl: number;
  readonly split: Parameters<typeof groupLeases>[1];
  readonly work: LeaseWork;
  /** Returns false while the configuration may have organizations that are not known. */
  readonly isComplete: () => boolean;
  /** Called when the database begins to fail, with the reason, and with null when it works again. */
  readonly onFailure?: (reason: string | null) => void;
}

/** Milliseconds from joining to the first claims: replicas that start together share from the beginning. */
const GRACE = 2000;
/** Milliseconds after a message of another replica: several leases are often released at once. */
const SETTLE = 20;
/** Milliseconds until the next check if another replica was faster. */
const CONTENTION = 100;
/** Milliseconds for a statement while the process ends. */
const LEAVE_LIMIT = 1000;
const MINUTE = 60_000;
/** A replica that missed this many renewals claims nothing now, so it does not count for the shares of the others. */
const MISSED_RENEWALS = 2;

/** Leases that the replicas of a fleet divide between them. */
export class SharedLeases implements FleetLeases {
  readonly replica: string;
  readonly #options: SharedLeasesOptions;
  readonly #keeper: LeaseKeeper;
  readonly #runs: LeaseRuns;
  readonly #retention: LeaseRetention;
  readonly #releases: ReleaseQueue;
  readonly #wake = new WakeUpSignal();
  readonly #stopped = new AbortController();
  #groups: ReadonlyMap<string, LeaseGroup> = new Map();
  #groupOf: ReadonlyMap<string, string> = new Map();
  /** Names of groups that are being given away. */
  readonly #leaving = new Map<string, Promise<void>>();
  #givenAwayAt: readonly number[] = [];
  #state: ObservedFleet = { replicas: [], records: new Map(), readAt: 0 };
  #joinedAt: number | null = null;
  #isDraining = false;
  #failure: string | null = null;

  constructor(options: SharedLeasesOptions) {
    const { store, clock, ttl, replica } = options;
    this.replica = replica.id;
    this.#options = options;
    this.#setGroups([]);
    this.#runs = new LeaseRuns(options.work);
    this.#retention = new LeaseRetention(store.leases, clock, options.isComplete);
    this.#keeper = new LeaseKeeper({
      table: store.leases,
      clock,
      ttl,
      self: () => ({ ...replica, isDraining: this.#isDraining }),
      onClaimed: (lease) => this.#claimed(lease),
      onLost: (lease) => void this.#runs.end(lease).then(() => this.#wake.notify()),
      onFailure: (reason) => {
        this.#wake.notify();
        options.onFailure?.(reason);
      },
    });
    this.#releases = new ReleaseQueue(clock, async (leases) => {
      await this.#keeper.release(leases);
      // Without the signal, the others find the free leases at their next check.
      await store.signals.send({ kind: 'leases', payload: {} }).catch(() => undefined);
    });
  }

  async start(): Promise<void> {
    const { clock, ttl, store } = this.#options;
    await this.#keeper.join();
    void this.#keeper.run();
    const end = store.signals.listen(({ kind }) => kind === 'leases' && this.#wake.notify());
    this.#stopped.signal.addEventListener('abort', end);
    await clock.sleep(Math.min(GRACE, ttl / 10), this.#stopped.signal).catch(() => undefined);
    this.#joinedAt = clock.monotonic();
    void this.#run(await this.#check());
  }

  setOrganizations(organizations: readonly FleetOrganization[]): void {
    const before = this.#groupOf;
    this.#setGroups(organizations);
    for (const lease of this.#keeper.held.values()) {
      if (!this.#isNeeded(lease.name) || this.#groupOf.get(lease.name) !== before.get(lease.name)) {
        void this.#giveAway(lease.name, [lease]);
      }
    }
    this.#wake.notify();
  }

  async drain(limit: number): Promise<void> {
    const { clock } = this.#options;
    this.#isDraining = true;
    // The others must know before leases are free: then they count this replica out of their shares.
    await endsWithin(clock, LEAVE_LIMIT, [this.#keeper.join().catch(() => undefined)]);
    await endsWithin(clock, limit, [this.#giveAwayAll()]);
    this.#stopped.abort();
    await endsWithin(clock, LEAVE_LIMIT, [this.#leave()]);
  }

  status(): FleetStatus {
    const names = new Set([...this.#groups.keys(), ...this.#groupOf.keys()]);
    return {
      hasJoined: this.#joinedAt !== null,
      left: this.#keeper.left(),
      failure: this.#keeper.failure ?? this.#failure,
      replicas: this.#state.replicas,
      leases: this.#runs.names,
      unowned: [...names].flatMap((name) => {
        const record = this.#state.records.get(name);
        return record?.holder === null && !this.#keeper.held.has(name) ? [{ name, age: record.age }] : [];
      }),
    };
  }

  holder(name: string): LeaseHolder {
    const record = this.#state.records.get(name);
    const holder = this.#keeper.held.has(name) ? this.replica : record?.holder;
    const age = record === undefined ? null : record.age + this.#options.clock.monotonic() - this.#state.readAt;
    return { replica: this.#state.replicas.find(({ id }) => id === holder) ?? null, age };
  }

  #setGroups(organizations: readonly FleetOrganization[]): void {
    const { groups, groupOf } = groupLeases(organizations, this.#options.split);
    this.#groups = groups;
    this.#groupOf = groupOf;
  }

  async #giveAwayAll(): Promise<void> {
    await Promise.all([...this.#ownGroups().map((group) => this.#giveAwayGroup(group)), ...this.#leaving.values()]);
    // Leases without a group, for example of a token whose organizations were removed a moment ago.
    await Promise.all([...this.#keeper.held.values()].map((lease) => this.#giveAway(lease.name, [lease])));
  }

  async #leave(): Promise<void> {
    const { leases, signals } = this.#options.store;
    try {
      await this.#keeper.stop();
      await leases.leave(this.replica);
      await signals.send({ kind: 'leases', payload: {} });
    } catch {
      // The leases expire.
    }
  }

  /** Checks until this replica drains: regularly, when another replica expires, and when a message arrives. */
  async #run(firstDelay: number): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopped;
    let delay = firstDelay;
    let seen = this.#wake.count;
    while (!signal.aborted && !this.#isDraining) {
      await this.#wake.wait(seen, delay, clock, signal);
      await clock.sleep(SETTLE, signal).catch(() => undefined);
      seen = this.#wake.count;
      if (!signal.aborted && !this.#isDraining) {
        delay = await this.#check();
      }
    }
  }

  /** Runs one check, and returns the milliseconds until the next one. Never rejects. */
  async #check(): Promise<number> {
    const { clock, ttl } = this.#options;
    const limit = Math.max(ttl / 4, 1000);
    let delay = 1000;
    const check = this.#move().then((next) => {
      delay = next;
    });
    try {
      const hasEnded = await endsWithin(clock, limit, [check]);
      this.#failure = hasEnded ? null : `no answer for ${limit} ms`;
    } catch (error) {
      this.#failure = messageOf(error);
    }
    return delay;
  }

  async #move(): Promise<number> {
    const { ttl, random, store, clock } = this.#options;
    const needed = () => [...this.#groups.values()].flatMap(({ name, work }) => [name, ...work]);
    this.#state = await readFleet(store.leases, this.replica, needed, clock);
    if (!this.#state.replicas.some(({ id }) => id === this.replica)) {
      // Evicted: the renewal tells the keeper, and joins again.
      this.#keeper.renewNow();
      return CONTENTION;
    }
    const view = this.#view();
    const moves = planMoves(view, random);
    // At once: while a claim is awaited, shards of the plan can be lost, or given away by a later check.
    for (const group of moves.giveAway.flatMap((name) => this.#groups.get(name) ?? [])) {
      this.#givenAwayAt = [...this.#givenAwayAt, clock.monotonic()];
      void this.#giveAwayGroup(group);
    }
    this.#giveAwayOrphans();
    const claimed = moves.limit === 0 ? 0 : await this.#keeper.claim(moves.claim, moves.limit);
    await this.#claimWork();
    await this.#retention.apply(this.#keeper.held.has(FLEET_LEASE));
    if (claimed < moves.limit) {
      return CONTENTION * (0.5 + random());
    }
    // Without messages, replicas find only by their checks what others released.
    const limit = store.signals.isConnected ? ttl / 4 : renewalInterval(ttl);
    const due = nextFreeCheck(view, (name) => this.#keeper.held.has(name));
    return Math.min(limit, Math.min(due, nextExpiry(this.#state, this.replica)) + CONTENTION);
  }

  #view() {
    const { clock, ttl, replica } = this.#options;
    const now = clock.monotonic();
    this.#givenAwayAt = this.#givenAwayAt.filter((at) => at > now - MINUTE);
    const groups = [...this.#groups.values()];
    const shortest = ttl - MISSED_RENEWALS * renewalInterval(ttl);
    const live = this.#state.replicas.filter((each) => !each.isDraining && each.id !== this.replica);
    return {
      isDraining: this.#isDraining,
      own: this.#ownGroups().map((group) => ({
        ...group,
        age: now - (this.#keeper.held.get(group.name)?.claimedAt ?? now),
      })),
      free: groups.flatMap((group) => {
        const record = this.#state.records.get(group.name);
        return record?.holder === null && !this.#isHeld(group) ? [{ ...group, age: record.age }] : [];
      }),
      total: groups.reduce((sum, { weight }) => sum + weight, 0),
      weight: replica.weight,
      allWeights: live.reduce((sum, { weight, left }) => sum + (left > shortest ? weight : 0), replica.weight),
      givenAway: this.#givenAwayAt.length,
      age: now - (this.#joinedAt ?? now),
      ttl,
    };
  }

  /** Claims the leases for the work of the groups that this replica has. */
  async #claimWork(): Promise<void> {
    const names = this.#isDraining ? [] : this.#ownGroups().flatMap(({ work }) => work);
    const free = names.filter(
      (name) => !this.#keeper.held.has(name) && (this.#state.records.get(name)?.holder ?? null) === null,
    );
    if (free.length > 0) {
      await this.#keeper.claim(free, free.length);
    }
  }

  #claimed(lease: HeldLease): void {
    if (this.#isDraining || !this.#isNeeded(lease.name)) {
      void this.#giveAway(lease.name, [lease]);
    } else if (this.#groupOf.has(lease.name)) {
      this.#runs.begin(lease);
    }
  }

  /**
   * Gives away work whose group this replica does not have: a claim can be answered after the group was given away. Otherwise
   * two replicas would use one token.
   */
  #giveAwayOrphans(): void {
    for (const lease of this.#keeper.held.values()) {
      const group = this.#groupOf.get(lease.name);
      if (group !== undefined && !this.#keeper.held.has(group) && !this.#leaving.has(group)) {
        void this.#giveAway(lease.name, [lease]);
      }
    }
  }

  #giveAwayGroup({ name, work }: LeaseGroup): Promise<void> {
    const leases = [...new Set([...work, name])].flatMap((each) => this.#keeper.held.get(each) ?? []);
    return this.#giveAway(name, leases);
  }

  /** Releases leases together, once the work of all of them has ended. */
  #giveAway(name: string, leases: readonly HeldLease[]): Promise<void> {
    const leaving =
      this.#leaving.get(name) ??
      Promise.all(leases.map((lease) => this.#runs.end(lease)))
        .then(() => this.#releases.add(leases))
        .then(() => void this.#leaving.delete(name));
    this.#leaving.set(name, leaving);
    return leaving;
  }

  /** Returns the groups that this replica has and keeps. */
  #ownGroups(): readonly LeaseGroup[] {
    return [...this.#groups.values()].filter((group) => this.#isHeld(group) && !this.#leaving.has(group.name));
  }

  #isHeld({ name }: LeaseGroup): boolean {
    return this.#keeper.held.has(name);
  }

  #isNeeded(name: string): boolean {
    return this.#groups.has(name) || this.#groupOf.has(name);
  }
}

/** Work that replicas divide between them: a token with its organizations, or one organization. */
interface Shard {
  /** Name of its lease. */
  readonly name: string;
  /** Number of its organizations. */
  readonly weight: number;
  /** Milliseconds since it was claimed, or since it has had no holder. */
  readonly age: number;
}

interface FleetView {
  readonly isDraining: boolean;
  /** Shards that this replica has. */
  readonly own: readonly Shard[];
  /** Shards that no replica has. */
  readonly free: readonly Shard[];
  /** Weight of all shards, those of other replicas included. */
  readonly total: number;
  /** Weight of this replica. */
  readonly weight: number;
  /** Weight of all replicas that are alive and not draining, this one included. */
  readonly allWeights: number;
  /** Shards that this replica gave away within the last minute. */
  readonly givenAway: number;
  /** Milliseconds since this replica joined. */
  readonly age: number;
  /** Milliseconds that a lease lasts without renewal. */
  readonly ttl: number;
}

interface FleetMoves {
  /** Names of free shards. Another replica may be faster. */
  readonly claim: readonly string[];
  /** Largest number of shards to claim. */
  readonly limit: number;
  /** Names of own shards. */
  readonly giveAway: readonly string[];
}

/** Intervals of renewals after which a free shard is overdue: every other replica has checked since. */
const OVERDUE = 1.5;
/** Part of its shards that a replica gives away within a minute, unless it is draining. */
const PACE = 0.05;

/**
 * Returns the moves of a replica. Its share is the total weight divided in proportion to the weights of the replicas. It
 * claims while it has less than its share, so some replica always claims what is free. It gives away only what
 * leaves it with at least its share: then every move makes the fleet more even, and moves end.
 */
function planMoves(view: FleetView, random: Random): FleetMoves {
  const { isDraining, own, total, weight, allWeights } = view;
  if (isDraining) {
    return { claim: [], limit: 0, giveAway: own.map(({ name }) => name) };
  }
  const share = Math.ceil((total * weight) / allWeights);
  const mine = own.reduce((sum, each) => sum + each.weight, 0);
  const chosen = planClaims(view, share - mine, random);
  const claim = [...chosen, ...substitutesFor(chosen, view)].map(({ name }) => name);
  return { claim, limit: chosen.length, giveAway: planReleases(view, mine - share) };
}

/**
 * Returns the other free shards if all have the same weight. Then replicas that claim at the same time do not have to try
 * again, because each takes others instead of those that another one was faster to claim.
 */
function substitutesFor(chosen: readonly Shard[], { free }: FleetView): readonly Shard[] {
  const [first] = chosen;
  if (first === undefined || free.some(({ weight }) => weight !== first.weight)) {
    return [];
  }
  const names = new Set(chosen.map(({ name }) => name));
  return free.filter(({ name }) => !names.has(name));
}

/**
 * Returns the milliseconds until free shards that were not claimed are checked again, in case the others fail; infinite if
 * there are none.
 */
function nextFreeCheck(view: FleetView, isClaimed: (name: string) => boolean): number {
  const others = view.free.filter(({ name }) => !isClaimed(name));
  return smallest(others.flatMap((shard) => [renewalInterval(view.ttl), overdueIn(view, shard)]));
}

/** Returns the milliseconds until the other replicas had time to claim a shard, and did not. */
function overdueIn({ age, ttl }: FleetView, shard: Shard): number {
  return OVERDUE * renewalInterval(ttl) - Math.min(age, shard.age);
}

/** Chooses heavy shards first, because light ones fill what is left. Replicas choose in different orders. */
function planClaims(view: FleetView, room: number, random: Random): readonly Shard[] {
  const { free } = view;
  const candidates = free
    .map((shard) => ({ ...shard, order: random() }))
    .sort((a, b) => b.weight - a.weight || a.order - b.order);
  const claims: Shard[] = [];
  const tooHeavy: Shard[] = [];
  let left = room;
  for (const shard of candidates) {
    if (shard.weight <= Math.max(left, 0) || overdueIn(view, shard) <= 0) {
      left -= shard.weight;
      claims.push(shard);
    } else {
      tooHeavy.push(shard);
    }
  }
  // The lightest shard that exceeds the share; without it nobody would claim a shard that is heavier than any share.
  const extra = left > 0 ? tooHeavy.at(-1) : undefined;
  return extra === undefined ? claims : [...claims, extra];
}

/** Chooses the lightest shards, because others can be placed better, and none that was claimed recently. */
function planReleases({ own, ttl, givenAway, free }: FleetView, surplus: number): readonly string[] {
  const allowed = Math.max(1, Math.floor((own.length + givenAway) * PACE)) - givenAway;
  const movable = own.filter(({ age, weight }) => age >= 2 * ttl && weight > 0).sort((a, b) => a.weight - b.weight);
  const releases: string[] = [];
  let left = surplus;
  // What is free already is claimed by the others first.
  for (const { name, weight } of free.length > 0 ? [] : movable) {
    if (releases.length >= allowed || weight > left) {
      break;
    }
    left -= weight;
    releases.push(name);
  }
  return releases;
}

/** Milliseconds that a lease without a holder, and the state of its organization, are kept. */
export const LEASE_RETENTION = 7 * 24 * 3_600_000;
/** Milliseconds between removals. */
const INTERVAL = 3_600_000;

/**
 * Replicas claim within minutes what their configuration needs. So what nobody had for days is in no configuration, or no
 * replica was running; then the rows are added again.
 */
export class LeaseRetention {
  readonly #table: Pick<LeaseTable, 'removeUnused'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #isComplete: () => boolean;
  #removedAt: number;

  /**
   * Removes nothing within the first interval: the other replicas claim what they need first. `isComplete` returns false while
   * the configuration may have organizations that are not known.
   */
  constructor(table: Pick<LeaseTable, 'removeUnused'>, clock: Pick<Clock, 'monotonic'>, isComplete: () => boolean) {
    this.#table = table;
    this.#clock = clock;
    this.#isComplete = isComplete;
    this.#removedAt = clock.monotonic();
  }

  /** Removes what is due, if this replica has the lease for work that exists once. Throws StoreError. */
  async apply(isResponsible: boolean): Promise<void> {
    if (!this.#isComplete()) {
      // After that, the replicas have an interval again to claim what they need.
      this.#removedAt = this.#clock.monotonic();
      return;
    }
    if (isResponsible && this.#clock.monotonic() - this.#removedAt >= INTERVAL) {
      await this.#table.removeUnused(LEASE_RETENTION);
      this.#removedAt = this.#clock.monotonic();
    }
  }
}
