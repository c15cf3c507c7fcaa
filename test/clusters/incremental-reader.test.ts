import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { IssueCluster } from '../../src/clusters/cluster.ts';
import {
  createSelectionRule,
  evaluateCluster,
  IncrementalReader,
  type SelectionRule,
} from '../../src/clusters/select.ts';
import type { ReaderState } from '../../src/clusters/store.ts';
import { DAY, NOW, settingsOf, someCluster } from './samples.ts';

const WEEK = 7 * DAY;

interface Row {
  readonly id: string;
  readonly createdAt: number;
  updatedAt: number;
  muted: boolean;
  impact: string;
  label: string;
  issuedAt: number[];
}

/** Clusters that are changed by others while they are read in pages. */
class Platform {
  now = NOW;
  readonly rows: Row[] = [];

  do(action: Action): void {
    const row = this.rows[action.row % Math.max(1, this.rows.length)];
    switch (action.what) {
      case 'pass':
        this.now += action.minutes * 60_000;
        return;
      case 'new':
        this.rows.push({
          id: `c_${this.rows.length}`,
          createdAt: this.now,
          updatedAt: this.now,
          muted: false,
          impact: 'high',
          label: action.label,
          issuedAt: [this.now],
        });
        return;
      default:
        if (row !== undefined) {
          this.#change(row, action);
        }
    }
  }

  /**
   * Muting and unmuting do not change the timestamp; other timestamps may be written up to five minutes before they are
   * visible.
   */
  #change(row: Row, { what, label, minutes }: Action): void {
    if (what === 'mute') {
      row.muted = !row.muted;
      return;
    }
    row.updatedAt = Math.max(row.updatedAt, this.now - Math.min(minutes, 5) * 60_000);
    row.issuedAt = what === 'lose' ? row.issuedAt.slice(1) : [...row.issuedAt, this.now];
    row.impact = what === 'ease' ? 'low' : 'high';
    row.label = label;
  }

  view(row: Row): IssueCluster {
    const weeklyPulse = Array.from({ length: 13 }, (_, index) => {
      const until = this.now - (12 - index) * WEEK;
      return row.issuedAt.filter((at) => at <= until && at > until - WEEK).length;
    });
    const { id, createdAt, updatedAt, muted, impact, label, issuedAt } = row;
    const count = issuedAt.length;
    return someCluster({
      id,
      createdAt,
      updatedAt,
      muted,
      impact,
      label,
      weeklyPulse,
      issues: count,
      conversations: count,
    });
  }

  page(offset: number, size: number): { readonly items: IssueCluster[]; readonly isLast: boolean } {
    const sorted = this.rows.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));
    const items = sorted.slice(offset, offset + size).map((row) => this.view(row));
    return { items, isLast: offset + size >= sorted.length };
  }
}

interface Action {
  readonly what: 'pass' | 'new' | 'issue' | 'lose' | 'ease' | 'mute';
  readonly row: number;
  readonly minutes: number;
  readonly label: string;
}

const action: fc.Arbitrary<Action> = fc.record({
  what: fc.constantFrom('pass', 'pass', 'pass', 'pass', 'new', 'issue', 'lose', 'ease', 'mute', 'mute'),
  row: fc.nat(40),
  minutes: fc.oneof(fc.nat(30), fc.integer({ min: 10, max: 240 })),
  label: fc.constantFrom('sso', 'billing', 'search'),
});

/** An existing cluster: the hours since each of its issues, over six weeks. */
const earlier: fc.Arbitrary<Row> = fc
  .record({
    hours: fc.array(fc.oneof(fc.integer({ min: 1, max: 24 }), fc.integer({ min: 1, max: 1_000 })), {
      minLength: 1,
      maxLength: 6,
    }),
    muted: fc.constantFrom(false, false, false, false, true),
    impact: fc.constantFrom('high', 'high', 'low'),
    label: fc.constantFrom('sso', 'billing', 'search'),
  })
  .map(({ hours, ...row }) => {
    const issuedAt = hours.toSorted((a, b) => b - a).map((ago) => NOW - (ago * DAY) / 24);
    return { id: '', createdAt: issuedAt[0] ?? NOW, updatedAt: issuedAt.at(-1) ?? NOW, issuedAt, ...row };
  });

const DEFAULTS = settingsOf({});

const rule = fc
  .record({
    impact: fc.constantFrom<'high'[]>(['high'], []),
    minIssues: fc.constantFrom(0, 0, 3),
    minConversations: fc.nat(1),
    minAge: fc.constantFrom(0, DAY / 8, DAY / 2),
    risingWeeks: fc.constantFrom(0, 0, 0, 1, 2, 3),
    exclude: fc.constantFrom<string[]>([], ['billing']),
  })
  .map((select) => createSelectionRule({ ...DEFAULTS, select: { ...DEFAULTS.select, ...select } }));

interface Outcome {
  readonly passing: string[];
  readonly requests: number;
  readonly state: ReaderState;
}

/** Reads as a run does. `between` runs the changes of others after each page. */
function read(
  platform: Platform,
  asked: SelectionRule,
  before: ReaderState | null,
  settled: ReadonlySet<string>,
  size: number,
  between: (() => void) | null = null,
): Outcome {
  const reading = new IncrementalReader(asked, before, platform.now);
  let requests = 0;
  for (let hasMore = true; hasMore; requests += 1) {
    const { items, isLast } = platform.page(requests * size, size);
    hasMore = reading.addPage(items, isLast);
    // Not forever: changes that are faster than the reader are never read completely.
    if (requests < 3) {
      between?.();
    }
  }
  for (const id of reading.idsToFetch) {
    const row = platform.rows.find((each) => each.id === id);
    reading.addCluster(id, row === undefined ? null : platform.view(row));
    requests += 1;
  }
  const passing = reading.judged.filter(({ verdict }) => verdict.passes).map(({ cluster }) => cluster.id);
  return { passing, requests, state: reading.toState(settled) };
}

function allPassing(platform: Platform, asked: SelectionRule): Set<string> {
  const now = platform.rows.map((row) => platform.view(row));
  return new Set(now.filter((cluster) => evaluateCluster(cluster, asked, platform.now).passes).map(({ id }) => id));
}

describe('an incremental read', () => {
  test('finds the same clusters as a full read, despite changes between and during reads', () => {
    const step = fc.record({
      actions: fc.array(action, { maxLength: 8 }),
      during: fc.option(fc.array(action, { minLength: 1, maxLength: 4 }), { nil: null, freq: 3 }),
      leaves: fc.constantFrom(0, 0, 0, 1, 2),
      rule: fc.option(rule, { nil: null, freq: 30 }),
    });
    let stopped = 0;
    const run = (
      first: SelectionRule,
      size: number,
      rows: readonly Row[],
      steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[],
    ) => {
      const platform = new Platform();
      platform.rows.push(...rows.map((row, index) => ({ ...row, id: `c_${index}` })));
      let asked = first;
      let state: ReaderState | null = null;
      /** Settled clusters, with the timestamp that they had then. */
      const settled = new Map<string, number>();
      for (const { actions, during, leaves, rule: other } of steps) {
        actions.forEach((each) => void platform.do(each));
        asked = other ?? asked;
        const isSettled = (id: string) => settled.get(id) === platform.rows.find((row) => row.id === id)?.updatedAt;
        const stillSettled = () => new Set([...settled.keys()].filter(isSettled));
        const disturb = () => during?.forEach((each) => void platform.do({ ...each, minutes: each.minutes % 5 }));
        const pages = Math.ceil(platform.rows.length / size);
        const found: Outcome = read(platform, asked, state, stillSettled(), size, during === null ? null : disturb);
        if (during === null) {
          const expected = allPassing(platform, asked);
          expect(found.passing.filter((id) => !isSettled(id)).sort()).toEqual(
            [...expected].filter((id) => !isSettled(id)).sort(),
          );
          stopped += Number(found.requests < pages);
          for (const id of found.passing.slice(leaves)) {
            settled.set(id, platform.rows.find((row) => row.id === id)?.updatedAt ?? 0);
          }
        }
        state = during === null ? read(platform, asked, state, stillSettled(), size).state : found.state;
      }
    };
    const size = fc.integer({ min: 1, max: 4 });
    const rows = fc.array(earlier, { minLength: 10, maxLength: 30, size: 'max' });
    fc.assert(fc.property(rule, size, rows, fc.array(step, { minLength: 4, maxLength: 20, size: 'max' }), run), {
      numRuns: 300,
    });
    expect(stopped).toBeGreaterThan(20);
  });

  const asked = createSelectionRule(settingsOf({}));
  const many = (count: number) => {
    const platform = new Platform();
    for (let index = 0; index < count; index += 1) {
      platform.do({ what: 'pass', row: 0, minutes: 5, label: '' });
      platform.do({ what: 'new', row: 0, minutes: 0, label: 'sso' });
    }
    return platform;
  };

  test('fetches a few waiting clusters by id, and reads more pages if there are many', () => {
    const platform = many(5_000);
    const first = read(platform, asked, null, new Set(), 1_000);
    const withWaiting = (count: number) => ({
      ...first.state,
      waiting: Object.fromEntries(platform.rows.slice(0, count).map(({ id }) => [id, 0])),
    });
    platform.now += 3_600_000;
    expect(read(platform, asked, withWaiting(4), new Set(), 1_000).requests).toBe(1 + 4);
    expect(read(platform, asked, withWaiting(900), new Set(), 1_000).requests).toBe(5);
  });

  test('does not fetch a waiting cluster before its time', () => {
    const platform = many(3_000);
    const first = read(platform, asked, null, new Set(), 1_000);
    const state = { ...first.state, waiting: { c_0: platform.now + 2 * 3_600_000 } };
    platform.now += 3_600_000;
    const second = read(platform, asked, state, new Set(), 1_000);
    expect(second.requests).toBe(1);
    platform.now += 3_600_000;
    expect(read(platform, asked, second.state, new Set(), 1_000).requests).toBe(2);
  });

  test('stops at the weeks that risingWeeks compares, also in the first read', () => {
    const rising = createSelectionRule(settingsOf({ select: { risingWeeks: 1 } }));
    const platform = many(10_000);
    // One issue every five minutes: the first 14 days are 4032 issues.
    expect(read(platform, rising, null, new Set(), 1_000).requests).toBe(5);
  });

  test('reads everything once a day, under a changed rule, and if the list is in another order', () => {
    const platform = many(3_000);
    const first = read(platform, asked, null, new Set(), 1_000);
    platform.now += DAY;
    expect(read(platform, asked, first.state, new Set(), 1_000).requests).toBe(3);
    platform.now -= DAY / 2;
    const other = createSelectionRule(settingsOf({ select: { minIssues: 2 } }));
    expect(read(platform, other, first.state, new Set(), 1_000).requests).toBe(3);
    const reading = new IncrementalReader(asked, first.state, platform.now);
    const oldestFirst = platform.rows.slice(0, 1_000).map((row) => platform.view(row));
    expect(reading.addPage(oldestFirst, false)).toBe(true);
    const withoutTimestamps = new IncrementalReader(asked, first.state, platform.now);
    expect(withoutTimestamps.addPage([someCluster({ updatedAt: null }), someCluster({ updatedAt: 0 })], false)).toBe(
      true,
    );
  });
});
