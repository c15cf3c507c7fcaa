/** Selects clusters by the configured rule, and reads no more of them than may be selected. */
import { createHash } from 'node:crypto';
import type { ClustersConfig } from '../config/clusters.ts';
import { canonicalJson } from '../core/json.ts';
import { largest } from '../core/lists.ts';
import { compilePattern, type Pattern } from '../core/text/pattern.ts';
import { ListProgress } from '../platform/http/answers.ts';
import type { IssueCluster } from './cluster.ts';
import type { ClusterPage, ClusterSource } from './sources.ts';

/** Reason why a cluster is not selected. */
interface SelectionReason {
  readonly what: 'muted' | 'impact' | 'issues' | 'conversations' | 'age' | 'rising' | 'sources' | 'include' | 'exclude';
  /** Text such as "2 issues, at least 3 required". */
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
  | { readonly passes: false; readonly reasons: readonly [SelectionReason, ...SelectionReason[]] };

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
  const [first, ...rest] = CHECKS.flatMap((check) => check(cluster, rule, now) ?? []);
  return first === undefined ? { passes: true } : { passes: false, reasons: [first, ...rest] };
}

type Check = (cluster: IssueCluster, rule: SelectionRule, now: number) => SelectionReason | null;

const CHECKS: readonly Check[] = [
  muted,
  impact,
  ({ issues }, { settings }) => tooFew('issues', issues, settings.minIssues),
  ({ conversations }, { settings }) => tooFew('conversations', conversations, settings.minConversations),
  age,
  rising,
  sources,
  include,
  exclude,
];

/** Returns a reason if a cluster is muted. Muting may not change the cluster's timestamp: that is not documented. */
function muted(cluster: IssueCluster): SelectionReason | null {
  return cluster.muted ? { what: 'muted', words: 'muted', until: 0 } : null;
}

function impact(cluster: IssueCluster, { settings }: SelectionRule): SelectionReason | null {
  const asked: readonly string[] = settings.impact;
  if (asked.length === 0 || (cluster.impact !== null && asked.includes(cluster.impact))) {
    return null;
  }
  const is = cluster.impact === null ? 'impact unknown' : `impact ${cluster.impact}`;
  return { what: 'impact', words: `${is}; ${anyOf(asked)} required`, until: null };
}

function tooFew(what: 'issues' | 'conversations', count: number, asked: number): SelectionReason | null {
  const words = `${count} ${count === 1 ? what.slice(0, -1) : what}, at least ${asked} required`;
  return count >= asked ? null : { what, words, until: null };
}

function age({ createdAt }: IssueCluster, { settings }: SelectionRule, now: number): SelectionReason | null {
  if (settings.minAge === 0) {
    return null;
  }
  if (createdAt === null) {
    return { what: 'age', words: `age unknown, at least ${spanOf(settings.minAge)} required`, until: null };
  }
  const is = now - createdAt;
  return is >= settings.minAge
    ? null
    : {
        what: 'age',
        words: `${spanOf(is)} old, at least ${spanOf(settings.minAge)} required`,
        until: createdAt + settings.minAge,
      };
}

/**
 * Returns a reason unless the issues increase by week. The pulse shifts every week, so that older issues can become an
 * increase without a new issue. That is impossible if there are no issues in these weeks.
 */
function rising(
  { weeklyPulse }: IssueCluster,
  { settings: { risingWeeks: weeks } }: SelectionRule,
): SelectionReason | null {
  const last = sum(weeklyPulse.slice(-weeks));
  const before = sum(weeklyPulse.slice(-2 * weeks, -weeks));
  if (weeks === 0 || last > before) {
    return null;
  }
  const span = weeks === 1 ? 'week' : `${weeks} weeks`;
  const words = `${last} issues in the last ${span}, ${before} in the ${span} before; an increase is required`;
  return { what: 'rising', words, until: last === 0 ? null : 0 };
}

function sources(cluster: IssueCluster, { settings }: SelectionRule): SelectionReason | null {
  const asked = settings.sources;
  return asked.length === 0 || asked.some((name) => (cluster.sources[name] ?? 0) > 0)
    ? null
    : { what: 'sources', words: `no issue from ${anyOf(asked)}`, until: null };
}

function include({ label }: IssueCluster, rule: SelectionRule): SelectionReason | null {
  return rule.include.length === 0 || rule.include.some((pattern) => pattern.test(label))
    ? null
    : { what: 'include', words: 'the label matches no pattern of include', until: null };
}

function exclude({ label }: IssueCluster, rule: SelectionRule): SelectionReason | null {
  const index = rule.exclude.findIndex((pattern) => pattern.test(label));
  return index < 0
    ? null
    : { what: 'exclude', words: `the label matches the exclude pattern ${rule.settings.exclude[index]}`, until: null };
}

function anyOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
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

/** State from which the next read continues. */
export interface ReaderState {
  /** Hash of the selection rule. */
  readonly rule: string;
  /** Newest `updatedAt` of the first page; null if unknown. */
  readonly newest: number | null;
  /** Clusters that may be selected without an update, with the time from which; 0 for any time. */
  readonly waiting: Readonly<Record<string, number>>;
  /** Number of clusters, as far as known. */
  readonly total: number;
  /** Time of the last full read. */
  readonly fullAt: number;
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

/** Time from which the verdict may change without an update; null for never. */
function dueOf(verdict: SelectionVerdict): number | null {
  if (verdict.passes) {
    return 0;
  }
  const times = verdict.reasons.map(({ until }) => until);
  return times.includes(null) ? null : largest(times.map((until) => until ?? 0));
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
  let answer: ClusterPage | null = await source.page(null);
  if (answer === null) {
    return null;
  }
  const reader = new IncrementalReader(rule, before, now());
  const progress = new ListProgress('listConversationClusters');
  let page: string | null = null;
  do {
    answer ??= await source.page(page);
    if (answer === null) {
      return null;
    }
    page = reader.addPage(answer.clusters, answer.next === null) ? answer.next : null;
    progress.add(answer.clusters.length, page);
    answer = null;
  } while (page !== null);
  for (const id of reader.idsToFetch) {
    reader.addCluster(id, await source.one(id));
  }
  return reader;
}
