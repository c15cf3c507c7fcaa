/** Policy of a fleet: which leases a replica claims, and which ones it gives away. */
import type { Random } from '../core/clock.ts';
import { smallest } from '../core/lists.ts';
import { renewalInterval } from './lease-keeper.ts';

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
export function planMoves(view: FleetView, random: Random): FleetMoves {
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
export function nextFreeCheck(view: FleetView, isClaimed: (name: string) => boolean): number {
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
