/** Policy of a fleet: which leases a replica claims, and which ones it gives away. */
import type { Random } from '../core/clock.ts';

/** Work that replicas divide between them: a token with its organizations, or one organization. */
export interface Shard {
  /** Name of its lease. */
  readonly name: string;
  /** Number of its organizations. */
  readonly weight: number;
}

/** Shard that this replica has. */
export interface OwnShard extends Shard {
  /** Milliseconds since it was claimed. */
  readonly age: number;
}

/** Shard that no replica has. */
export interface FreeShard extends Shard {
  /** Milliseconds since it has had no holder. */
  readonly age: number;
}

export interface FleetView {
  readonly isDraining: boolean;
  readonly own: readonly OwnShard[];
  readonly free: readonly FreeShard[];
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

export interface FleetMoves {
  /** Names of free shards. Another replica may be faster. */
  readonly claim: readonly string[];
  /** Names of own shards. */
  readonly giveAway: readonly string[];
}

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
    return { claim: [], giveAway: own.map(({ name }) => name) };
  }
  const share = Math.ceil((total * weight) / allWeights);
  const mine = sumWeights(own);
  return { claim: planClaims(view, share - mine, random), giveAway: planReleases(view, mine - share) };
}

/** Chooses heavy shards first, because light ones fill what is left. Replicas choose in different orders. */
function planClaims({ free, age, ttl }: FleetView, room: number, random: Random): readonly string[] {
  const candidates = free
    .map((shard) => ({ ...shard, order: random() }))
    .sort((a, b) => b.weight - a.weight || a.order - b.order);
  const claims = new Set<string>();
  const tooHeavy: FreeShard[] = [];
  let left = room;
  // The others had time to claim it, and did not.
  const isOverdue = (shard: FreeShard) => Math.min(age, shard.age) > ttl;
  for (const shard of candidates) {
    if (shard.weight <= Math.max(left, 0) || isOverdue(shard)) {
      left -= shard.weight;
      claims.add(shard.name);
    } else {
      tooHeavy.push(shard);
    }
  }
  // The lightest shard that exceeds the share; without it nobody would claim a shard that is heavier than any share.
  const extra = left > 0 ? tooHeavy.at(-1) : undefined;
  return [...claims, ...(extra === undefined ? [] : [extra.name])];
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

function sumWeights(shards: readonly Shard[]): number {
  return shards.reduce((sum, { weight }) => sum + weight, 0);
}
