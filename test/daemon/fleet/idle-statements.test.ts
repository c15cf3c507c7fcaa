/** Statements that organizations cost in which nothing happens: counts decide how many a database serves. */
import { describe, expect, test } from 'vitest';
import { createState } from '../../../src/emulator/emulator.ts';
import { STATEMENT_TIMEOUT } from '../../../src/store/postgres/connection-pool.ts';
import { createVirtualClock, type VirtualClock } from '../../queue/virtual-clock.ts';
import { hasPostgres } from '../../support/postgres.ts';
import { shareCluster } from '../../support/shared-cluster.ts';
import { StatementCounter } from '../../support/statement-counter.ts';
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

/** Returns true for connections of the store. Those for leases and messages cost the same for any number of organizations. */
const isOfStore = (text: string) => text.includes(`'statement_timeout', '${STATEMENT_TIMEOUT}'`);

/** Number of processes that this one has started: the server, and git while a repository is checked. */
function countProcesses(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap').length;
}

/** Returns the statements per minute of a replica whose organizations poll every 30 s and find nothing. */
async function countIdle(count: number, settings: object): Promise<{ readonly rate: number; readonly texts: string }> {
  await using work = await openOrganizations(count);
  await using counter = await StatementCounter.open(cluster().port, isOfStore);
  const others = countProcesses();
  const clock = createVirtualClock(Date.now(), () => counter.quiet(() => countProcesses() > others));
  const url = await cluster().createDatabase();
  const organization = { source: { git: { url: work.repository.directory, pollInterval: '30s' } }, ...settings };
  const starting = startPage(work, {
    // Wall clocks have no fractions of a millisecond.
    ...{ clock: { ...clock, now: () => Math.floor(clock.now()) }, organization },
    others: Array.from({ length: count - 1 }, (_, index) => ({ id: `org_${index + 1}`, ...organization })),
    top: {
      store: url.replace(`:${cluster().port}/`, `:${counter.port}/`),
      runtime: { directory: `${work.folder}/runtime` },
    },
  });
  const page = await inRealTime(clock, starting);
  try {
    const { organizations } = page.daemon;
    expect(organizations.map(({ lastEnd }) => lastEnd?.error?.message ?? lastEnd?.outcome)).toEqual(
      Array(count).fill('done'),
    );
    // The first minute has the work of the start.
    await clock.advance(60_000);
    counter.reset();
    await clock.advance(MINUTES * 60_000);
    const beginnings = counter.texts.filter((text) => text.includes('BEGIN ISOLATION LEVEL REPEATABLE READ'));
    expect(beginnings.length, 'one text for each connection').toBeLessThanOrEqual(POOL);
    return { rate: counter.ended / MINUTES, texts: counter.frequent() };
  } finally {
    await inRealTime(clock, page[Symbol.asyncDispose]());
  }
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
