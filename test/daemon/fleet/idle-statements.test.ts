/** Statements that organizations cost in which nothing happens: counts decide how many a database serves. */
import type { QueryResult } from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { createState } from '../../../src/emulator/emulator.ts';
import { ConnectionPool, PooledConnection, STATEMENT_TIMEOUT } from '../../../src/store/postgres/connection-pool.ts';
import { createVirtualClock, type VirtualClock } from '../../queue/virtual-clock.ts';
import { hasPostgres } from '../../support/postgres.ts';
import { shareCluster } from '../../support/shared-cluster.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';
import { startPage } from '../../web/page-daemon.ts';

/** Statements per minute that an organization may cost: about 15 (docs/fleet.md#sizing); runs of this test vary up to 26. */
const MOST = 30;
const MANY = 10;
/** Connections of the store. */
const POOL = 10;
const MINUTES = 3;
const SECRET = `whsec_${Buffer.from('a key for the tests of webhooks!').toString('base64')}`;

const cluster = shareCluster();

/** Lets the clock run like a real one until the promise settles. */
async function inRealTime<T>(clock: VirtualClock, promise: PromiseLike<T>): Promise<T> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  promise.then(done, done);
  for (let last = performance.now(); !isDone; ) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    const now = performance.now();
    await clock.advance(now - last);
    last = now;
  }
  return promise;
}

async function openOrganizations(count: number): Promise<Workspace> {
  const ids = Array.from({ length: count }, (_, index) => `org_${index}`);
  const members = [{ email: 'ana@acme.example', role: 'admin' as const }];
  const work = await openWorkspace({
    seed: createState({ organizations: ids.map((id) => ({ id, title: id, members })) }),
  });
  work.repository.commit('One', { 'teams.yaml': 'teams:\n  a:\n    title: A\n' });
  return work;
}

/** Returns true for transactions of the store. Those for leases and messages cost the same for any number of organizations. */
const isOfStore = (begin: string) => begin.includes(`'statement_timeout', '${STATEMENT_TIMEOUT}'`);

/** Counts the statements of the store, also those that begin, set up and end transactions, until it is disposed. */
function countStatements() {
  const { connect } = ConnectionPool.prototype;
  const { query } = PooledConnection.prototype;
  const counted = new WeakMap<PooledConnection, boolean>();
  const count = {
    ended: 0,
    underWay: 0,
    /** Times that each message was sent. */
    texts: new Map<string, number>(),
    [Symbol.dispose]: () => void vi.restoreAllMocks(),
  };
  const during = async <T>(work: Promise<T>): Promise<T> => {
    count.underWay += 1;
    return work.finally(() => {
      count.underWay -= 1;
    });
  };
  vi.spyOn(ConnectionPool.prototype, 'connect').mockImplementation(function (this: ConnectionPool) {
    return during(connect.call(this));
  });
  vi.spyOn(PooledConnection.prototype, 'query').mockImplementation(async function (this: PooledConnection, ...given) {
    // A connection is used for one transaction, which its first message begins.
    const isCounted = counted.get(this) ?? isOfStore(given[0]);
    counted.set(this, isCounted);
    const results: QueryResult | readonly QueryResult[] = await during(query.apply(this, given));
    if (isCounted) {
      const text = `${this.tag}${given[0]}`;
      count.texts.set(text, (count.texts.get(text) ?? 0) + 1);
      count.ended += Array.isArray(results) ? results.length : 1;
    }
    return results as QueryResult;
  });
  return count;
}

/** Resolves when nothing has been under way for a few turns of the event loop. */
async function untilQuiet(isBusy: () => boolean): Promise<void> {
  for (let checks = 0; checks < 5; checks += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (isBusy()) {
      checks = -1;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

/** Number of processes that this one has started: the server, and git while a repository is checked. */
function countProcesses(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap').length;
}

/** Returns the statements per minute of a replica whose organizations poll every 30 s and find nothing. */
async function countIdle(count: number, settings: object): Promise<{ readonly rate: number; readonly texts: string }> {
  await using work = await openOrganizations(count);
  using counter = countStatements();
  const others = countProcesses();
  const isBusy = () => counter.underWay > 0 || countProcesses() > others;
  const clock = createVirtualClock(Date.now(), () => untilQuiet(isBusy));
  const store = await cluster().createDatabase();
  const organization = { source: { git: { url: work.repository.directory, pollInterval: '30s' } }, ...settings };
  const starting = startPage(work, {
    // Wall clocks have no fractions of a millisecond.
    ...{ clock: { ...clock, now: () => Math.floor(clock.now()) }, organization },
    others: Array.from({ length: count - 1 }, (_, index) => ({ id: `org_${index + 1}`, ...organization })),
    top: { store, runtime: { directory: `${work.folder}/runtime` } },
  });
  const page = await inRealTime(clock, starting);
  try {
    const { organizations } = page.daemon;
    expect(organizations.map(({ lastEnd }) => lastEnd?.error?.message ?? lastEnd?.outcome)).toEqual(
      Array(count).fill('done'),
    );
    // The first minute has the work of the start.
    await clock.advance(60_000);
    counter.ended = 0;
    counter.texts.clear();
    await clock.advance(MINUTES * 60_000);
    const beginnings = [...counter.texts.keys()].filter((text) =>
      text.includes('BEGIN ISOLATION LEVEL REPEATABLE READ'),
    );
    expect(beginnings.length, 'one text for each connection').toBeLessThanOrEqual(POOL);
    return { rate: counter.ended / MINUTES, texts: frequent(counter.texts) };
  } finally {
    await inRealTime(clock, page[Symbol.asyncDispose]());
  }
}

/** Returns the most frequent messages. */
function frequent(texts: ReadonlyMap<string, number>): string {
  const sorted = [...texts].sort(([, a], [, b]) => b - a).slice(0, 12);
  return sorted.map(([text, times]) => `${times} × ${text.replaceAll(/\s+/g, ' ').slice(0, 120)}`).join('\n');
}

describe.skipIf(!hasPostgres)('an idle organization', () => {
  test('costs at most 30 statements a minute', async () => {
    const settings = { conversations: { sources: [{ name: 'forms', webhook: { secrets: [SECRET] } }] } };
    const one = await countIdle(1, settings);
    const many = await countIdle(MANY, settings);
    const each = (many.rate - one.rate) / (MANY - 1);
    // Less than this means that something was not counted.
    expect(each).toBeGreaterThan(1);
    expect(each, many.texts).toBeLessThanOrEqual(MOST);
  });
});
