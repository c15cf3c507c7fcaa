import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClusterChangeRequest } from '../../src/clusters/change-request.ts';
import { type ClaimOptions, decideClaims, SETTLE_DELAY } from '../../src/clusters/claims.ts';
import { DAY, NOW, someRequest } from './samples.ts';

type ClaimDecision = ReturnType<typeof decideClaims>;

const WIDE = { maxOpen: 100, maxOpenPerSpace: 100, maxPerDay: 100 };
const options = (limits: Partial<typeof WIDE> = {}): ClaimOptions => ({
  limits: { ...WIDE, ...limits },
  reopenGrowth: 2,
  issuesAtMerge: new Map([['merged', 5]]),
});

type Some = Partial<ClusterChangeRequest>;
const draft = (id: string, cluster: string, over: Some = {}): Some => ({
  id,
  cluster,
  status: 'draft',
  createdAt: NOW,
  ...over,
});

describe('decideClaims', () => {
  test.each<[string, Some[], string[], Partial<typeof WIDE>, string[], string[]]>([
    ['opens a single draft', [draft('a', 'c_1')], ['a'], {}, ['a'], []],
    [
      'opens the first of two drafts',
      [draft('a', 'c_1'), draft('b', 'c_1', { createdAt: NOW + 1 })],
      ['a'],
      {},
      ['a'],
      [],
    ],
    [
      'supersedes the second of two drafts',
      [draft('a', 'c_1'), draft('b', 'c_1', { createdAt: NOW + 1 })],
      ['b'],
      {},
      [],
      ['the cluster has a draft change request (a)'],
    ],
    [
      'orders drafts of the same time by id',
      [draft('b', 'c_1'), draft('a', 'c_1')],
      ['a', 'b'],
      {},
      ['a'],
      ['the cluster has a draft change request (a)'],
    ],
    [
      'prefers an open change request, even if it was created later',
      [draft('a', 'c_1'), { id: 'b', createdAt: NOW + 1 }],
      ['a'],
      {},
      [],
      ['the cluster has an open change request (b)'],
    ],
    [
      'supersedes a draft if another change request was merged in the meantime',
      [draft('a', 'c_1'), { id: 'merged', status: 'merged' }],
      ['a'],
      {},
      [],
      ['the cluster has a merged change request (merged) with 5 issues; another is opened at 10 issues'],
    ],
    [
      'supersedes a draft if another change request was archived in the meantime',
      [draft('a', 'c_1'), { id: 'x', status: 'archived' }],
      ['a'],
      {},
      [],
      ['the cluster has an archived change request (x), which blocks another one until it is unarchived'],
    ],
    [
      'ignores superseded change requests',
      [draft('a', 'c_1'), { id: 'x', status: 'archived', superseded: true }],
      ['a'],
      {},
      ['a'],
      [],
    ],
    ['decides nothing about drafts of other daemons', [draft('a', 'c_1'), draft('b', 'c_2')], [], {}, [], []],
    ['decides nothing about an own change request that is already open', [{ id: 'a' }], ['a'], {}, [], []],
    [
      'supersedes drafts above the limit of open change requests',
      [{ id: 'o', cluster: 'c_9' }, draft('a', 'c_1'), draft('b', 'c_2')],
      ['a', 'b'],
      { maxOpen: 2 },
      ['a'],
      ['limit reached: 2 open at the same time'],
    ],
    [
      'supersedes drafts above the limit of a space',
      [draft('a', 'c_1'), draft('b', 'c_2', { space: 'sp_2' }), draft('c', 'c_3')],
      ['a', 'b', 'c'],
      { maxOpenPerSpace: 1 },
      ['a', 'b'],
      ['limit reached: 1 open at the same time in this space'],
    ],
    [
      'supersedes drafts above the daily limit',
      [{ id: 'm', cluster: 'c_9', status: 'merged', createdAt: NOW - DAY + 1 }, draft('a', 'c_1')],
      ['a'],
      { maxPerDay: 1 },
      [],
      ['limit reached: 1 opened within 24 hours'],
    ],
    [
      'counts the draft of a cluster whose last change request was merged without an edit',
      [
        { id: 'm', cluster: 'c_1', status: 'merged', isEmptyMerge: true, createdAt: NOW - 1 },
        draft('a', 'c_1'),
        draft('b', 'c_2'),
      ],
      ['a', 'b'],
      { maxPerDay: 2 },
      ['a'],
      ['limit reached: 2 opened within 24 hours'],
    ],
    [
      'counts the draft of a cluster whose issues have grown since the merge',
      [{ id: 'merged', cluster: 'c_1', status: 'merged', createdAt: NOW - 1 }, draft('a', 'c_1'), draft('b', 'c_2')],
      ['b'],
      { maxPerDay: 2 },
      [],
      ['limit reached: 2 opened within 24 hours'],
    ],
    [
      'does not count change requests that are older than a day',
      [{ id: 'm', cluster: 'c_9', status: 'merged', createdAt: NOW - DAY }, draft('a', 'c_1')],
      ['a'],
      { maxPerDay: 1 },
      ['a'],
      [],
    ],
    [
      'does not count superseded drafts against the limits',
      [draft('a', 'c_1'), draft('b', 'c_1'), draft('c', 'c_2')],
      ['c'],
      { maxOpen: 2 },
      ['c'],
      [],
    ],
    [
      'does not count later drafts against the limits',
      [draft('a', 'c_1'), draft('b', 'c_2'), draft('c', 'c_3')],
      ['a'],
      { maxOpen: 1 },
      ['a'],
      [],
    ],
  ])('%s', (_, list, mine, limits, open, whys) => {
    const requests = list.map(someRequest);
    const claims = new Map(mine.map((id) => [id, 7]));
    const both = [
      decideClaims(requests, claims, options(limits)),
      decideClaims(requests.toReversed(), claims, options(limits)),
    ];
    for (const decision of both) {
      expect(decision.open.map(({ id }) => id)).toEqual(open);
      expect(decision.superseded.map(({ why }) => why)).toEqual(whys);
    }
  });

  test('names what superseded a draft', () => {
    const first = someRequest(draft('a', 'c_1'));
    const { superseded } = decideClaims([first, someRequest(draft('b', 'c_1'))], new Map([['b', 7]]), options());
    expect(superseded.map(({ request, to }) => [request.id, to?.id])).toEqual([['b', 'a']]);
  });
});

/** One step: a daemon continues or dies, or a person merges or archives an open change request. */
interface Step {
  readonly who: number;
  readonly what: 'go' | 'die' | 'merge' | 'merge without an edit' | 'archive';
  readonly wait: number;
  readonly pick: number;
  readonly drafts: readonly { readonly cluster: number; readonly space: number }[];
}

const step: fc.Arbitrary<Step> = fc.record({
  who: fc.nat(2),
  what: fc.constantFrom('go', 'go', 'go', 'go', 'go', 'go', 'go', 'die', 'merge', 'merge without an edit', 'archive'),
  wait: fc.constantFrom(0, 0, 1, 300, SETTLE_DELAY, 3_600_000, DAY / 2),
  pick: fc.nat(20),
  drafts: fc.array(fc.record({ cluster: fc.nat(4), space: fc.nat(1) }), { minLength: 1, maxLength: 4 }),
});

type Mutable = { -readonly [key in keyof ClusterChangeRequest]: ClusterChangeRequest[key] };

interface Daemon {
  readonly mine: Set<string>;
  toMake: { readonly cluster: number; readonly space: number }[];
  madeAt: number;
  decision: ClaimDecision | null;
}

/** The platform, and daemons that claim by the rules, each at its own pace. Timestamps are in whole seconds. */
class World {
  now = NOW;
  readonly requests: Mutable[] = [];
  readonly everOpened = new Set<Mutable>();
  readonly #options: ClaimOptions;
  readonly #daemons = Array.from(
    { length: 3 },
    (): Daemon => ({ mine: new Set(), toMake: [], madeAt: 0, decision: null }),
  );

  constructor(limits: ClaimOptions['limits']) {
    this.#options = { limits, reopenGrowth: 2, issuesAtMerge: new Map() };
  }

  take({ who, what, wait, pick, drafts }: Step): void {
    this.now += wait;
    const open = this.requests.filter(({ status }) => status === 'open');
    const picked = open[pick % Math.max(1, open.length)];
    const daemon = this.#daemons[who];
    if (what !== 'go' && what !== 'die' && picked !== undefined) {
      const isEmptyMerge = what === 'merge without an edit';
      Object.assign(picked, { status: what === 'archive' ? 'archived' : 'merged', isEmptyMerge, updatedAt: this.now });
    }
    if (daemon === undefined) {
      return;
    }
    if (what === 'die') {
      // Its drafts stay, and belong to it when it comes back.
      Object.assign(daemon, { toMake: [], decision: null });
    }
    if (what === 'go') {
      this.#go(daemon, drafts, pick);
    }
  }

  /** One request of a run: a draft, the list and the decision that follows from it, or a patch. */
  #go(daemon: Daemon, drafts: Step['drafts'], pick: number): void {
    const next = daemon.toMake.shift();
    if (next !== undefined) {
      this.#make(daemon, next, pick);
    } else if (daemon.decision !== null) {
      this.#patch(daemon, daemon.decision);
    } else if (this.requests.some(({ id, status }) => daemon.mine.has(id) && status === 'draft')) {
      this.now = Math.max(this.now, daemon.madeAt + SETTLE_DELAY);
      const list = this.requests
        .map((each) => ({ ...each }))
        .sort((a, b) => (pick % 2 ? 1 : -1) * (a.id < b.id ? -1 : 1));
      daemon.decision = decideClaims(list, new Map([...daemon.mine].map((id) => [id, 7])), this.#options);
    } else {
      daemon.toMake = [...drafts];
    }
  }

  #make(daemon: Daemon, { cluster, space }: Step['drafts'][number], pick: number): void {
    const stamp = Math.floor(this.now / 1_000) * 1_000;
    const id = `cr_${(pick * 7 + this.requests.length * 13) % 101}_${this.requests.length}`;
    this.requests.push(
      someRequest({
        id,
        cluster: `c_${cluster}`,
        space: `sp_${space}`,
        status: 'draft',
        createdAt: stamp,
        updatedAt: stamp,
      }),
    );
    daemon.mine.add(id);
    daemon.madeAt = this.now;
  }

  #patch(daemon: Daemon, decision: ClaimDecision): void {
    const [lost] = decision.superseded;
    const [won] = decision.open;
    const patched = this.requests.find(({ id }) => id === (lost?.request.id ?? won?.id));
    if (patched === undefined) {
      daemon.decision = null;
      return;
    }
    const status = lost === undefined ? 'open' : 'archived';
    Object.assign(patched, { status, superseded: lost !== undefined, updatedAt: this.now });
    if (status === 'open') {
      this.everOpened.add(patched);
    }
    daemon.decision =
      lost === undefined
        ? { ...decision, open: decision.open.slice(1) }
        : { ...decision, superseded: decision.superseded.slice(1) };
  }
}

describe('independent daemons', () => {
  test('open at most one change request per cluster and stay within the limits', () => {
    let opened = 0;
    let rivals = 0;
    const limits = fc.record({
      maxOpen: fc.integer({ min: 1, max: 4 }),
      maxOpenPerSpace: fc.integer({ min: 1, max: 3 }),
      maxPerDay: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(limits, fc.array(step, { minLength: 20, maxLength: 80 }), (most, steps) => {
        const world = new World(most);
        for (const each of steps) {
          world.take(each);
          const open = world.requests.filter(({ status }) => status === 'open');
          expect(new Set(open.map(({ cluster }) => cluster)).size).toBe(open.length);
          expect(open.length).toBeLessThanOrEqual(most.maxOpen);
          for (const space of ['sp_0', 'sp_1']) {
            expect(open.filter((request) => request.space === space).length).toBeLessThanOrEqual(most.maxOpenPerSpace);
          }
          for (const { createdAt: until } of world.everOpened) {
            const ofDay = [...world.everOpened].filter(
              ({ createdAt }) => createdAt <= until && createdAt > until - DAY,
            );
            expect(ofDay.length).toBeLessThanOrEqual(most.maxPerDay);
          }
        }
        opened += world.everOpened.size;
        rivals += world.requests.filter(({ superseded }) => superseded).length;
      }),
      { numRuns: 500 },
    );
    expect(opened).toBeGreaterThan(500);
    expect(rivals).toBeGreaterThan(500);
  });
});
