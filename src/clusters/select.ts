/** Selects clusters by the configured rule, and reads no more of them than may be selected. */
import { createHash } from 'node:crypto';
import type { ClustersConfig } from '../config/clusters.ts';
import { canonicalJson } from '../core/json.ts';
import { largest } from '../core/lists.ts';
import { compilePattern, type Pattern } from '../core/text/pattern.ts';
import { ListProgress } from '../platform/http/answers.ts';
import { comparePulse, type IssueCluster } from './cluster.ts';
import type { ClusterSource } from './sources.ts';
import type { ReaderState } from './store.ts';

/** Reason why a cluster is not selected. */
interface SelectionReason {
  /** Text such as "it has 2 issues, and the configuration asks for at least 3". */
  readonly words: string;
  /**
   * Time from which this may no longer hold without an update of the cluster, in milliseconds since the epoch; 0: any
   * time; null: never.
   */
  readonly until: number | null;
}

/** Result of the selection rule, with every reason against a cluster. */
type SelectionVerdict =
  | { readonly passes: true }
  | { readonly passes: false; readonly reasons: readonly SelectionReason[] };

/** Compiled selection settings. */
export interface SelectionRule {
  readonly settings: ClustersConfig['select'];
  readonly include: readonly Pattern[];
  readonly exclude: readonly Pattern[];
  /** Hash of the rule; results under another hash are evaluated again. */
  readonly hash: string;
}

/**
 * Compiles the settings. The hash includes `reopenGrowth`, which decides whether a merged cluster is selected again.
 */
export function createSelectionRule({
  select,
  afterMerge,
}: Pick<ClustersConfig, 'select' | 'afterMerge'>): SelectionRule {
  const text = canonicalJson({ select, reopenGrowth: afterMerge.reopenGrowth });
  return {
    settings: select,
    include: select.include.map((pattern) => compilePattern(pattern, 'i')),
    exclude: select.exclude.map((pattern) => compilePattern(pattern, 'i')),
    hash: createHash('sha256').update(text).digest('hex').slice(0, 16),
  };
}

/** Evaluates the selection rule for a cluster at this time. */
export function evaluateCluster(cluster: IssueCluster, rule: SelectionRule, now: number): SelectionVerdict {
  const { settings } = rule;
  const lasting = [
    lackOfImpact(cluster, settings.impact),
    tooFew('issues', cluster.issues, settings.minIssues),
    tooFew('conversations', cluster.conversations, settings.minConversations),
  ];
  const ofLabel = [
    settings.sources.length === 0 || settings.sources.some((name) => (cluster.sources[name] ?? 0) > 0)
      ? null
      : `none of its issues is from ${anyOf(settings.sources)}, and the configuration asks for one`,
    rule.include.length === 0 || rule.include.some((pattern) => pattern.test(cluster.label))
      ? null
      : 'its title matches no pattern of include in the configuration',
    excludedBy(cluster, rule),
  ];
  const reasons = [
    // Muting may not change the cluster's timestamp: that is not documented.
    ...(cluster.muted ? [{ words: 'it is muted', until: 0 }] : []),
    ...lasting.flatMap(untilUpdate),
    ...lackOfAge(cluster, settings.minAge, now),
    ...lackOfIncrease(cluster, settings.risingWeeks),
    ...ofLabel.flatMap(untilUpdate),
  ];
  return reasons.length === 0 ? { passes: true } : { passes: false, reasons };
}

function untilUpdate(words: string | null): readonly SelectionReason[] {
  return words === null ? [] : [{ words, until: null }];
}

function lackOfImpact({ impact }: IssueCluster, asked: readonly string[]): string | null {
  return asked.length === 0 || asked.includes(impact ?? '')
    ? null
    : `its impact is ${impact ?? 'unknown'}, and the configuration asks for ${anyOf(asked)}`;
}

function tooFew(what: 'issues' | 'conversations', count: number, asked: number): string | null {
  const has = count === 0 ? `no ${what}` : `${count} ${count === 1 ? what.slice(0, -1) : what}`;
  return count >= asked ? null : `it has ${has}, and the configuration asks for at least ${asked}`;
}

function lackOfAge({ createdAt }: IssueCluster, minAge: number, now: number): readonly SelectionReason[] {
  if (minAge === 0 || (createdAt !== null && now - createdAt >= minAge)) {
    return [];
  }
  const is = createdAt === null ? 'its age is unknown' : `it is ${spanOf(now - createdAt)} old`;
  const until = createdAt === null ? null : createdAt + minAge;
  return [{ words: `${is}, and the configuration asks for at least ${spanOf(minAge)}`, until }];
}

/**
 * Returns a reason unless the issues increase by week. The pulse shifts every week, so that older issues can become an
 * increase without a new issue. That is impossible if there are no issues in these weeks.
 */
function lackOfIncrease({ weeklyPulse }: IssueCluster, weeks: number): readonly SelectionReason[] {
  const { now, before } = comparePulse(weeklyPulse, weeks);
  if (weeks === 0 || now > before) {
    return [];
  }
  const span = weeks === 1 ? 'week' : `${weeks} weeks`;
  const had = `it had ${now} issues in the last ${span} and ${before} in the ${span} before`;
  const words = `${had}, and the configuration asks for an increase`;
  return [{ words, until: now === 0 ? null : 0 }];
}

function excludedBy({ label }: IssueCluster, { exclude, settings }: SelectionRule): string | null {
  const index = exclude.findIndex((pattern) => pattern.test(label));
  return index < 0 ? null : `its title matches ${settings.exclude[index]}, which the configuration excludes`;
}

function anyOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

const SPANS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
];

/** Formats a duration as "3d" or "5h", rounded down to the largest unit that fits. */
function spanOf(milliseconds: number): string {
  const [unit, name] = SPANS.find(([unit]) => milliseconds >= unit) ?? [1_000, 's'];
  return `${Math.max(0, Math.floor(milliseconds / unit))}${name}`;
}

const HOUR = 3_600_000;
const WEEK = 168 * HOUR;
/** Interval of full reads, which correct for undocumented behavior of the platform. */
const FULL_INTERVAL = 24 * HOUR;
/** Overlap with the last read, because timestamps may be written shortly before they become visible. */
const OVERLAP = 600_000;

/** A cluster with the verdict of the selection rule. */
export interface JudgedCluster {
  readonly cluster: IssueCluster;
  readonly verdict: SelectionVerdict;
}

/**
 * Reads the clusters, newest-updated first, and stops as early as is safe. Add pages with `addPage` while it returns
 * true, then each cluster of `idsToFetch`. After that, `judged` contains every selected cluster, except those that were
 * passed to `toState` as lasting.
 *
 * Stopping is safe. Let N be the newest `updatedAt` on the first page of the previous read. Everything updated since
 * then has a later timestamp and comes first in the list. Everything from the first timestamp before N on is unchanged
 * since it was evaluated under the same rule. Its verdict can change only through time, or through changes that may not
 * change the timestamp. Those clusters are in `waiting` and are fetched by id. If the rule requires an increase over
 * some weeks, a cluster without an update in these weeks has no issue in them, and cannot be selected before its next
 * update. A list in another order is read to its end.
 */
export class IncrementalReader {
  readonly #rule: SelectionRule;
  readonly #before: ReaderState | null;
  readonly #now: number;
  readonly #judged = new Map<string, JudgedCluster>();
  readonly #gone = new Set<string>();
  readonly #isWhole: boolean;
  #newest: number | null = null;
  #last = Number.POSITIVE_INFINITY;
  #isOrdered = true;
  #pages = 0;
  #pageSize = 1;
  #isComplete = false;
  /** True once no unread cluster can have an increase before its next update. */
  #isPastRise = false;

  /** `before`: state of the last read; ignored if it is of another rule or too old. */
  constructor(rule: SelectionRule, before: ReaderState | null, now: number) {
    const isOld = before === null || now - before.fullAt >= FULL_INTERVAL || now < before.fullAt;
    this.#rule = rule;
    this.#before = before?.rule === rule.hash ? before : null;
    this.#isWhole = isOld && before !== null;
    this.#now = now;
  }

  /** Adds the next page; `isLast` if no other follows. Returns whether the next page is needed. */
  addPage(page: readonly IssueCluster[], isLast: boolean): boolean {
    for (const cluster of page) {
      this.#follow(cluster.updatedAt);
      this.#evaluateCluster(cluster);
    }
    this.#pages += 1;
    this.#pageSize = Math.max(this.#pageSize, page.length);
    if (this.#pages === 1) {
      this.#newest = newestOf(page);
    }
    this.#isComplete = isLast;
    return !isLast && !this.#mayStop();
  }

  /** Ids of unread clusters that may be selected by now. Each must be fetched. */
  get idsToFetch(): readonly string[] {
    return this.#isComplete || this.#isPastRise ? [] : this.#due();
  }

  /** Adds a cluster that was fetched by id; null if it no longer exists. */
  addCluster(id: string, cluster: IssueCluster | null): void {
    if (cluster === null) {
      this.#gone.add(id);
    } else {
      this.#evaluateCluster(cluster);
    }
  }

  /** Every cluster that was read, in order. */
  get judged(): readonly JudgedCluster[] {
    return [...this.#judged.values()];
  }

  /**
   * Returns the state for the next read. `lasting`: selected clusters that need no check before their next update,
   * because they have or had a change request.
   */
  toState(lasting: ReadonlySet<string>): ReaderState {
    const waiting: Record<string, number> = {};
    for (const [id, due] of this.#isComplete || this.#isPastRise ? [] : Object.entries(this.#before?.waiting ?? {})) {
      if (!this.#judged.has(id) && !this.#gone.has(id)) {
        waiting[id] = due;
      }
    }
    for (const { cluster, verdict } of this.#judged.values()) {
      const due = dueOf(verdict);
      if (due !== null && !(verdict.passes && lasting.has(cluster.id))) {
        waiting[cluster.id] = due;
      }
    }
    const total = this.#isComplete ? this.#judged.size : Math.max(this.#before?.total ?? 0, this.#judged.size);
    const fullAt = this.#isComplete ? this.#now : (this.#before?.fullAt ?? this.#now);
    return { rule: this.#rule.hash, newest: this.#newest, waiting, total, fullAt };
  }

  #evaluateCluster(cluster: IssueCluster): void {
    this.#judged.set(cluster.id, { cluster, verdict: evaluateCluster(cluster, this.#rule, this.#now) });
  }

  #follow(updatedAt: number | null): void {
    this.#isOrdered &&= updatedAt !== null && updatedAt <= this.#last;
    this.#last = updatedAt ?? this.#last;
  }

  #mayStop(): boolean {
    if (!this.#isOrdered || this.#isWhole) {
      return false;
    }
    const { risingWeeks: rising } = this.#rule.settings;
    // One more week than required: the newest week of a pulse may be the current or the last complete one.
    if (rising > 0 && this.#last < this.#now - (rising + 1) * WEEK) {
      this.#isPastRise = true;
      return true;
    }
    const before = this.#before;
    if (before?.newest == null || this.#last >= before.newest - OVERLAP) {
      return false;
    }
    const pagesLeft = Math.ceil(Math.max(0, before.total - this.#judged.size) / this.#pageSize);
    return this.#due().length <= Math.max(1, pagesLeft);
  }

  #due(): readonly string[] {
    return Object.entries(this.#before?.waiting ?? {}).flatMap(([id, due]) =>
      due <= this.#now && !this.#judged.has(id) && !this.#gone.has(id) ? [id] : [],
    );
  }
}

function newestOf(page: readonly IssueCluster[]): number | null {
  const stamps = page.flatMap(({ updatedAt }) => updatedAt ?? []);
  return stamps.length === 0 ? null : largest(stamps);
}

/** Returns the reasons against a cluster as text; null if it passes. */
export function describeReasons(verdict: SelectionVerdict): string | null {
  return verdict.passes ? null : verdict.reasons.map(({ words }) => words).join('; ');
}

/** Time from which the verdict may change without an update; null for never. */
function dueOf(verdict: SelectionVerdict): number | null {
  const times = verdict.passes ? [] : verdict.reasons.map(({ until }) => until);
  return times.includes(null)
    ? null
    : largest(
        times.map((until) => until ?? 0),
        0,
      );
}

/**
 * Reads the clusters newest-updated first, as far as needed; null if the platform has none (404 on their list).
 * `before` null: reads all. `now` is called after the first response, which contains the platform's time. Throws
 * AppError.
 */
export async function readClusters(
  source: Pick<ClusterSource, 'page' | 'one'>,
  rule: SelectionRule,
  before: ReaderState | null,
  now: () => number,
): Promise<IncrementalReader | null> {
  let answer = await source.page(null);
  if (answer === null) {
    return null;
  }
  const reader = new IncrementalReader(rule, before, now());
  const progress = new ListProgress('listConversationClusters');
  while (reader.addPage(answer.clusters, answer.next === null)) {
    progress.add(answer.clusters.length, answer.next);
    answer = await source.page(answer.next);
    if (answer === null) {
      return null;
    }
  }
  for (const id of reader.idsToFetch) {
    reader.addCluster(id, await source.one(id));
  }
  return reader;
}
