// Hand-over of many leases: how many statements it takes, and how long nobody has a lease.
import { expect, test } from 'vitest';
import { ModelFleet } from './model-fleet.ts';

/** Organizations with a token each: twice as many leases. */
const ORGANIZATIONS = 834;
/** Milliseconds of a statement. */
const STATEMENT = 5;
/** Milliseconds within which the work ends. */
const ENDING = 1000;
/** Milliseconds from the release of a lease to the work of its next owner. */
const TAKE_OVER = 100;

/** Counts the statements of each replica, as `replica method`. */
function openFleet() {
  const statements = new Map<string, number>();
  const fleet = new ModelFleet(Array(3 * ORGANIZATIONS).fill(1), { seed: 5 });
  for (const id of ['a', 'b', 'c']) {
    fleet.add(id, {
      ending: () => Math.floor(fleet.random() * ENDING),
      fate: (method) => {
        const key = `${id} ${method}`;
        statements.set(key, (statements.get(key) ?? 0) + 1);
        return { request: 0, answer: STATEMENT };
      },
    });
  }
  return { fleet, statements };
}

test('1,668 leases whose work ends at different times are handed over with few statements', async () => {
  const { fleet, statements } = openFleet();
  const [leaving, ...others] = fleet.replicas;
  await fleet.clock.run(Promise.all(fleet.replicas.map(({ leases }) => leases.start())));
  await fleet.clock.advance(10_000);
  expect(leaving?.working.size).toBeGreaterThanOrEqual(ORGANIZATIONS);
  statements.clear();
  const drained = leaving?.leases.drain(6000);
  const freeSince = new Map<string, number>();
  let longestFree = 0;
  const sample = () => {
    const now = fleet.clock.monotonic();
    for (const name of fleet.model.namesOf(null)) {
      freeSince.set(name, freeSince.get(name) ?? now);
    }
    for (const [name, since] of freeSince) {
      longestFree = Math.max(longestFree, now - since);
      if (
        others.some(({ working, leases }) => working.has(name) || leases.holder(name)?.replica?.id === leases.replica)
      ) {
        freeSince.delete(name);
      }
    }
  };
  await fleet.clock.advance(ENDING + TAKE_OVER, sample);
  await drained;
  expect(others.flatMap(({ working }) => [...working.keys()])).toHaveLength(3 * ORGANIZATIONS + 1);
  expect(longestFree).toBeLessThan(TAKE_OVER);
  const count = (method: string) => others.map(({ id }) => statements.get(`${id} ${method}`) ?? 0);
  // Releases are gathered for 20 ms, and the statement takes 5 ms.
  expect(statements.get('a release')).toBeLessThanOrEqual(ENDING / 25);
  expect(statements.get('a leases')).toBeUndefined();
  for (const claims of count('claim')) {
    // At most one for tokens and one for their organizations in each check.
    expect(claims).toBeLessThanOrEqual(2 * (ENDING / 35));
  }
  const total = [...statements.values()].reduce((sum, each) => sum + each, 0);
  expect(total).toBeLessThan(300);
});
