// Connections that pass in one direction only: nothing stays without an owner for longer than a lease and 5 s.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases, SEED } from '../support/campaign.ts';
import type { CallFate } from './lease-table-model.ts';
import { ModelFleet, type ModelReplica } from './model-fleet.ts';

const TTL = 60_000;
const LIMIT = TTL + 5000;
/** Milliseconds until the others have noticed that a replica does not claim its share of what is free. */
const NOTICE = 15_000;

/** Directions of a connection that are cut: to the server, or to the client. */
const CUTS = {
  none: { request: 0, answer: 0 },
  requests: { request: null, answer: 0 },
  answers: { request: 0, answer: null },
} as const satisfies Record<string, CallFate>;

type Cut = keyof typeof CUTS;

/** Measures how long organizations have no owner that reaches the database in both directions. */
class UnownedTime {
  longest = 0;
  /** As `longest`, without the time after a fault that others have to notice first. */
  longestWithoutFault = 0;
  #faultAt = 0;
  readonly #cuts = new Map<string, Cut>();
  readonly #fleet: ModelFleet;
  readonly #ownedAt = new Map<string, number>();
  readonly #epochs = new Map<string, number>();
  /** Ids of the replicas that were connected at the last sample. */
  #connected: ReadonlySet<string> = new Set();

  constructor(fleet: ModelFleet) {
    this.#fleet = fleet;
  }

  /** Adds a replica whose connection can be cut. */
  add(id: string, weight = 1): ModelReplica {
    return this.#fleet.add(id, { weight, fate: () => CUTS[this.#cuts.get(id) ?? 'none'] });
  }

  cut(id: string, cut: Cut): void {
    this.#cuts.set(id, cut);
    this.fail();
  }

  /** Records a fault. */
  fail(): void {
    this.sample();
    this.#faultAt = this.#fleet.clock.monotonic();
  }

  readonly sample = (): void => {
    const now = this.#fleet.clock.monotonic();
    const connected = this.#fleet.replicas.filter(({ id, isDead }) => !isDead && !this.#isCut(id));
    const owned = new Set(connected.flatMap(({ sending }) => sending));
    for (const { id } of this.#fleet.organizations) {
      const name = `organization/${id}`;
      const time = now - (this.#ownedAt.get(name) ?? now);
      this.longest = Math.max(this.longest, time);
      if (now > this.#faultAt + NOTICE) {
        this.longestWithoutFault = Math.max(this.longestWithoutFault, time);
      }
      if (owned.has(name) || this.#wasClaimed(name) || !this.#ownedAt.has(name)) {
        this.#ownedAt.set(name, now);
      }
    }
    this.#connected = new Set(connected.map(({ id }) => id));
  };

  /**
   * Returns true if a replica that was connected claimed a lease. If it is cut off before the answer arrives, that is as
   * if it was cut off later.
   */
  #wasClaimed(name: string): boolean {
    const { epoch = 0, holder = null } = this.#fleet.model.leases.get(name) ?? {};
    const last = this.#epochs.get(name);
    this.#epochs.set(name, epoch);
    return epoch !== last && this.#connected.has(holder ?? '');
  }

  #isCut(id: string): boolean {
    return (this.#cuts.get(id) ?? 'none') !== 'none';
  }
}

test('a replica that is cut off again seconds after it recovered does not delay the take-over', async () => {
  const fleet = new ModelFleet([1, 1]);
  const unowned = new UnownedTime(fleet);
  const [first, victim] = [unowned.add('r0'), unowned.add('r1')];
  await fleet.clock.run(Promise.all(fleet.replicas.map(({ leases }) => leases.start())));
  await fleet.advance(5000, unowned.sample);
  expect(victim.sending).toEqual(['organization/1-0']);
  unowned.cut('r1', 'answers');
  await fleet.advance(53_000, unowned.sample);
  unowned.cut('r1', 'none');
  // It releases what it has lost, and is cut off before it claims again. The other one still leaves it its share.
  await fleet.advance(3000, unowned.sample);
  expect(fleet.model.leases.get('organization/1-0')?.holder).toBeNull();
  unowned.cut('r1', 'answers');
  await fleet.advance(TTL, unowned.sample);
  expect(first.sending).toContain('organization/1-0');
  expect(unowned.longest).toBeLessThan(LIMIT);
});

test('random cuts, kills and recoveries leave nothing unowned for longer than a lease and 5 s', async () => {
  const action = fc.record({
    kind: fc.constantFrom<(Cut | 'kill')[]>('requests', 'answers', 'answers', 'none', 'none', 'kill'),
    replica: fc.nat(4),
    seconds: fc.integer({ min: 0, max: 90 }),
    /** Seconds that a connection that passes again keeps working. */
    passing: fc.integer({ min: 0, max: 90 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
      fc.array(action, { minLength: 1, maxLength: 12 }),
      fc.integer(),
      async (shards, weights, actions, seed) => {
        const fleet = new ModelFleet(shards, { seed });
        const unowned = new UnownedTime(fleet);
        // The first replica always works.
        const replicas = [1, ...weights].map((weight, index) => unowned.add(`r${index}`, weight));
        await fleet.clock.run(Promise.all(replicas.map(({ leases }) => leases.start())));
        await fleet.advance(5000, unowned.sample);
        for (const { kind, replica, seconds, passing } of actions) {
          const chosen = replicas[1 + (replica % weights.length)] as ModelReplica;
          if (kind === 'kill') {
            chosen.kill();
            unowned.fail();
          } else {
            unowned.cut(chosen.id, kind);
          }
          await fleet.advance((kind === 'none' ? passing : seconds) * 1000, unowned.sample);
        }
        await fleet.advance(2 * TTL, unowned.sample);
        expect(unowned.longestWithoutFault).toBeLessThan(LIMIT);
      },
    ),
    { seed: SEED, numRuns: countCases({ sample: 20, ci: 100, full: 3000 }) },
  );
});
