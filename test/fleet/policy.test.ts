// Fair shares and bounded moves, over random fleets.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planMoves } from '../../src/fleet/policy.ts';

const TTL = 60_000;
/** Milliseconds between checks while something is free. */
const STEP = 4000;
/** Milliseconds after which a free shard is overdue. */
const OVERDUE = 6000;

interface ModelShard {
  readonly name: string;
  readonly weight: number;
  holder: string | null;
  since: number;
}

interface ModelReplica {
  readonly id: string;
  readonly weight: number;
  readonly joinedAt: number;
  givenAwayAt: number[];
}

/** Fleet in which every statement succeeds. Replicas check one after the other, in random order. */
class ModelFleet {
  readonly shards: readonly ModelShard[];
  readonly replicas: ModelReplica[] = [];
  readonly #random: () => number;
  now = 0;
  moves: { readonly replica: string; readonly kind: 'claim' | 'release'; readonly at: number }[] = [];

  constructor(weights: readonly number[], seed: number) {
    this.shards = weights.map((weight, index) => ({ name: `s${index}`, weight, holder: null, since: 0 }));
    let state = seed;
    this.#random = () => {
      state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
      return (state >>> 0) / 2 ** 32;
    };
  }

  join(id: string, weight = 1): void {
    this.replicas.push({ id, weight, joinedAt: this.now, givenAwayAt: [] });
  }

  /** Every replica checks once. */
  round(): void {
    for (const replica of this.replicas.toSorted(() => this.#random() - 0.5)) {
      this.#check(replica);
    }
  }

  run(milliseconds: number): void {
    for (const end = this.now + milliseconds; this.now < end; this.now += STEP) {
      this.round();
    }
  }

  loadOf(id: string): number {
    return this.shards.filter(({ holder }) => holder === id).reduce((sum, { weight }) => sum + weight, 0);
  }

  get free(): readonly ModelShard[] {
    return this.shards.filter(({ holder }) => holder === null);
  }

  #check(replica: ModelReplica): void {
    const aged = (shard: ModelShard) => ({ ...shard, age: this.now - shard.since });
    replica.givenAwayAt = replica.givenAwayAt.filter((at) => at > this.now - 60_000);
    const { claim, limit, giveAway } = planMoves(
      {
        isDraining: false,
        own: this.shards.filter(({ holder }) => holder === replica.id).map(aged),
        free: this.free.map(aged),
        total: this.shards.reduce((sum, { weight }) => sum + weight, 0),
        weight: replica.weight,
        allWeights: this.replicas.reduce((sum, { weight }) => sum + weight, 0),
        givenAway: replica.givenAwayAt.length,
        age: this.now - replica.joinedAt,
        ttl: TTL,
      },
      this.#random,
    );
    this.#move(replica, claim.slice(0, limit), replica.id);
    this.#move(replica, giveAway, null);
  }

  #move(replica: ModelReplica, names: readonly string[], holder: string | null): void {
    for (const name of names) {
      const shard = this.shards.find((each) => each.name === name) as ModelShard;
      expect(shard.holder).toBe(holder === null ? replica.id : null);
      Object.assign(shard, { holder, since: this.now });
      this.moves.push({ replica: replica.id, kind: holder === null ? 'release' : 'claim', at: this.now });
      if (holder === null) {
        replica.givenAwayAt.push(this.now);
      }
    }
  }
}

const weights = fc.array(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 300 })), {
  minLength: 1,
  maxLength: 60,
});
const replicas = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 });

function openFleet(shards: readonly number[], replicaWeights: readonly number[], seed: number): ModelFleet {
  const fleet = new ModelFleet(shards, seed);
  for (const [index, weight] of replicaWeights.entries()) {
    fleet.join(`r${index}`, weight);
  }
  return fleet;
}

describe('claims', () => {
  test('everything is claimed in the first round, whatever the weights are', () => {
    fc.assert(
      fc.property(weights, replicas, fc.nat(), (shards, replicaWeights, seed) => {
        const fleet = openFleet(shards, replicaWeights, seed);
        for (let round = 0; round < shards.length && fleet.free.length > 0; round += 1) {
          const before = fleet.free.length;
          fleet.round();
          expect(fleet.free.length).toBeLessThan(before);
        }
        expect(fleet.free).toEqual([]);
        for (const { id, weight } of fleet.replicas) {
          const share = Math.ceil((shards.reduce((a, b) => a + b) * weight) / replicaWeights.reduce((a, b) => a + b));
          expect(fleet.loadOf(id)).toBeLessThan(share + Math.max(...shards));
        }
      }),
    );
  });

  test('a shard that the others leave unowned although they have checked is claimed beyond the share', () => {
    const view = { isDraining: false, total: 10, weight: 1, allWeights: 2, givenAway: 0, ttl: TTL };
    const own = [{ name: 'a', weight: 5, age: 0 }];
    const free = (age: number) => [{ name: 'b', weight: 5, age }];
    const claims = (age: number, since: number) => {
      const { claim, limit } = planMoves({ ...view, own, free: free(since), age }, () => 0.5);
      return claim.slice(0, limit);
    };
    expect(claims(10 * TTL, OVERDUE)).toEqual(['b']);
    expect(claims(10 * TTL, OVERDUE - 1)).toEqual([]);
    // After an outage of the whole fleet, the others have just joined as well.
    expect(claims(OVERDUE - 1, 10 * TTL)).toEqual([]);
  });
});

test('a draining replica claims nothing and gives everything away', () => {
  const view = { isDraining: true, total: 10, weight: 1, allWeights: 1, givenAway: 0, age: 10 * TTL, ttl: TTL };
  const own = [{ name: 'a', weight: 5, age: 0 }];
  expect(planMoves({ ...view, own, free: [{ name: 'b', weight: 5, age: 0 }] }, () => 0.5)).toEqual({
    claim: [],
    limit: 0,
    giveAway: ['a'],
  });
});

describe('moves between replicas', () => {
  test('a fleet comes to rest: no more claims and releases', () => {
    fc.assert(
      fc.property(weights, replicas, fc.nat(), (shards, replicaWeights, seed) => {
        const fleet = openFleet(shards, replicaWeights, seed);
        fleet.run(60 * 60_000 * shards.length);
        fleet.moves = [];
        fleet.run(30 * 60_000);
        expect(fleet.moves).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  test('after a join, each replica gives at most 5 % of its shards away in a minute, and all shares become even', () => {
    const fleet = openFleet(Array(400).fill(1), [1, 1], 3);
    fleet.run(10 * TTL);
    fleet.moves = [];
    fleet.join('r2');
    fleet.run(20 * 60_000);
    const releases = fleet.moves.filter(({ kind }) => kind === 'release');
    for (const { at } of releases) {
      const lately = releases.filter((each) => each.at <= at && each.at > at - 60_000);
      expect(lately.filter(({ replica }) => replica === 'r0').length).toBeLessThanOrEqual(10);
    }
    // A share is 400 / 3, rounded up; what both gave away is what the third one has.
    expect(fleet.replicas.map(({ id }) => fleet.loadOf(id))).toEqual([134, 134, 132]);
    expect(releases).toHaveLength(132);
  });

  test('what was claimed within the last two ttl stays', () => {
    const fleet = openFleet(Array(10).fill(1), [1], 1);
    fleet.round();
    fleet.join('r1');
    fleet.run(2 * TTL);
    expect(fleet.loadOf('r0')).toBe(10);
    fleet.run(TTL);
    expect(fleet.loadOf('r0')).toBeLessThan(10);
  });

  test('the light shards move, and a heavy one stays where it is', () => {
    const fleet = openFleet([100, 1, 1, 1, 1], [1], 1);
    fleet.run(3 * TTL);
    fleet.join('r1');
    fleet.run(10 * TTL);
    expect(fleet.loadOf('r0')).toBe(100);
    expect(fleet.loadOf('r1')).toBe(4);
  });
});
