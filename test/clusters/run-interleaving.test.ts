import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDraftMarker, readMarker, toClusterChangeRequest } from '../../src/clusters/change-request.ts';
import { decideReopen } from '../../src/clusters/claims.ts';
import type { ClustersConfig } from '../../src/config/clusters.ts';
import { StoreError, TransientError } from '../../src/core/errors.ts';
import type { Json } from '../../src/core/json.ts';
import type { ChangeRequestRecord } from '../../src/emulator/content/records.ts';
import type { PlatformVersion } from '../../src/emulator/emulator.ts';
import { ALL_FEATURES } from '../../src/emulator/model/features.ts';
import type { Note } from '../../src/store/record.ts';
import { countCases, SEED } from '../support/campaign.ts';
import { NO_REDACTION, openDaemon, seeded, type TestDaemon } from './run-daemon.ts';
import { ClusterPlatform, type Seen } from './run-platform.ts';
import { DAY, settingsOf } from './samples.ts';

const CLUSTERS = ['c_1', 'c_2', 'c_3', 'c_4'];

/** Next event. The numbers select among the possible ones. */
type Move =
  | { readonly is: 'go'; readonly which: number }
  /** The next request of this daemon to arrive, or its next answer, is lost. */
  | { readonly is: 'lose'; readonly which: number }
  | { readonly is: 'kill'; readonly which: number }
  /** Like `kill`, and the state file is lost. */
  | { readonly is: 'forget'; readonly which: number }
  | { readonly is: 'person'; readonly does: PersonDoes; readonly which: number }
  | { readonly is: 'wait'; readonly milliseconds: number };

const PERSON_DOES = [
  'archive',
  'edit',
  'merge',
  'open',
  'draft',
  'create',
  'create and open',
  'mute',
  'unmute',
  'grow',
] as const;
type PersonDoes = (typeof PERSON_DOES)[number];

/** Operation of a daemon that waits for its turn. */
interface Waiting {
  readonly life: Life;
  readonly seen: Seen | null;
  readonly at: 'arrives' | 'leaves' | 'note' | 'noted' | 'sleeps';
  readonly go: () => void;
  readonly fail: (error: Error) => void;
}

/** One process of a daemon; its recorded state outlives it. */
interface Life {
  readonly daemon: string;
  readonly note: { value: Json };
  readonly running: Promise<unknown>;
  isDead: boolean;
}

class World {
  readonly platform = new ClusterPlatform(['guides', 'api']);
  readonly config: ClustersConfig;
  readonly #notes = new Map<string, { value: Json }>();
  readonly #waiting: Waiting[] = [];
  readonly #lives = new Map<string, Life>();
  /** Change requests that a person has modified, with the time since which each is in its current state. */
  readonly touched = new Set<string>();
  readonly #since = new Map<string, number>();
  /** Time at which each daemon last began to read a list, and the daemon and cluster of each created change request. */
  readonly #listed = new Map<string, number>();
  readonly #made = new Map<string, string>();
  /** Change requests that Octavo has opened. */
  readonly opened = new Set<string>();
  #moment = 0;
  #life = 0;
  /** False in quiet phases: nothing waits for its turn. */
  isBusy = true;

  constructor(config: ClustersConfig, features: object | PlatformVersion) {
    this.config = config;
    if (typeof features === 'string') {
      this.platform.be(features);
    } else {
      this.platform.features = { ...ALL_FEATURES, ...features };
    }
    for (const [index, id] of CLUSTERS.entries()) {
      this.platform.addCluster({ id, issues: 3 + index, source: index % 2 === 0 ? 'email' : 'chat' });
    }
    this.platform.step = (seen, step) => this.#step(seen, step);
    this.platform.waits = async (daemon, milliseconds) => {
      await this.#hold(daemon, null, 'sleeps');
      this.platform.time += milliseconds;
    };
  }

  /** Starts a run, in a new process if the last one of this daemon was killed. */
  async begin(daemon: string): Promise<void> {
    const life = this.#lives.get(daemon);
    if (life !== undefined && !life.isDead) {
      return;
    }
    const note = this.#notes.get(daemon) ?? { value: null };
    this.#notes.set(daemon, note);
    this.#life += 1;
    const opened = this.#open(daemon, note, this.#life);
    const newLife: Life = { daemon, note, isDead: false, running: Promise.resolve() };
    this.#lives.set(daemon, newLife);
    const running = opened.run().then((end) => {
      if (this.#lives.get(daemon) === newLife) {
        this.#lives.delete(daemon);
      }
      return end;
    });
    (newLife as { running: Promise<unknown> }).running = running;
    await tick();
  }

  #open(daemon: string, note: { value: Json }, life: number): TestDaemon {
    const kept: Note = {
      read: async () => structuredClone(note.value),
      write: async (value) => {
        const own = this.#lives.get(daemon);
        await this.#hold(daemon, null, 'note');
        this.#mustLive(own);
        note.value = structuredClone(value);
        await this.#hold(daemon, null, 'noted');
        this.#mustLive(own);
      },
    };
    return openDaemon(this.platform, this.config, { name: daemon, note: kept, random: seeded(`${daemon}${life}`) });
  }

  #mustLive(life: Life | undefined): void {
    if (life?.isDead === true) {
      throw new StoreError('killed');
    }
  }

  async #step(seen: Seen, step: 'arrives' | 'done' | 'leaves'): Promise<void> {
    if (step === 'done') {
      this.#worked(seen);
      return;
    }
    await this.#hold(seen.daemon, seen, step);
  }

  /** Waits for a turn; never continues if its process was killed in the meantime. */
  async #hold(daemon: string, seen: Seen | null, at: Waiting['at']): Promise<void> {
    const life = this.#lives.get(daemon);
    if (!this.isBusy || life === undefined) {
      return;
    }
    await new Promise<void>((go, fail) => {
      this.#waiting.push({ life, seen, at, go: () => go(), fail });
    });
  }

  /** Checks the effect of a request. */
  #worked({ daemon, operation, path, search, body }: Seen): void {
    this.#moment += 1;
    this.platform.time += 1;
    // A list of all change requests starts with the drafts, or has no status filter.
    const isFirst = !search.includes('topic=') && (search.includes('status=draft') || !search.includes('status='));
    if (operation.startsWith('list') && operation.endsWith('ChangeRequests') && isFirst) {
      this.#listed.set(daemon, this.#moment);
    }
    if (operation === 'createChangeRequest') {
      this.#created(daemon);
    }
    const id = path.split('/').at(-1) ?? '';
    if (operation === 'updateChangeRequest') {
      const { status } = JSON.parse(body) as { status?: string };
      if (status === 'open') {
        this.opened.add(id);
        this.#mayOpen(daemon, id);
      }
      if (status !== undefined) {
        this.#since.set(id, this.#moment);
      }
    }
    this.check();
  }

  #created(daemon: string): void {
    const made = this.platform.changeRequests.at(-1);
    if (made === undefined) {
      throw new Error('nothing was made');
    }
    this.#since.set(made.id, this.#moment);
    const cluster = toCluster(made) ?? made.subject;
    const key = `${daemon} ${cluster}`;
    const before = this.platform.store.changeRequests.get(this.#made.get(key) ?? '');
    const isUndone = before === undefined || before.status === 'archived' || before.status === 'merged';
    if (!isUndone && !this.touched.has(before.id)) {
      throw new Error(`${daemon} made ${made.id} beside its own ${before.id}`);
    }
    this.#made.set(key, made.id);
  }

  /**
   * Fails if a change request that already existed, in its current state, when the list for this decision was read
   * would prevent opening this one.
   */
  #mayOpen(daemon: string, id: string): void {
    const own = this.platform.store.changeRequests.get(id) as ChangeRequestRecord;
    const listed = this.#listed.get(daemon) ?? 0;
    const rivals = this.platform.changeRequests.filter(
      (other) =>
        other.id !== id &&
        other.status === 'open' &&
        toCluster(other) === toCluster(own) &&
        (this.#since.get(other.id) ?? 0) < listed,
    );
    if (rivals.length > 0) {
      throw new Error(`${daemon} opened ${id} beside ${rivals.map((each) => each.id)}`);
    }
  }

  /**
   * Checks that Octavo never has two change requests for a cluster, and never more than the limits, of those that
   * nobody else has modified.
   */
  check(): void {
    const own = this.platform.changeRequests.filter(({ id }) => this.opened.has(id) && !this.touched.has(id));
    const open = own.filter(({ status }) => status === 'open');
    const clusters = open.map(toCluster);
    if (new Set(clusters).size !== clusters.length) {
      throw new Error(`two are open: ${clusters}`);
    }
    const { limits } = this.config;
    const dayAgo = this.platform.time - DAY;
    const counts = [
      ['open', open.length, limits.maxOpen],
      ['guides', open.filter(({ space }) => space === 'guides').length, limits.maxOpenPerSpace],
      ['api', open.filter(({ space }) => space === 'api').length, limits.maxOpenPerSpace],
      ['day', own.filter(({ createdAt }) => Date.parse(createdAt) > dayAgo).length, limits.maxPerDay],
    ] as const;
    const beyond = counts.filter(([, count, most]) => count > most);
    if (beyond.length > 0) {
      throw new Error(`beyond the limits: ${beyond.map((each) => each.join(' '))}`);
    }
  }

  async move(move: Move): Promise<void> {
    if (move.is === 'wait') {
      this.platform.time += move.milliseconds;
    } else if (move.is === 'person') {
      this.#person(move.does, move.which);
    } else {
      const next = this.#waiting.splice(move.which % Math.max(1, this.#waiting.length), 1)[0];
      if (next !== undefined) {
        this.#let(next, move.is);
      }
    }
    await tick();
  }

  #let({ life, seen, at, go, fail }: Waiting, is: 'go' | 'lose' | 'kill' | 'forget'): void {
    if (is === 'kill' || is === 'forget') {
      life.isDead = true;
      if (is === 'forget') {
        this.#notes.delete(life.daemon);
      }
      this.#lives.delete(life.daemon);
      const own = this.#waiting.filter((each) => each.life === life);
      for (const each of own) {
        this.#waiting.splice(this.#waiting.indexOf(each), 1);
      }
    } else if (is === 'lose' && seen !== null) {
      fail(new TransientError(`no answer (${at})`, true));
    } else {
      go();
    }
  }

  #person(does: PersonDoes, which: number): void {
    this.#moment += 1;
    const requests = this.platform.changeRequests;
    const cluster = CLUSTERS[which % CLUSTERS.length] ?? '';
    if (does === 'create' || does === 'create and open') {
      const made = this.platform.call('POST', '/spaces/guides/change-requests', {
        ...{ subject: 'By hand', conversationsIssuesCluster: cluster },
        description: { object: 'document', data: {}, nodes: [] },
      });
      this.touched.add(made.id);
      this.#since.set(made.id, this.#moment);
      if (does === 'create and open') {
        this.platform.call('PATCH', `/spaces/guides/change-requests/${made.id}`, { status: 'open' });
      }
      return;
    }
    if (does === 'mute' || does === 'unmute') {
      const muted = does === 'mute';
      const { site } = this.platform;
      if (site === undefined) {
        this.platform.call('PATCH', `/orgs/org_acme/conversations-clusters/${cluster}`, { muted });
      } else {
        const body = { usageSettings: { changeRequests: !muted } };
        this.platform.call('PATCH', `/orgs/org_acme/sites/${site}/topics/${cluster}`, body);
      }
      return;
    }
    if (does === 'grow') {
      this.platform.addIssues({ id: cluster }, 4);
      return;
    }
    const request = requests[which % Math.max(1, requests.length)];
    if (request === undefined || request.status === 'merged' || (does === 'merge' && request.status === 'archived')) {
      return;
    }
    this.touched.add(request.id);
    this.#since.set(request.id, this.#moment);
    const path = `/spaces/${request.space}/change-requests/${request.id}`;
    if (does === 'edit') {
      this.platform.edit(request.id);
    } else if (does === 'merge') {
      this.platform.call('POST', `${path}/merge`);
    } else {
      const status = { archive: 'archived', open: 'open', draft: 'draft' }[does];
      this.platform.call('PATCH', path, { status });
    }
  }

  /** Finishes everything without further events, and runs repeatedly. */
  async quiet(daemons: readonly string[]): Promise<void> {
    this.isBusy = false;
    for (let round = 0; this.#waiting.length > 0 || this.#lives.size > 0; round += 1) {
      for (const each of this.#waiting.splice(0)) {
        each.go();
      }
      await tick();
      if (round > 10_000) {
        throw new Error('a run does not end');
      }
    }
    for (let round = 0; round < 4; round += 1) {
      this.platform.time += DAY + 1;
      for (const daemon of daemons) {
        await this.#runAlone(daemon);
      }
    }
  }

  async #runAlone(daemon: string): Promise<void> {
    await this.begin(daemon);
    const end = await this.#lives.get(daemon)?.running;
    expect(
      end === undefined || (end as { error: unknown }).error === null,
      String((end as { error?: Error })?.error),
    ).toBe(true);
  }

  /** Clusters that qualify and that nothing blocks except the limits. */
  forgotten(): readonly string[] {
    const all = this.platform.changeRequests.flatMap(
      (record) => toClusterChangeRequest(record as never, new Map(), NO_REDACTION) ?? [],
    );
    const open = all.filter(({ status }) => status === 'open' || status === 'draft');
    const { limits } = this.config;
    return CLUSTERS.filter((id) => {
      const cluster = this.platform.store.issuesClusters.get(id);
      const requests = all.filter((each) => each.cluster === id);
      const isWanted = decideReopen(requests, { issues: 0, issuesAtMerge: new Map(), reopenGrowth: 2 }).may;
      const space = CLUSTERS.indexOf(id) % 2 === 0 ? 'guides' : 'api';
      const hasRoom =
        open.length < limits.maxOpen && open.filter((each) => each.space === space).length < limits.maxOpenPerSpace;
      return cluster?.muted === false && isWanted && hasRoom;
    });
  }

  /** Drafts of Octavo that nobody continues. */
  get leftOver(): readonly string[] {
    return this.platform.changeRequests
      .filter(
        ({ id, status, description, subject }) =>
          status === 'draft' &&
          (readMarker(description) !== null || readDraftMarker(subject) !== null) &&
          !this.touched.has(id),
      )
      .map(({ id }) => id);
  }
}

function toCluster({ conversationsIssuesCluster, description, subject }: ChangeRequestRecord): string {
  const mark = readMarker(description) ?? readDraftMarker(subject);
  return conversationsIssuesCluster ?? mark?.cluster ?? subject.replace('Docs gap: About ', '');
}

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

const which = fc.nat(9);
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 60, arbitrary: fc.record({ is: fc.constant('go' as const), which }) },
  { weight: 4, arbitrary: fc.record({ is: fc.constant('lose' as const), which }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constant('kill' as const), which }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('forget' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({ is: fc.constant('person' as const), does: fc.constantFrom(...PERSON_DOES), which }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('wait' as const), milliseconds: fc.constantFrom(10, 700_000) }) },
);

const config = (limits: object) =>
  settingsOf({
    ...{ enabled: true, select: { minIssues: 3 }, search: { enabled: false }, changeRequest: { maxPages: 0 } },
    // By source if there is one, else by label: both select the same clusters.
    routes: [
      { source: 'chat', space: 'api' },
      { label: 'c_[24]$', space: 'api' },
    ],
    defaultSpace: 'guides',
    limits,
  });

const LIMITS = [
  { maxPerRun: 10, maxOpen: 20, maxOpenPerSpace: 5, maxPerDay: 10 },
  { maxPerRun: 2, maxOpen: 2, maxOpenPerSpace: 2, maxPerDay: 10 },
  { maxPerRun: 10, maxOpen: 20, maxOpenPerSpace: 1, maxPerDay: 2 },
];

/** Local clocks of the daemons, and whether the platform sends its time. */
interface Clocks {
  readonly skews: readonly number[];
  readonly hasDates: boolean;
}
const HOUR = DAY / 24;
const exact = fc.constant<Clocks>({ skews: [], hasDates: true });
const clocks: fc.Arbitrary<Clocks> = fc.record({
  skews: fc.array(fc.constantFrom(0, 5 * 60_000, -5 * 60_000, 2 * HOUR, -2 * HOUR, 3 * DAY, -3 * DAY), {
    minLength: 3,
    maxLength: 3,
  }),
  hasDates: fc.boolean(),
});

async function live(
  daemons: readonly string[],
  moves: readonly Move[],
  limits: object,
  features: object | PlatformVersion,
  { skews, hasDates }: Clocks,
): Promise<void> {
  const world = new World(config(limits), features);
  world.platform.hasDates = hasDates;
  for (const [index, daemon] of daemons.entries()) {
    world.platform.skews[daemon] = skews[index] ?? 0;
  }
  for (const [index, each] of moves.entries()) {
    const daemon = daemons[index % daemons.length] ?? '';
    await world.begin(daemon);
    await world.move(each);
  }
  await world.quiet(daemons);
  world.check();
  expect(world.forgotten()).toEqual([]);
  expect(world.leftOver).toEqual([]);
}

const RUNS = countCases({ sample: 3, ci: 8, full: 1000 });
const WITHOUT_LINKS = { changeRequestLinks: false };
const LISTS_ALL = { changeRequestStatus: false, changeRequestDrafts: true };
const LISTS_OPEN = { changeRequestStatus: false };

const TWO = ['a', 'b'];
/** People, lost responses, killed processes and lost state files. */
const troubles = fc.array(move, { minLength: 20, maxLength: 250 });
/** Only the order varies: both run from their first request to their last. */
const turns = fc.array(fc.record({ is: fc.constant('go' as const), which }), { minLength: 60, maxLength: 160 });

test.each<
  [string, readonly string[], readonly (object | PlatformVersion)[], fc.Arbitrary<Move[]>, fc.Arbitrary<Clocks>]
>([
  ['two daemons with troubles', TWO, [{}], troubles, exact],
  ['three daemons with troubles', ['a', 'b', 'c'], [{}], troubles, exact],
  ['two with troubles on a platform that lists all change requests', TWO, [LISTS_ALL], troubles, exact],
  ['two with troubles on a platform that lists only open change requests', TWO, [LISTS_OPEN], troubles, exact],
  ['two with troubles on a platform that keeps no link and no description', TWO, [WITHOUT_LINKS], troubles, exact],
  ['two with troubles on a platform of 0.167, with topics', TWO, ['0.167'], troubles, exact],
  ['two with troubles and wrong clocks', TWO, [{}, LISTS_OPEN, WITHOUT_LINKS], troubles, clocks],
  ['two in any order of steps', TWO, [{}], turns, exact],
  ['two in any order on a platform that lists only open change requests', TWO, [LISTS_OPEN], turns, exact],
  ['two in any order on a platform that keeps no link and no description', TWO, [WITHOUT_LINKS], turns, exact],
  ['two in any order on a platform of 0.181, with topics', TWO, ['0.181'], turns, exact],
])(
  '%s open at most one change request per cluster, stay within the limits and miss no cluster',
  async (_name, daemons, platforms, moves, clocksOf) => {
    await fc.assert(
      fc.asyncProperty(
        moves,
        fc.constantFrom(...LIMITS),
        fc.constantFrom(...platforms),
        clocksOf,
        async (made, limits, features, times) => live(daemons, made, limits, features, times),
      ),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    );
  },
  300_000,
);
